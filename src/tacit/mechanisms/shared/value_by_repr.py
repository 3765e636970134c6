"""Values that their repr tells completely."""

from __future__ import annotations

__all__ = ["ValueByRepr"]


class ValueByRepr:
    """Equal to whatever is of the same class and reads the same; hashed accordingly.

    >>> class Coin(ValueByRepr):
    ...     def __init__(self, bias: str) -> None:
    ...         self.bias = bias
    ...
    ...     def __repr__(self) -> str:
    ...         return f"Coin({self.bias!r})"
    >>> Coin("1/2") == Coin("1/2"), Coin("1/2") == Coin("1/3"), len({Coin("1/2"), Coin("1/2")})
    (True, False, 1)
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and repr(other) == repr(self)

    def __hash__(self) -> int:
        return hash(repr(self))
