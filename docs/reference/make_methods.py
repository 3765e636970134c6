"""Writes src/tacit/tables/python/methods.pyi: to type checkers and editors, what the entries of operators say."""

from __future__ import annotations

from pathlib import Path

from tacit.tables.expressions.operator import Method
from tacit.tables.python.methods import methods

HEAD = '''\
"""Written by docs/reference/make_methods.py from the entries of `tacit.tables.expressions.operators`."""

from typing import Self

from tacit.tables.expressions.operator import Method, Operator

__all__ = ["OperatorMethods", "methods"]

def methods() -> dict[str, tuple[Operator, Method]]: ...

class OperatorMethods:
    def _called(self, operator: str, given: tuple[object, ...]) -> Self: ...
'''


def line(method: Method) -> str:
    given = ["self", *(f"{name}: object" for name in method.given)]
    given += [f"{name}: object = None" for name in method.perhaps]
    given += [f"*{method.rest}: object"] if method.rest else []
    return f"    def {method.name}({', '.join(given)}) -> Self: ...\n"


def page() -> str:
    return HEAD + "".join(line(method) for _, method in methods().values())


if __name__ == "__main__":
    home = Path(__file__).resolve().parents[2] / "src/tacit/tables/python/methods.pyi"
    home.write_text(page(), encoding="utf-8")
