"""Several attributes of one person: a report on each, the price shared; or on one of them, the price whole."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.local.protocol import Randomizer, Reports
from tacit.local.wire import ByteRows
from tacit.mechanisms.responses.answers import several
from tacit.mechanisms.shared.base import bits_from
from tacit.noise.coins import uniform_places
from tacit.noise.entropy import BitSource
from tacit.privacy import REPLACE, PureDP

if TYPE_CHECKING:
    from tacit.privacy.loss_distribution import LossDistribution

__all__ = ["Sample", "Split"]

Attributes = Mapping[str, Randomizer[Any]]


class _Attributes(Randomizer[dict[str, Any]]):
    """What both share: named randomizers, and records that may lack any attribute."""

    __slots__ = ("_attributes",)

    proof: ClassVar[str] = "proofs/local_repeats.md"

    def _set(self, attributes: object) -> None:
        allowed = "at least two randomizers by the names of their attributes, each with a pure ε"
        if not isinstance(attributes, Mapping) or len(attributes) < 2 or len(attributes) > 256:
            raise InvalidParameter("attributes", given=attributes, allowed=allowed)
        for name, one in attributes.items():
            if not isinstance(name, str) or not isinstance(one, Randomizer) or not isinstance(one.guarantee, PureDP):
                raise InvalidParameter("attributes", given=attributes, allowed=allowed)
        self._attributes = dict(attributes)

    @property
    def attributes(self) -> dict[str, Randomizer[Any]]:
        """The randomizer of each attribute."""
        return dict(self._attributes)

    @property
    def _prices(self) -> list[Any]:
        return [one.guarantee.eps for one in self._attributes.values() if isinstance(one.guarantee, PureDP)]

    def randomize(self, values: Any, *, entropy: BitSource | None = None) -> Any:
        """The report of one person, given a record by attribute; or of many, given an array for each attribute.

        What the record lacks is unknown to its randomizer, and reported on all the same.
        """
        bits = bits_from(entropy)
        columns, count = self._columns(values)
        rows = self._rows(columns, 1 if count is None else count, bits)
        return rows[0] if count is None else rows

    def _report(self, value: Any, entropy: BitSource | None) -> Any:
        record = value if isinstance(value, Mapping) else {}
        return self._rows({name: _single(record.get(name)) for name in self._attributes}, 1, bits_from(entropy))

    def _columns(self, values: Any) -> tuple[dict[str, Any], int | None]:
        record = values if isinstance(values, Mapping) else {}
        found = {name: record.get(name) for name in self._attributes}
        if not isinstance(values, Mapping) and (many := several(values)) is not None:
            return {name: [None] * len(many) for name in found}, len(many)  # no records: everybody unknown
        lengths = {len(array) for array in map(_array, found.values()) if array is not None}
        if not lengths:
            return {name: _single(value) for name, value in found.items()}, None
        if len(lengths) > 1:
            raise InvalidParameter("values", given="columns of different lengths", allowed="as many values in each")
        count = lengths.pop()
        return {name: [None] * count if _array(value) is None else value for name, value in found.items()}, count

    @abstractmethod
    def _rows(self, columns: dict[str, Any], count: int, bits: BitSource) -> Reports:
        """One row of bytes for each person."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._attributes!r})"


class Split(_Attributes):
    """A report on every attribute; the promise is the sum of theirs.

    >>> from tacit.local import Duchi, KaryResponse
    >>> r = Split({"age": Duchi(epsilon=1, bounds=(0, 100)), "smokes": KaryResponse(epsilon=1, categories=[0, 1])})
    >>> r.guarantee.epsilon(), r.randomize({"age": 40}).shape
    (2.0, (2,))
    """

    __slots__ = ()

    def __init__(self, attributes: Attributes) -> None:
        self._set(attributes)
        self._guarantee = PureDP(sum(self._prices), neighbours=REPLACE)

    @property
    def loss(self) -> LossDistribution:
        from tacit.privacy.loss_distribution import LossDistribution

        return LossDistribution.compose(one.loss for one in self._attributes.values())

    @property
    def shape(self) -> ByteRows:
        return ByteRows(sum(one.shape.width for one in self._attributes.values()))

    def _rows(self, columns: dict[str, Any], count: int, bits: BitSource) -> Reports:
        parts = [one.shape.pack(one.randomize(columns[name], entropy=bits)) for name, one in self._attributes.items()]
        return np.concatenate(parts, axis=1)

    def _pieces(self, reports: Reports) -> list[npt.NDArray[np.uint8]]:
        ends = np.cumsum([one.shape.width for one in self._attributes.values()])[:-1]
        return [np.ascontiguousarray(piece) for piece in np.split(reports, ends, axis=1)]

    def _valid(self, reports: Reports) -> npt.NDArray[np.bool_]:
        pairs = zip(self._attributes.values(), self._pieces(reports), strict=True)
        valid = np.ones(len(reports), dtype=np.bool_)
        for one, piece in pairs:
            valid &= _each_valid(one, piece)
        return valid

    def _empty(self) -> npt.NDArray[Any]:
        return np.concatenate([one._empty().reshape(-1) for one in self._attributes.values()])

    def _tally(self, reports: Reports) -> npt.NDArray[Any]:
        pairs = zip(self._attributes.values(), self._pieces(reports), strict=True)
        return np.concatenate([one._tally(one.shape.unpack(piece)[0]).reshape(-1) for one, piece in pairs])

    def _finish(self, tally: npt.NDArray[Any], count: int) -> dict[str, Any]:
        found, start = {}, 0
        for name, one in self._attributes.items():
            empty = one._empty()
            found[name] = one._finish(tally[start : start + empty.size].reshape(empty.shape), count)
            start += empty.size
        return found


class Sample(_Attributes):
    """A report on one attribute, drawn uniformly and named in the report; the promise is the largest of theirs.

    For the same promise each attribute hears from fewer people but at d times the ε, which is the better bargain
    unless ε is large. An attribute nobody reported on has no estimate (None).

    >>> from tacit.local import Duchi, KaryResponse
    >>> r = Sample({"age": Duchi(epsilon=2, bounds=(0, 100)), "smokes": KaryResponse(epsilon=2, categories=[0, 1])})
    >>> r.guarantee.epsilon(), sorted(r.estimate(r.randomize({"age": [40] * 100, "smokes": [1] * 100})))
    (2.0, ['age', 'smokes'])
    """

    __slots__ = ()

    def __init__(self, attributes: Attributes) -> None:
        self._set(attributes)
        self._guarantee = PureDP(max(self._prices), neighbours=REPLACE)

    @property
    def loss(self) -> LossDistribution:
        """That of a report that is ε-DP and no more is known about."""
        from tacit.mechanisms.selection.selecting import float_above
        from tacit.privacy.loss_distribution import LossDistribution

        return LossDistribution.pure(float_above(max(self._prices)), REPLACE)

    @property
    def shape(self) -> ByteRows:
        return ByteRows(1 + max(one.shape.width for one in self._attributes.values()))

    def _rows(self, columns: dict[str, Any], count: int, bits: BitSource) -> Reports:
        """Every attribute is reported on; one of the reports, chosen without looking, is kept."""
        chosen = uniform_places(len(self._attributes), count, bits)
        rows = self.shape.new(count)
        rows[:, 0] = chosen
        for i, (name, one) in enumerate(self._attributes.items()):
            told = one.shape.pack(one.randomize(columns[name], entropy=bits))
            rows[chosen == i, 1 : 1 + one.shape.width] = told[chosen == i]
        return rows

    def _valid(self, reports: Reports) -> npt.NDArray[np.bool_]:
        valid = np.zeros(len(reports), dtype=np.bool_)
        for i, one in enumerate(self._attributes.values()):
            own = reports[:, 0] == i
            part = reports[own]
            rest = (part[:, 1 + one.shape.width :] == 0).all(axis=1)
            valid[own] = rest & _each_valid(one, np.ascontiguousarray(part[:, 1 : 1 + one.shape.width]))
        return valid

    def _empty(self) -> npt.NDArray[Any]:
        sums = [one._empty().reshape(-1) for one in self._attributes.values()]
        return np.concatenate([np.zeros(len(sums), dtype=np.int64), *sums])

    def _tally(self, reports: Reports) -> npt.NDArray[Any]:
        counts = np.bincount(reports[:, 0], minlength=len(self._attributes))
        sums = []
        for i, one in enumerate(self._attributes.values()):
            part = np.ascontiguousarray(reports[reports[:, 0] == i, 1 : 1 + one.shape.width])
            sums.append((one._tally(one.shape.unpack(part)[0]) if len(part) else one._empty()).reshape(-1))
        return np.concatenate([counts, *sums])

    def _finish(self, tally: npt.NDArray[Any], count: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        start = len(self._attributes)
        for i, (name, one) in enumerate(self._attributes.items()):
            empty = one._empty()
            sums = tally[start : start + empty.size].reshape(empty.shape)
            found[name] = one._finish(sums, int(tally[i])) if tally[i] else None
            start += empty.size
        return found


def _single(value: Any) -> npt.NDArray[np.object_]:
    """One value, whatever it is, as a column of one."""
    column = np.empty(1, dtype=object)
    column[0] = value
    return column


def _array(value: Any) -> npt.NDArray[Any] | None:
    try:
        return several(value)
    except Exception:  # a device reports whatever it is given
        return None


def _each_valid(one: Randomizer[Any], rows: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Which rows of bytes are reports of this randomizer."""
    whole, bad = one.shape.unpack(rows)
    if not bad:
        return one._valid(whole)
    each = [one.shape.unpack(rows[i : i + 1]) for i in range(len(rows))]
    return np.array([not wrong and bool(one._valid(found)[0]) for found, wrong in each], dtype=np.bool_)
