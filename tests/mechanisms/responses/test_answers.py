"""The places of answers: whole numbers in a row, which are not looked at one by one, as if they were listed."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.errors import InvalidParameter
from tacit.mechanisms.responses.answers import Answers

TRIED = np.array([-4, -3, 0, 1, 4, 5, 8, 9, (1 << 62) - 1, (1 << 62)])


@pytest.mark.parametrize("answers", [range(5), range(-3, 9), range(2), range((1 << 62) - 3, 1 << 62), range(0, 9, 2)])
def test_a_range_is_the_list_of_its_numbers(answers: range) -> None:
    one, other = Answers(answers), Answers(list(answers))
    assert one.listed == other.listed
    assert one.tuples == other.tuples
    for values in (TRIED, TRIED.astype(np.uint64), TRIED.astype(object), TRIED.astype(np.float64), TRIED % 2 == 0):
        assert one.places(values).tolist() == other.places(values).tolist()
    for value in (0, 1.0, True, "0", None, np.int8(1), [], 1 << 80):
        assert one.place(value) == other.place(value)


@pytest.mark.parametrize("answers", [range(0), range(1), range(5, 2), "ab", 3, [1, 1]])
def test_fewer_than_two_different_answers_are_refused(answers: object) -> None:
    with pytest.raises(InvalidParameter, match="at least two different answers"):
        Answers(answers)
