"""`%load_ext tacit`: questions in cells of a notebook, with their price before they are paid.

    %%tacit people --epsilon 0.5
    SELECT city, COUNT(*) AS n FROM people GROUP BY city

shows what the answer would cost and how precise it would be; with --pay it is paid for, shown, and kept under the name
that --into gives.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from typing import Any, NoReturn

from tacit.errors import InvalidParameter, TacitError
from tacit.report.markup import Html, element
from tacit.tables.plan.plan import Plan
from tacit.tables.plan.text import price_words
from tacit.tables.session.table import Question, Table
from tacit.tables.sql.parse import statements

__all__ = ["Price", "load_ipython_extension"]

_SMALL = "font-size:0.85em;opacity:0.75"
_SEVERAL = {"epsilon": ("0.1", "0.2", "0.5", "1", "2"), "rho": ("0.001", "0.005", "0.02", "0.1", "0.5")}


class Price:
    """What a cell would cost, what it would show, and what is left: shown before anything is paid."""

    def __init__(self, plans: Sequence[Plan], left: str, next_line: str) -> None:
        self._plans = tuple(plans)
        self._left = left
        self._next = next_line

    def _rows(self) -> list[list[str]]:
        first = self._plans[0]
        names = [line.name for line in first.lines]
        rows = [["price", *names]]
        for plan in self._plans:
            errors = ["depends on the rows" if one.error is None else f"± {one.error:.3g}" for one in plan.lines]
            rows.append([price_words(plan.cost, plan.policy.terms), *errors])
        return rows

    def __repr__(self) -> str:
        table = "\n".join("   ".join(row) for row in self._rows())
        return f"{table}\nleft: {self._left}. Nothing was spent. {self._next}"

    def _repr_html_(self) -> Html:
        head, *rows = self._rows()
        table = element(
            "table",
            element("thead", element("tr", *(element("th", one, style="text-align:left") for one in head))),
            element("tbody", *(element("tr", *(element("td", one) for one in row)) for row in rows)),
        )
        note = f"left: {self._left}. Nothing was spent. {self._next}"
        return element("div", table, element("div", note, style=_SMALL))


class _Words(argparse.ArgumentParser):
    """The first line of a cell; what is wrong with it is one sentence, not an exit."""

    def error(self, message: str) -> NoReturn:
        allowed = "TABLE --epsilon 0.5 (or --rho), then --pay; also --delta, --bias SHARE, --fresh, --into NAME"
        raise InvalidParameter("%%tacit", given=message, allowed=allowed, hint="Nothing was spent.")


def _parser() -> _Words:
    parser = _Words(prog="%%tacit", add_help=False, allow_abbrev=False)
    parser.add_argument("table")
    for name in ("--epsilon", "--rho", "--delta", "--bias", "--into"):
        parser.add_argument(name)
    parser.add_argument("--pay", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    return parser


def answered(line: str, cell: str, names: dict[str, Any]) -> Any:
    """What a cell gives: its price, or with --pay its answer, kept in ``names`` if --into says how to call it."""
    try:
        split = shlex.split(line)
    except ValueError:
        raise InvalidParameter("%%tacit", given=line, allowed="words whose quotation marks are closed") from None
    words = _parser().parse_args(split)
    if words.into is not None and not words.into.isidentifier():
        raise InvalidParameter("--into", given=words.into, allowed="a name for the answer", hint="Nothing was spent.")
    table = names.get(words.table)
    if not isinstance(table, Table):
        known = [name for name, value in names.items() if isinstance(value, Table) and not name.startswith("_")]
        allowed = f"an open table: {', '.join(known)}" if known else 'an open table: people = tacit.open("people.toml")'
        raise InvalidParameter("table", given=words.table, allowed=allowed)
    price = {"epsilon": words.epsilon, "rho": words.rho, "delta": words.delta}
    listed = statements(cell)
    question: Any = table.batch(listed) if len(listed) > 1 else table.query(listed[0])
    more = {} if words.bias is None else {"bias": words.bias}
    if not words.pay:
        return _price(table, question, {**price, **more}, line)
    found = question.ask(**price, **more, fresh=words.fresh)
    if words.into is not None:
        names[words.into] = found
    return found


def _price(table: Table, question: Any, price: dict[str, Any], line: str) -> Price:
    flavour = table.policy.terms.flavour
    words = flavour.words(flavour.price(table.remaining))
    stated = isinstance(question, Question) and question.states_price
    if price["epsilon"] is None and price["rho"] is None and not stated:
        given = [{**price, flavour.name: one} for one in _SEVERAL[flavour.name]]
        example = f"%%tacit {line.strip()} --{flavour.name} {_SEVERAL[flavour.name][2]}"
        return Price([question.plan(**one) for one in given], words, f"Say a price: {example}")
    return Price([question.plan(**price)], words, f"To pay it: %%tacit {line.strip()} --pay")


def load_ipython_extension(shell: Any) -> None:
    """Make `%%tacit` known to IPython: `%load_ext tacit`."""
    from IPython.core.error import UsageError

    def tacit(line: str, cell: str) -> Any:
        """A question in SQL: its price, free; with --pay its private answer."""
        try:
            return answered(line, cell, shell.user_ns)
        except TacitError as error:
            raise UsageError(f"{error}") from None  # one paragraph, and the cells below do not run

    shell.register_magic_function(tacit, magic_kind="cell", magic_name="tacit")
