"""What the owner allows: the total, a largest price per question, caps per analyst."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Self

from tacit.errors import InvalidParameter
from tacit.ledger.amounts import FLAVOURS, Amount, Flavour, Money, flavour_of, in_grains, readable
from tacit.ledger.names import analyst_name
from tacit.privacy.lasting import Readings, Spent
from tacit.privacy.neighbours import Neighbours, Unit
from tacit.privacy.prices import failure_probability, round_up, text, times
from tacit.privacy.promise import Promise, same_neighbours

__all__ = ["STRIKES", "Terms"]

_READING_DELTA = Fraction(1, 10**6)
_LEAST = Fraction(1, 1000)
_MOST_PAYMENTS = 3000  # by squares, at the least price
_NOTHING = Fraction(0)
_KEYS = frozenset(
    {"flavour", "neighbours", "total", "per_question", "per_analyst", "analysts", "reading_delta", "unit", "least"}
    | {"strikes", "data", "set_aside"}
)
STRIKES = 3
"""Lost answers that lock an account, unless the owner says another number."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The caps of a ledger, all in the flavour of the total: ε and δ for `ApproxDP` or `PureDP`, ρ and δ for `ZCDP`.

    ``per_question`` bounds one price, ``per_analyst`` what each analyst may spend, ``analysts`` what those named may
    spend instead. ``reading_delta`` is the δ at which a ρ ledger says what its numbers mean as (ε, δ); 1e-6 unless
    given, or ten times the total's own δ if that is not below 1e-6. ``unit`` is whom all prices protect: an ε about
    rows and one about people do not add up, so a ledger keeps to one. ``least`` is the least price of a payment, a
    thousandth of the total unless given, with a δ′ set aside one that three thousand payments use up: what failures
    and times may tell is limited by the number of payments. After
    ``strikes`` lost answers the account of an analyst is locked. ``set_aside`` is a part δ′ of the total's δ that no
    question may use: for it, small prices may use the total by the sum of their squares, where the sum of ε does not
    allow it (`tacit.privacy.lasting`); fixed when the ledger is begun. ``cap``, ``largest`` and ``smallest`` are the
    total, the largest and the least price as amounts.

    >>> from tacit.privacy import ApproxDP, PureDP
    >>> print(Terms(ApproxDP(3, 1e-8), per_question=PureDP(1), analysts={"ada": PureDP(2)}))
    total ε 3, δ 1e-08; per question ε 1, δ 0; analyst ada ε 2, δ 0
    """

    total: Promise
    per_question: Promise | None = None
    per_analyst: Promise | None = None
    analysts: Mapping[str, Promise] = field(default_factory=dict, hash=False)
    reading_delta: object = None
    unit: Unit | None = None
    least: Promise | None = field(default=None, compare=False)
    strikes: int = STRIKES
    set_aside: object = field(default=None, kw_only=True)
    data: int = field(default=1, compare=False)
    """Which version of the data it is: the owner raises it, on record, when the data have changed."""
    cap: Amount = field(init=False, compare=False, repr=False)
    largest: Amount | None = field(init=False, compare=False, repr=False)
    smallest: Fraction = field(init=False, repr=False)
    readings: Readings | None = field(init=False, compare=False, repr=False)
    """The two readings of the total, where a δ′ is set aside."""

    def __post_init__(self) -> None:
        if self.unit is not None and not isinstance(self.unit, Unit):
            raise InvalidParameter("unit", given=self.unit, allowed='tacit.Unit("user_id"), or tacit.ROW')
        if not isinstance(self.total, Promise):
            raise InvalidParameter("total", given=self.total, allowed="a guarantee: ApproxDP(3, 1e-8) or ZCDP(0.5)")
        total = self._cap("total", self.total)
        for name in ("per_question", "per_analyst"):
            given = getattr(self, name)
            object.__setattr__(self, name, None if given is None else self._cap(name, given))
        object.__setattr__(self, "analysts", MappingProxyType(self._named()))
        object.__setattr__(self, "reading_delta", self._reading())
        object.__setattr__(self, "total", total)
        object.__setattr__(self, "cap", self.flavour.amount(total))
        object.__setattr__(self, "readings", self._readings())
        largest = None if self.per_question is None else self.flavour.amount(self.per_question)
        object.__setattr__(self, "largest", largest)
        object.__setattr__(self, "smallest", self._smallest())
        times(self.strikes, "strikes", least=1)
        times(self.data, "data", least=1)

    def _smallest(self) -> Fraction:
        """The least ε or ρ of a payment: as given, or a thousandth of the total, and never above the largest price."""
        most = self.cap.main if self.largest is None else self.largest.main
        if self.least is None:
            usual = self.cap.main * _LEAST
            by_squares = _NOTHING if self.readings is None else self.readings.price_of_each(_MOST_PAYMENTS)
            return min(max(usual, by_squares), most)
        given = self._cap("least", self.least)
        amount = self.flavour.amount(given)
        if amount.delta or amount.main > most:
            allowed = f"{self.flavour.symbol} up to {text(most)}, the largest price, and no δ"
            raise InvalidParameter("least", given=self.flavour.words(amount), allowed=allowed)
        object.__setattr__(self, "least", given)
        return amount.main

    def _named(self) -> dict[str, Promise]:
        """The caps of those named, under the spelling that their accounts have."""
        if not isinstance(self.analysts, Mapping):
            raise InvalidParameter("analysts", given=self.analysts, allowed='caps by name: {"ada": PureDP(1)}')
        named: dict[str, Promise] = {}
        for given, cap in self.analysts.items():
            name = analyst_name(given)
            if name in named:
                raise InvalidParameter("analysts", given=given, allowed="every name once, however it is spelled")
            named[name] = self._cap(f"cap of {given}", cap)
        return dict(sorted(named.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).read, (self.to_dict(),)  # a read-only mapping cannot be pickled

    def _cap(self, label: str, given: Promise) -> Money:
        """A cap in the ledger's own kind, not above the total."""
        if not isinstance(given, Promise):
            raise InvalidParameter(label, given=given, allowed="a guarantee of the total's kind")
        same_neighbours(self.total, given, "caps of one ledger")
        flavour = self.flavour
        cap, total = flavour.amount(given), flavour.amount(self.total)
        for number in (cap.main, cap.delta):
            in_grains(number)
        if not cap.within(total):
            raise InvalidParameter(
                label, given=flavour.words(cap), allowed=f"at most the total, {flavour.words(total)}"
            )
        return self.money(cap)

    def _reading(self) -> Fraction | None:
        """Where a ρ ledger reads its (ε, δ): beyond the δ that the total allows already."""
        flavour, given = self.flavour, self.reading_delta
        if flavour.name != "rho":
            if given is not None:
                raise InvalidParameter("reading_delta", given=given, allowed="None: an ε ledger has its own δ")
            return None
        floor = flavour.amount(self.total).delta
        default = _READING_DELTA if floor < _READING_DELTA else min(10 * floor, (1 + floor) / 2)
        delta = default if given is None else failure_probability(given, "reading_delta")
        if delta <= floor:
            allowed = f"a δ above the total's own, {text(floor)}, at which ρ is read as (ε, δ)"
            raise InvalidParameter("reading_delta", given=text(delta), allowed=allowed)
        return delta

    def _readings(self) -> Readings | None:
        """What a δ′ set aside allows besides the sum."""
        if self.set_aside is None:
            return None
        if self.flavour.name == "rho":
            allowed = "None: squares are what a ρ ledger adds up"
            raise InvalidParameter("set_aside", given=self.set_aside, allowed=allowed)
        delta = failure_probability(self.set_aside, "set_aside")
        in_grains(delta)
        object.__setattr__(self, "set_aside", delta)
        return Readings(self.cap.main, self.cap.delta, delta)

    def allows(self, charged: Amount, squares: Fraction) -> bool:
        """Whether the total allows sums of this size: by the sum of prices or, with a δ′ set aside, by squares too."""
        if self.readings is None:
            return charged.within(self.cap)
        return self.readings.allows(Spent(charged.main, charged.delta, squares))

    def left(self, charged: Amount, squares: Fraction) -> Amount:
        """The largest price that the total still allows."""
        if self.readings is None:
            return charged.up_to(self.cap)
        spent = Spent(charged.main, charged.delta, squares)
        most = max(self.readings.left_by_sum(spent), self.readings.left_by_squares(spent))
        return Amount(most, self.readings.left_delta(spent))

    @property
    def flavour(self) -> Flavour:
        """The currency, which the kind of the total decides."""
        return flavour_of(self.total)

    @property
    def neighbours(self) -> Neighbours:
        """The relation that every price in the ledger is about."""
        return self.total.neighbours

    def caps(self) -> Iterator[tuple[str, Amount]]:
        """Every cap with its label, the total first."""
        general = (("total", self.total), ("per question", self.per_question), ("per analyst", self.per_analyst))
        for label, cap in (*general, *((f"analyst {name}", cap) for name, cap in self.analysts.items())):
            if cap is not None:
                yield label, self.flavour.amount(cap)

    def cap_of(self, analyst: str) -> Amount | None:
        """The cap of one analyst, if there is one."""
        cap = self.analysts.get(analyst, self.per_analyst)
        return None if cap is None else self.flavour.amount(cap)

    def money(self, amount: Amount) -> Money:
        """The guarantee that an amount in this ledger is."""
        return self.flavour.guarantee(amount, self.neighbours)

    def meaning(self, amount: Amount, squares: Fraction | None = None) -> tuple[float, Fraction]:
        """The (ε, δ) that an amount in this ledger means: itself, or ρ read at ``reading_delta``; ε rounded up.

        Where a δ′ is set aside, and the ``squares`` of the prices are given: by whichever reading says less.
        """
        if self.readings is not None and squares is not None:
            epsilon, delta = self.readings.meaning(Spent(amount.main, amount.delta, squares))
            return (round_up(epsilon) if isinstance(epsilon, Fraction) else epsilon), delta
        delta = amount.delta if self.reading_delta is None else failure_probability(self.reading_delta)
        return self.money(amount).epsilon(delta), delta

    def to_dict(self) -> dict[str, Any]:
        """The terms as JSON values, numbers as exact text."""

        def texts(cap: Promise | None) -> list[str] | None:
            return None if cap is None else self.flavour.amount(cap).texts()

        return {
            "flavour": self.flavour.name,
            "neighbours": self.neighbours.value,
            "total": texts(self.total),
            "per_question": texts(self.per_question),
            "per_analyst": texts(self.per_analyst),
            "analysts": {name: texts(cap) for name, cap in self.analysts.items()},
            "reading_delta": None if self.reading_delta is None else text(failure_probability(self.reading_delta)),
            "unit": None if self.unit is None else {"column": self.unit.column},
            "least": texts(self.least),
            "strikes": self.strikes,
            **({} if self.data == 1 else {"data": self.data}),
            **({} if self.set_aside is None else {"set_aside": text(failure_probability(self.set_aside))}),
        }

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        """The terms that `to_dict` wrote: a key that it does not write is an alteration, or of a later version."""
        strange = sorted(set(values) - _KEYS)
        if strange:
            raise InvalidParameter("terms", given=strange[0], allowed=f"{', '.join(sorted(_KEYS))} and nothing else")
        flavour, neighbours = FLAVOURS[values["flavour"]], Neighbours(values["neighbours"])

        def cap(texts: list[str] | None) -> Money | None:
            return None if texts is None else flavour.guarantee(Amount.read(texts), neighbours)

        total = cap(values["total"])
        assert total is not None
        named = {name: flavour.guarantee(Amount.read(texts), neighbours) for name, texts in values["analysts"].items()}
        unit = None if values.get("unit") is None else Unit(values["unit"]["column"])
        return cls(
            total,
            cap(values["per_question"]),
            cap(values["per_analyst"]),
            named,
            values["reading_delta"],
            unit,
            cap(values.get("least")),
            values.get("strikes", STRIKES),
            values.get("data", 1),
            set_aside=values.get("set_aside"),
        )

    def __str__(self) -> str:
        listed = "; ".join(f"{label} {self.flavour.words(cap)}" for label, cap in self.caps())
        if self.least is not None:
            listed += f"; least price {self.flavour.symbol} {readable(self.smallest)}"
        if self.strikes != STRIKES:
            listed += f"; strikes {self.strikes}"
        if self.readings is not None:
            aside, rho = text(self.readings.set_aside), readable(self.readings.rho)
            listed += f"; δ {aside} of it set aside, for squares up to ρ {rho}"
        reading = "" if self.reading_delta is None else f"; read at δ {self.reading_delta}"
        relation = "" if self.neighbours is Neighbours.ADD_REMOVE else f"; neighbours {self.neighbours.value}"
        who = "" if self.unit is None else "; unit: " + ("each row" if self.unit.is_row else f"one {self.unit.column}")
        return listed + reading + relation + who
