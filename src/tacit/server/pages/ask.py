"""The page to ask on: what may be asked, the price as one types, practice, and the answer."""

from __future__ import annotations

import json
import math
import shlex
from typing import TYPE_CHECKING, Any

from tacit.privacy.prices import text
from tacit.report import words
from tacit.report.disclosure import Amount, Disclosure
from tacit.report.markup import Html, element
from tacit.report.numbers import number
from tacit.report.page import answer_parts
from tacit.server.pages.charts import chart
from tacit.tables.policy.policy import ColumnPolicy, Policy, Role
from tacit.tables.query.to_sql import name_to_sql

if TYPE_CHECKING:
    from tacit.server.served_table import ServedTable
    from tacit.tables.release.answer import Answer

__all__ = ["answer_parts_of", "asking", "confirming", "copies", "examples", "made_up", "price_card"]

_WORDS = (
    "SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "AS", "AND", "OR", "NOT", "IN", "BETWEEN",
    "CASE", "WHEN", "THEN", "ELSE", "END", "JOIN", "ON", "ROLLUP", "CUBE", "GROUPING SETS", "DISTINCT", "LIKE",
)  # fmt: skip
_FUNCTIONS = ("COUNT(*)", "COUNT", "SUM", "AVG", "MEDIAN", "MIN", "MAX", "STDDEV", "VARIANCE", "QUANTILE", "MODE")


def asking(
    served: ServedTable, sql: str, price: str, rows: str, about: Html, below: Html, *, may_ask: bool
) -> list[Html]:
    """The form, with what the price would be beside it."""
    policy, flavour = served.table.policy, served.table.policy.terms.flavour
    fields = [
        element("label", "Question in SQL", for_="sql"),
        element(
            "textarea",
            sql,
            id="sql",
            name="sql",
            required="",
            spellcheck="false",
            autocapitalize="off",
            data_words=json.dumps(_completion(policy)),
        ),
        element(
            "div",
            element(
                "div",
                element("label", f"Price, {flavour.symbol}", for_="price"),
                element("input", id="price", name="price", value=price, inputmode="decimal", size=8, required=""),
            ),
            element(
                "div",
                element("label", "Rows per group", for_="rows"),
                element(
                    "input", id="rows", name="rows", value=rows, inputmode="numeric", size=8, placeholder="not said"
                ),
            ),
            element("button", "Show the price", name="act", value="plan"),
            element("button", "Practise", name="act", value="practise"),
            *([element("button", "Run", name="act", value="run", class_="main")] if may_ask else []),
            class_="row",
        ),
        element(
            "p", "Practise asks a made-up table that nobody is in. Run asks once more before it pays.", class_="note"
        ),
    ]
    form = element(
        "form",
        *fields,
        method="post",
        action=f"/tables/{served.name}",
        data_live="#about",
        data_from=f"/tables/{served.name}/price",
    )
    aside = element("aside", _schema(policy), _begin(policy), aria_label="What may be asked")
    left = element("div", form, element("div", about, id="about", aria_live="polite"), below)
    return [element("div", left, aside, class_="two")]


def _completion(policy: Policy) -> list[tuple[str, str, str]]:
    made = [(word, "keyword", "") for word in _WORDS] + [(word, "function", "") for word in _FUNCTIONS]
    for name, columns in ((policy.table, policy.columns), *((o.name, o.columns) for o in policy.others.values())):
        made.append((name_to_sql(name), "type", "table"))
        made += [
            (name_to_sql(one.name), "property", one.kind.value)
            for one in columns.values()
            if one.role is not Role.FORBIDDEN
        ]
    return made


def _schema(policy: Policy) -> Html:
    rows = []
    for one in policy.columns.values():
        if one.role is not Role.FORBIDDEN:
            values = _values(one)
            rows.append(
                element(
                    "tr",
                    element("td", element("code", name_to_sql(one.name))),
                    element(
                        "td",
                        str(one.kind),
                        *([element("br"), element("span", values, class_="note")] if values else []),
                    ),
                )
            )
    unit = "each row" if policy.unit.is_row else f"one {policy.unit.column}: all rows that share it"
    limits = (
        f"Counted of each are at most {_many(policy.limits.groups, 'group')}, "
        f"and {_many(policy.limits.rows, 'row')} in a group"
    )
    return element(
        "div",
        element("h2", f"Table {policy.table}"),
        element("p", f"Protected is {unit}." + ("" if policy.unit.is_row else f" {limits}."), class_="note"),
        element("table", element("tbody", *rows)),
        class_="card",
    )


def _many(times: int, what: str) -> str:
    return f"{times:,} {what}{'s' * (times != 1)}"


def _values(column: ColumnPolicy) -> str:
    if column.role is Role.IDENTIFIER:
        return "names people: counted only"
    parts = [] if column.bounds is None else [f"{text(column.bounds[0])} to {text(column.bounds[1])}"]
    if column.keys is not None:
        shown = ["null" if key is None else str(key) for key in column.keys[:8]]
        parts.append(", ".join(shown) + (f", … ({len(column.keys)})" if len(column.keys) > 8 else ""))
    return "; ".join(parts)


def examples(policy: Policy) -> list[str]:
    """Questions to begin with."""
    table = name_to_sql(policy.table)
    made = [f"SELECT COUNT(*) AS n FROM {table}"]
    asked = [one for one in policy.columns.values() if one.role in (Role.PUBLIC, Role.PRIVATE)]
    by = next((one for one in asked if one.role is Role.PUBLIC), None)
    if by is not None:
        key = name_to_sql(by.name)
        made.append(f"SELECT {key}, COUNT(*) AS n FROM {table} GROUP BY {key}")
    added = next((one for one in asked if one.bounds is not None), None)
    if added is not None:
        group = f"{name_to_sql(by.name)}, " if by is not None else ""
        ending = f" GROUP BY {name_to_sql(by.name)}" if by is not None else ""
        made.append(f"SELECT {group}AVG({name_to_sql(added.name)}) AS average FROM {table}{ending}")
    return made


def _begin(policy: Policy) -> Html:
    buttons = [
        element(
            "p",
            element("code", one),
            element("br"),
            element("button", "Use", type="button", class_="small", data_sql=one, hidden=""),
        )
        for one in examples(policy)
    ]
    return element("div", element("h2", "To begin with"), *buttons, class_="card")


def price_card(plan: dict[str, Any]) -> Html:
    """What a question would cost and how precise it would be."""
    symbol = "ε" if plan["flavour"] == "epsilon" else "ρ"
    price = words.amount(symbol, Amount(plan["price"]["main"], plan["price"]["delta"]))
    lines = []
    for one in plan["aggregates"]:
        error = (
            "depends on how many rows there are: say how many you expect"
            if one["error"] is None
            else f"± {_three(one['error'])}"
        )
        lines.append(element("li", element("code", one["output"]), f": {error}"))
    small = plan.get("smallest_group")
    if small is not None:
        lines.append(element("li", f"groups of about {number(round(small))} people or more are shown"))
    times = plan["affordable"]
    more = f"Your account allows {number(times)} more like this." if times else "Your account does not allow this."
    drawn: list[Html] = []
    first = next((one["output"] for one in plan["aggregates"] if one["error"] is not None), None)
    if "curve" in plan and first is not None:
        points = [(float(_fraction(one["price"]["main"])), float(one["errors"][first])) for one in plan["curve"]]
        here = points[len(points) // 2]
        picture = chart(
            f"Error of {first} against {symbol}",
            [("curve", points)],
            across=f"price, {symbol}",
            up=f"error of {first}",
            logarithmic=True,
            here=here,
        )
        label = element("label", f"Drag: another {symbol}", for_="drag")
        slider = element(
            "input", type="range", id="drag", min=-4, max=2, step=0.25, value=0, data_main=_plain(plan["price"]["main"])
        )
        drawn = [picture, label, slider]
    return element(
        "div",
        element("h2", f"It would cost {price}"),
        element("p", "Errors that noise stays within nineteen times of twenty, in each group:"),
        element("ul", *lines),
        element("p", more),
        *drawn,
        element("p", "This is free, and the same whatever the data are.", class_="note"),
        class_="card",
    )


def _fraction(exact: str) -> Any:
    from fractions import Fraction

    return Fraction(exact)


def _plain(exact: str) -> str:
    return f"{float(_fraction(exact)):.6g}"


def _three(error: float) -> str:
    return number(float(f"{error:.3g}"))


def confirming(served: ServedTable, sql: str, price: str, plan: dict[str, Any]) -> Html:
    """Asks once: what is paid, and what is left then."""
    symbol = "ε" if plan["flavour"] == "epsilon" else "ρ"
    paid = words.amount(symbol, Amount(plan["price"]["main"], plan["price"]["delta"]))
    return element(
        "form",
        element("h2", f"Pay {paid}?"),
        element("pre", plan["question"]),
        element(
            "p", "What is paid is gone, whatever the answer. The same question at the same price is free afterwards."
        ),
        element("input", type="hidden", name="sql", value=sql),
        element("input", type="hidden", name="price", value=price),
        element("input", type="hidden", name="sure", value="yes"),
        element(
            "div",
            element("button", f"Pay {paid} and run", name="act", value="run", class_="main", autofocus=""),
            element("a", "Not now", href=f"/tables/{served.name}"),
            class_="row",
        ),
        method="post",
        action=f"/tables/{served.name}",
        class_="card",
    )


def made_up(disclosure: Disclosure) -> Html:
    """An answer about nobody, marked so."""
    return element(
        "div",
        element("h2", "Practice: a made-up table"),
        element("p", "These numbers are about nobody: rows were made up from the policy alone. Nothing was spent."),
        *answer_parts(disclosure),
        class_="practice",
    )


def answer_parts_of(answer: Answer, *, where: str) -> list[Html]:
    """An answer with its picture, its table, what noise can do, and how to ask it elsewhere."""
    disclosure = answer.disclosure()
    parts = [element("pre", disclosure.question), element("p", " · ".join(words.spent(disclosure)), class_="note")]
    noise = _noise(disclosure)
    return [
        *parts,
        *answer_parts(disclosure),
        *([element("p", noise, class_="card")] if noise else []),
        copies(disclosure, where),
    ]


def _noise(disclosure: Disclosure) -> str:
    """From which difference on two groups differ by more than noise."""
    told = []
    for column in disclosure.columns:
        if not column.is_noisy or disclosure.rows < 2:
            continue
        halves = [
            (high - low) / 2
            for low, high in (column.interval(row) for row in range(disclosure.rows))
            if low is not None and high is not None
        ]
        if halves:
            told.append(f"of {column.name} below {_three(math.sqrt(2) * max(halves))}")
    return f"Differences {', '.join(told)} between two groups are within the noise." if told else ""


def copies(disclosure: Disclosure, where: str) -> Html:
    """The same question as Python, curl and SQL."""
    price = {disclosure.flavour: disclosure.price.main}
    if disclosure.price.delta != "0":
        price["delta"] = disclosure.price.delta
    said = ", ".join(f"{name}={value!r}" for name, value in price.items())
    python = (
        f"import tacit\n\ntable = tacit.connect({where!r}, key, table={disclosure.table!r})\n"
        f"answer = table.sql({disclosure.question!r}, {said})"
    )
    body = shlex.quote(json.dumps({"sql": disclosure.question, **price}, ensure_ascii=False))
    curl = (
        f'curl {where}/v1/tables/{disclosure.table}/answers -H "Authorization: Bearer $TACIT_KEY" '
        f"-H 'Content-Type: application/json' -d {body}"
    )
    made = []
    for name, code in (("python", python), ("curl", curl), ("sql", disclosure.question)):
        button = element("button", f"Copy as {name}", type="button", class_="small", data_copy=f"#as-{name}", hidden="")
        made += [
            element("h3", {"python": "Python", "curl": "curl", "sql": "SQL"}[name]),
            button,
            element("pre", code, id=f"as-{name}"),
        ]
    return element("details", element("summary", "Ask the same elsewhere: Python, curl, SQL"), *made)
