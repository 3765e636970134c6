"""Collecting again and again: the first report about each value is kept and repeated."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.errors import InvalidParameter
from tacit.local.categories.frequency import FrequencyRandomizer
from tacit.local.numeric.numbers import NumberRandomizer, read_reals
from tacit.local.protocol import Randomizer
from tacit.mechanisms.shared.base import bits_from
from tacit.noise.entropy import BitSource
from tacit.privacy import REPLACE, Guarantee, PureDP

__all__ = ["Memoised", "MemoisedDevice"]


class Memoised:
    """A randomizer for daily use: each distinct true value costs its ε once, however often it is reported.

    The promise is for people whose values change at the same times: it hides *which* values they are, at ε for each
    distinct one, at most ``most_values`` of them. It does not hide *when* a value changes, because an unchanged report
    shows an unchanged value; `Rappor` makes every report anew. A device that meets more distinct values repeats its
    first report instead: it never goes beyond the promise, and never stays silent. Proof: docs/proofs/local_repeats.md.

    >>> from tacit.local import KaryResponse
    >>> m = Memoised(KaryResponse(epsilon=1, categories=["well", "ill"]), most_values=2)
    >>> m.guarantee.epsilon()
    2.0
    >>> device = m.device()
    >>> first = device.report("well")
    >>> all(device.report("well") == first for _ in range(100))
    True
    """

    __slots__ = ("_most", "_randomizer")

    def __init__(self, randomizer: Randomizer[Any], *, most_values: int) -> None:
        kinds = (FrequencyRandomizer, NumberRandomizer)
        if not isinstance(randomizer, kinds) or not isinstance(randomizer.guarantee, PureDP):
            allowed = "a randomizer of categories or of numbers"
            raise InvalidParameter("randomizer", given=randomizer, allowed=allowed)
        if isinstance(most_values, bool) or not isinstance(most_values, int) or most_values < 1:
            raise InvalidParameter("most_values", given=most_values, allowed="a whole number of at least 1")
        self._randomizer = randomizer
        self._most = most_values

    @property
    def randomizer(self) -> Randomizer[Any]:
        """What makes the reports; its analyser reads them."""
        return self._randomizer

    @property
    def each_value(self) -> Guarantee:
        """What each distinct true value costs."""
        return self._randomizer.guarantee

    @property
    def guarantee(self) -> PureDP:
        """What all reports of one person cost together, for as long as there are any."""
        assert isinstance(self._randomizer.guarantee, PureDP)
        return PureDP(self._most * self._randomizer.guarantee.eps, neighbours=REPLACE)

    def device(self) -> MemoisedDevice:
        """One person's device, with nothing reported yet."""
        return MemoisedDevice(self)

    def __repr__(self) -> str:
        return f"Memoised({self._randomizer!r}, most_values={self._most})"


class MemoisedDevice:
    """What one device has reported: at most so many reports, each repeated for its value."""

    __slots__ = ("_protocol", "_reports")

    def __init__(self, protocol: Memoised) -> None:
        self._protocol = protocol
        self._reports: dict[Any, Any] = {}

    def report(self, value: Any, *, entropy: BitSource | None = None) -> Any:
        """The report about a value, a list included: the one made the first time."""
        key = self._key(value)
        if key not in self._reports:
            if len(self._reports) >= self._protocol._most:
                return next(iter(self._reports.values()))
            self._reports[key] = self._protocol._randomizer._report(value, bits_from(entropy))[0]
        return self._reports[key]

    def _key(self, value: Any) -> Any:
        """What the randomizer takes the value for: categories by place, numbers as cut to the range."""
        r = self._protocol._randomizer
        if isinstance(r, FrequencyRandomizer):
            return r._answers.place(value)
        assert isinstance(r, NumberRandomizer)
        found, shape = read_reals(value)
        return float(r._bounds.units(found if shape is None else np.array([np.nan]))[0])

    def __repr__(self) -> str:
        return f"<device of {self._protocol!r}>"
