"""Any outcome becomes columns, the same whether it came in an array or by itself."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tacit.auditing.reading.outcomes import Raised, choose_origin, form_words, read_outcomes


def forms(items: object, origin: int = 0) -> list[str]:
    return [form_words(int(code)) for code in read_outcomes(items, origin).form]


def test_forms_say_type_length_text_and_exception() -> None:
    items = [1, 2.5, True, None, "yes", [1, 2], (1.5,), [], float("nan"), Raised("ValueError"), {"a": 1}, [None, 3.5]]
    assert forms(items) == [
        "int",
        "float",
        "bool",
        "None",
        "'yes'",
        "[int, int]",
        "tuple[float]",
        "[]",
        "NaN",
        "raises ValueError",
        "dict['a', int]",
        "[None, float]",
    ]


@pytest.mark.parametrize(
    "array",
    [
        np.array([3, -4, 2**62, 0]),
        np.array([0.5, -0.0, np.inf, np.nan]),
        np.array([True, False]),
        np.array([[1, 2], [3, 4]]),
        np.array([[1.5, np.nan], [2.5, 3.5]]),
    ],
)
def test_an_array_and_its_items_give_the_same_columns(array: np.ndarray) -> None:
    whole = read_outcomes(array, 0)
    rows = [np.array(row) if array.ndim > 1 else row for row in array]
    for items, names in ((array.tolist(), ("form", "whole")), (rows, ())):  # an array alone is told by its type, too
        single = read_outcomes(items, 0)
        for name in ("bits", "whole_number", "counts", *names):
            assert np.array_equal(getattr(whole, name), getattr(single, name)), name
        assert np.array_equal(whole.numbers, single.numbers, equal_nan=True)
        assert len(np.unique(whole.form)) == len(np.unique(single.form))


class Listed(list[int]):
    """A list that may have attributes."""


class Real(float):
    """A float that may have attributes."""


@dataclasses.dataclass
class Summed:
    n: int
    total: dataclasses.InitVar[float] = 0.0

    def __post_init__(self, total: float) -> None:
        self.hidden = total


def _with(item: Any, value: float) -> Any:
    item.hidden = value
    return item


DIFFERENT: dict[str, tuple[Any, Any]] = {
    "shape": (np.zeros((2, 3)), np.zeros((3, 2))),
    "type of an array": (np.zeros(3, dtype=np.float32), np.zeros(3)),
    "array or list": (np.zeros(3), [0.0] * 3),
    "list or tuple": ([1.0, 2.0], (1.0, 2.0)),
    "empty list or tuple": ([], ()),
    "number of numpy": (np.float64(1), 1.0),
    "truth of numpy": (np.bool_(True), True),
    "attribute of a dataclass": (Summed(1, 0.5), Summed(1, 1.5)),
    "attribute of a list": (_with(Listed([1]), 0.5), _with(Listed([1]), 1.5)),
    "attribute of a float": (_with(Real(1), 0.5), _with(Real(1), 1.5)),
    "member of an enumeration or a number": (re.RegexFlag.I, 2),
    "order of an inner dict": ([{"x": {"a": 1, "b": 2}}], [{"x": {"b": 2, "a": 1}}]),
    "range": (range(10**9), range(10**9 + 1)),
}


@pytest.mark.parametrize("name", DIFFERENT)
@pytest.mark.parametrize("beside", [lambda item: item, lambda item: [item, 7]])
def test_what_an_onlooker_can_tell_apart_has_other_codes(name: str, beside: Callable[[Any], Any]) -> None:
    one, other = DIFFERENT[name]
    assert len(set(read_outcomes([beside(one), beside(other), beside(one)], 0).whole.tolist())) == 2


def test_mixed_outcomes_keep_their_order() -> None:
    items = [1, None, [True], 2.5, [True, False], 7, "x", [False]]
    read = read_outcomes(items, 0)
    assert forms(items) == ["int", "None", "[bool]", "float", "[bool, bool]", "int", "'x'", "[bool]"]
    assert read.counts.tolist() == [1, 0, 1, 1, 2, 1, 0, 1]
    assert np.array_equal(read.numbers[:, 0], [1, np.nan, 1, 2.5, 1, 7, np.nan, 0], equal_nan=True)


def test_large_integers_are_told_apart() -> None:
    items = [2**60 + 129, 2**60 + 128, 2**70]
    origin = choose_origin(items)
    assert read_outcomes(items, origin).numbers[:2, 0].tolist() == [0.0, -1.0]
    array = np.array(items[:2])
    assert read_outcomes(array, choose_origin(array)).numbers[:, 0].tolist() == [0.0, -1.0]


def test_equal_outcomes_have_equal_codes_and_others_do_not() -> None:
    read = read_outcomes(["a", "b", "a", 1, 1.0, True, [1], [1, 0], None], 0)
    assert read.whole[0] == read.whole[2]
    assert len(set(read.whole.tolist())) == 8


def test_objects_without_a_text_of_their_own_are_told_by_type() -> None:
    class Thing:
        pass

    assert forms([Thing(), Thing()]) == ["Thing", "Thing"]


def test_texts_drawn_often_are_read_as_if_drawn_once() -> None:
    """Read once each, or beside something that has to be read for itself: the columns are the same."""
    drawn = ["yes", None, "no", b"yes", "yes", None, "no"]
    quick = read_outcomes(drawn, 0)
    slow = read_outcomes([*drawn, {"no": 1}], 0).rows(slice(len(drawn))).widened(0)
    assert quick.form.tolist() == slow.form.tolist()
    assert quick.whole.tolist() == slow.whole.tolist()
    assert len(set(quick.form.tolist())) == 4
    assert quick.width == 0


@pytest.mark.parametrize("width", [1, 8, 9])
def test_the_places_of_nan_are_part_of_the_form(width: int) -> None:
    rows = np.zeros((3, width))
    rows[1, 0] = rows[2, -1] = np.nan
    form = read_outcomes(rows, 0).form.tolist()
    assert len(set(form)) == (2 if width == 1 else 3)
    assert form == [read_outcomes([row], 0).form[0] for row in rows.tolist()]
