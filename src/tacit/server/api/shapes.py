"""What requests and replies look like: bounded texts, no unknown fields."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "Asked",
    "Capped",
    "Discovered",
    "Fitted",
    "Levels",
    "NewKey",
    "Planned",
    "Problem",
    "Reason",
    "Recalled",
    "Said",
    "Several",
    "Unlocked",
]

Number = (
    Annotated[str, Field(max_length=100)] | Annotated[int, Field(strict=True)] | Annotated[float, Field(strict=True)]
)
"""A text is exact; true and false are no numbers."""
Name = Annotated[str, Field(max_length=1000)]
Sql = Annotated[str, Field(min_length=1, max_length=100_000)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Priced(_Strict):
    epsilon: Number | None = None
    delta: Number | None = None
    rho: Number | None = None

    def price(self) -> dict[str, Any]:
        """The price as the library takes it."""
        return {"epsilon": self.epsilon, "delta": self.delta, "rho": self.rho}


class Asked(_Priced):
    """A question and what it may cost: epsilon or rho, as the ledger keeps them; a text is exact."""

    sql: Sql
    bias: Number | None = None
    """A share of the price, between 0 and 1, for how many rows the limits cut."""


class Planned(Asked):
    """The same, free; with ``curve``, errors at several prices."""

    expected_rows: Annotated[int, Field(ge=1, le=10**15)] | None = None
    curve: bool = False


class Recalled(_Priced):
    """What a request is called on record, and what it cost."""

    question: Annotated[str, Field(min_length=1, max_length=1_000_000)]


class Reason(_Strict):
    """Why; it stays on record."""

    reason: Annotated[str, Field(min_length=1, max_length=10_000)]


class Unlocked(Reason):
    """Whose account."""

    analyst: Annotated[str, Field(min_length=1, max_length=200)]


class Capped(Reason):
    """What an analyst may spend in all."""

    epsilon: Number | None = None
    rho: Number | None = None
    delta: Number = 0


class NewKey(_Strict):
    """A key for somebody; ``tables`` that it opens (all if not said), ``days`` until it ends."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    role: Literal["owner", "analyst", "auditor"] = "analyst"
    tables: list[Annotated[str, Field(max_length=200)]] | None = Field(default=None, max_length=1000)
    days: Annotated[float, Field(gt=0, le=36_500)] | None = None


class Problem(BaseModel):
    """RFC 9457; ``code`` never changes."""

    type: str
    title: str
    status: int
    code: str
    detail: str


class Said(BaseModel):
    """JSON values with a version."""

    model_config = ConfigDict(extra="allow")


class _Checked(_Priced):
    question: Annotated[str, Field(max_length=1_000_000)] | None = None
    """What the sender takes it to be called on record: refused if it is called otherwise here."""


class Fitted(_Checked):
    """A model: by which method, of which column from which; what it may cost. Settings are numbers, texts, lists."""

    method: Annotated[str, Field(min_length=1, max_length=100)]
    target: Name | None = None
    columns: list[Name] | None = Field(default=None, max_length=10_000)
    rows_per_unit: Annotated[int, Field(ge=1, le=10**9)] | None = None
    settings: dict[str, Any] = Field(default_factory=dict, max_length=100)


class Several(_Checked):
    """Statements at one price; weights say how it is shared."""

    statements: list[Sql] = Field(min_length=1, max_length=1000)
    weights: list[Number] | None = Field(default=None, max_length=1000)
    expected_rows: list[Annotated[int, Field(ge=1, le=10**15)]] | None = Field(default=None, max_length=1000)


class Levels(_Checked):
    """Counts that add up: the statement about the finest groups, and lists of its keys; or one ordered key."""

    sql: Sql
    levels: list[list[Name]] | None = Field(default=None, max_length=1000)
    weights: list[Number] | None = Field(default=None, max_length=1000)
    key: Name | None = None
    branching: Annotated[int, Field(ge=2, le=10**6)] | None = None


class Discovered(_Checked):
    """Bounds of a column, or how many rows or groups by columns a unit has."""

    what: Literal["bounds", "rows", "groups", "limits"]
    columns: list[Name] = Field(default_factory=list, max_length=100)
