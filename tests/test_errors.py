"""Errors survive the trip between processes, and can always be printed."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest

from tacit import errors
from tacit.errors import BudgetExceeded, InvalidParameter, MissingBounds, NotPrivate, TacitError, UnknownColumn

EXAMPLES = [
    InvalidParameter("epsilon", given=-1, allowed="more", hint="Try 1."),
    MissingBounds("age"),
    BudgetExceeded(asked=2, left=1, fits="1 would fit."),
    NotPrivate("because"),
    UnknownColumn("no such column"),
]


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_an_error_survives_pickling_and_copying(error: TacitError) -> None:
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert again.args == error.args
        assert vars(again) == vars(error)


class Speechless:
    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize("given", [10**5000, Fraction(1, 10**5000), Speechless()], ids=["int", "fraction", "object"])
def test_an_error_can_be_printed_whatever_was_given(given: object) -> None:
    shown = str(InvalidParameter("epsilon", given=given, allowed="a number"))
    assert shown == f"epsilon: given a value of type {type(given).__name__}; allowed: a number."


def test_an_error_is_one_line() -> None:
    shown = str(InvalidParameter("epsilon", given=np.zeros((3, 2)), allowed="a number"))
    assert "\n" not in shown


def test_every_error_has_a_code_of_its_own() -> None:
    kinds = [getattr(errors, name) for name in errors.__all__]
    assert len({kind.code for kind in kinds}) == len(kinds)


def test_an_error_can_be_shown_whatever_was_given() -> None:
    """Python refuses to write integers of more than 4300 digits; a log that shows the error must not fail."""
    assert "a value of type" in repr(errors.InvalidParameter("bounds", given=(10**5000,), allowed="less"))
