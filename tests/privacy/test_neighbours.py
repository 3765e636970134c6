"""Neighbour relations are values of an enumeration, nothing else."""

from __future__ import annotations

import pytest

from tacit.errors import InvalidParameter
from tacit.privacy.neighbours import ADD_REMOVE, REPLACE, Neighbours, relation


def test_values_are_the_words_of_policies() -> None:
    assert Neighbours("add-remove") is ADD_REMOVE
    assert Neighbours("replace") is REPLACE
    assert repr(REPLACE) == "Neighbours.REPLACE"
    assert relation(REPLACE) is REPLACE


@pytest.mark.parametrize("value", ["replace", None, True, 1])
def test_anything_else_is_refused(value: object) -> None:
    with pytest.raises(InvalidParameter, match=r"neighbours: given .*ADD_REMOVE or Neighbours.REPLACE"):
        relation(value)
