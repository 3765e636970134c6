"""Methods of columns that are operators of the allow-list: one for each entry that says how Python writes it.

What they are called, take and say is in the entries; `methods.pyi` says the same to type checkers and editors.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tacit.tables.expressions.operator import Method, Operator
from tacit.tables.expressions.operators import OPERATORS

__all__ = ["OperatorMethods", "methods"]


class OperatorMethods:
    """Has a method for each operator that is written as one; what is built on it says how a call becomes a term."""

    __slots__ = ()

    def _called(self, operator: str, given: tuple[object, ...]) -> Any:
        raise NotImplementedError


def methods() -> dict[str, tuple[Operator, Method]]:
    """The operators that are methods, by their names in Python."""
    return {one.python.name: (one, one.python) for one in OPERATORS.values() if one.python is not None}


def _signature(method: Method) -> inspect.Signature:
    found = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    found += [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in method.given]
    found += [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None) for name in method.perhaps]
    found += [inspect.Parameter(method.rest, inspect.Parameter.VAR_POSITIONAL)] if method.rest else []
    return inspect.Signature(found)


def _made(operator: str, method: Method) -> Callable[..., Any]:
    signature = _signature(method)

    def called(self: OperatorMethods, *arguments: object, **named: object) -> Any:
        try:
            bound = signature.bind(self, *arguments, **named).arguments
        except TypeError as problem:
            raise TypeError(f"{method.name}(): {problem}") from None
        given = [bound[name] for name in method.given]
        given += [bound[name] for name in method.perhaps if bound.get(name) is not None]
        return self._called(operator, (*given, *bound.get(method.rest, ())))

    called.__name__, called.__doc__ = method.name, method.says
    called.__signature__ = signature  # type: ignore[attr-defined]
    return called


for _name, (_operator, _method) in methods().items():
    setattr(OperatorMethods, _name, _made(_operator.name, _method))
