"""What requests and replies look like: bounded texts, no unknown fields."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["Asked", "Capped", "Fitted", "NewKey", "Planned", "Problem", "Reason", "Said", "Unlocked"]

Number = Annotated[str, Field(max_length=100)] | int | float
Sql = Annotated[str, Field(min_length=1, max_length=100_000)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Asked(_Strict):
    """A question and what it may cost: epsilon or rho, as the ledger keeps them; a text is exact."""

    sql: Sql
    epsilon: Number | None = None
    delta: Number | None = None
    rho: Number | None = None

    def price(self) -> dict[str, Any]:
        """The price as the library takes it."""
        return {"epsilon": self.epsilon, "delta": self.delta, "rho": self.rho}


class Planned(Asked):
    """The same, free; with ``curve``, errors at several prices."""

    expected_rows: Annotated[int, Field(ge=1, le=10**15)] | None = None
    curve: bool = False


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


class Fitted(_Strict):
    """A model: by which method, of which column from which; what it may cost. Settings are numbers, texts, lists."""

    method: Annotated[str, Field(min_length=1, max_length=100)]
    epsilon: Number | None = None
    delta: Number | None = None
    rho: Number | None = None
    target: Annotated[str, Field(max_length=1000)] | None = None
    columns: list[Annotated[str, Field(max_length=1000)]] | None = Field(default=None, max_length=10_000)
    rows_per_unit: Annotated[int, Field(ge=1, le=10**9)] | None = None
    settings: dict[str, Any] = Field(default_factory=dict, max_length=100)
    question: Annotated[str, Field(max_length=100_000)] | None = None

    def price(self) -> dict[str, Any]:
        """The price as estimators take it."""
        return {"epsilon": self.epsilon, "delta": self.delta, "rho": self.rho}
