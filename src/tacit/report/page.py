"""A disclosure as one HTML page that needs nothing else: no script, no font, no picture from anywhere."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.report import words
from tacit.report.columns import Column
from tacit.report.disclosure import Cut, Disclosure
from tacit.report.labels import row_labels
from tacit.report.markup import Html, element, join
from tacit.report.numbers import cell, delta, exact, number, percent, price
from tacit.report.picture import MOST_BARS, picture
from tacit.report.style import STYLE

__all__ = ["MOST_ROWS", "answer_parts", "to_html"]

MOST_ROWS = 1000
"""Rows of the answer that the page shows; the JSON form has all of them."""

_WEAK = 0.3
_MOST_PICTURES = 4
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def to_html(disclosure: Disclosure) -> str:
    """The page, everything that an analyst or the data wrote escaped.

    It runs no script and loads nothing, and tells the browser to allow neither.
    """
    title = f"Private answer about {disclosure.table}"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="generator", content=disclosure.software),
        element("title", title),
        element("style", STYLE),
    )
    body = element(
        "body",
        element("h1", title),
        element("p", f"Asked by {disclosure.analyst}, {words.moment(disclosure.time)}", class_="soft"),
        element("pre", disclosure.question),
        _promise(disclosure),
        _section("The answer", *answer_parts(disclosure)),
        _section("How it was made private", *_method(disclosure)),
        _section("What this does not cover", element("ul", *(element("li", one) for one in disclosure.not_covered))),
        _section("On record", _record(disclosure)),
    )
    return "<!DOCTYPE html>\n" + element("html", head, body, lang="en") + "\n"


def _section(title: str, *children: str) -> Html:
    return element("section", element("h2", title), *children)


def _promise(disclosure: Disclosure) -> Html:
    """The three things that a reader must not miss: the price, who is protected, and the promise over time."""
    symbol = disclosure.symbol
    cards = [
        (
            f"{symbol} {price(disclosure.price.main)}, δ {delta(disclosure.price.delta)}",
            "price of this answer",
            words.meaning(disclosure.price),
        ),
        (disclosure.unit, "is who is protected", ""),
        (
            f"{symbol} {price(disclosure.cap.main)}, δ {delta(disclosure.cap.delta)}",
            f"is never exceeded by all answers together; {words.amount(symbol, disclosure.charged)} charged so far",
            words.meaning(disclosure.cap),
        ),
    ]
    return element(
        "div",
        *(
            element("div", element("b", main), element("span", *([f"{note} · {more}"] if more else [note])))
            for main, note, more in cards
        ),
        class_="promise",
    )


def answer_parts(disclosure: Disclosure) -> list[Html]:
    """The numbers: pictures, the table, and what is to be known about them."""
    noisy = [column for column in disclosure.columns if column.is_noisy]
    made = [element("p", _capital(words.footnote(disclosure)) + ".", class_="note")] if noisy else []
    made += [element("p", _capital(one) + ".", class_="note") for one in words.notes(disclosure)] if noisy else []
    labels = row_labels(disclosure.columns)
    if disclosure.rows > 1:
        for column in noisy[:_MOST_PICTURES]:
            made += [element("h3", column.name), picture(labels[:MOST_ROWS], column)]
            if disclosure.rows > MOST_BARS:
                made.append(_others(labels[:MOST_ROWS], column, disclosure.rows))
        if len(noisy) > _MOST_PICTURES:
            made.append(element("p", "The other columns are in the table.", class_="note"))
    made.append(_table(disclosure))
    if disclosure.rows > MOST_ROWS:
        rows = number(disclosure.rows)
        cut = f"Cut: the first {number(MOST_ROWS)} of {rows} groups are shown; the JSON form of this page has all."
        made.append(element("p", element("b", cut)))
    made += [element("p", remark, class_="note") for remark in (*_weakest(disclosure, labels), *disclosure.remarks)]
    return made


def _others(labels: Sequence[str], column: Column, rows: int) -> Html:
    """The groups beyond the first, folded up: shown on demand, without a script."""
    last = number(len(labels))
    title = f"The first {MOST_BARS} of {number(rows)} groups: show {number(MOST_BARS + 1)} to {last} too"
    return element("details", element("summary", title), picture(labels, column, MOST_BARS, len(labels)))


def _table(disclosure: Disclosure) -> Html:
    heads: list[Html] = []
    for column in disclosure.columns:
        heads.append(element("th", column.name, class_="number" if column.is_noisy else None))
        if column.is_noisy:
            heads.append(element("th", "relative error", class_="number"))
    rows = []
    for row in range(min(disclosure.rows, MOST_ROWS)):
        cells: list[Html] = []
        for column in disclosure.columns:
            cells.append(element("td", cell(column, row), class_="number" if column.is_noisy else "key"))
            if column.is_noisy:
                error = column.relative_error(row)
                weak = error is not None and error > _WEAK
                cells.append(element("td", percent(error), class_="number weak" if weak else "number"))
        rows.append(element("tr", *cells))
    table = element("table", element("thead", element("tr", *heads)), element("tbody", *rows))
    return element("div", table, class_="wide", tabindex=0, role="region", aria_label="The answer as a table")


def _weakest(disclosure: Disclosure, labels: Sequence[str]) -> list[str]:
    """The groups that noise hurts most, told for every column."""
    told = []
    for column in disclosure.columns:
        errors = [(column.relative_error(row), row) for row in range(disclosure.rows)]
        known = [(error, row) for error, row in errors if error is not None]
        if len(known) < 2:
            continue
        worst, row = max(known, key=lambda one: one[0])
        middle = sorted(error for error, _ in known)[len(known) // 2]
        weak = sum(error > _WEAK for error, _ in known)
        text = f"{column.name}: the relative error is {percent(middle)} in the middle group and {percent(worst)} in "
        text += f"the worst ({labels[row]})"
        told.append(text + (f"; in {number(weak)} of {number(len(known))} groups it is above 30%." if weak else "."))
    if told:
        told.append("Noise of one size hurts small groups most: read their numbers with care.")
    return told


def _method(disclosure: Disclosure) -> list[Html]:
    rule, symbol = disclosure.group_rule, disclosure.symbol
    group_words = rule.words
    if rule.kind == "private":
        passed = "" if rule.threshold is None else f", threshold {number(rule.threshold)} units"
        group_words += f" (δ {delta(rule.delta)} of the price{passed})"
    facts = [
        ("Neighbours", _capital(disclosure.neighbours)),
        ("Contribution", _capital(words.limits(disclosure)) or "Not limited"),
        *(("Over the limits", _over(one)) for one in disclosure.cut),
        ("Groups", _capital(group_words)),
        ("Unknown values", disclosure.nulls),
        ("Clamping", "; ".join(f"{c.what}: {c.low} to {c.high}, per {c.per}" for c in disclosure.clamps) or "None"),
        ("Rounding", disclosure.rounding),
        ("Accounting", f"Sums of {symbol} and δ, valid when questions are chosen from earlier answers"),
    ]
    heads = ("for", "measured", "mechanism", "scale", "sensitivity", "granule", "share", "95% error")
    rows = [
        element(
            "tr",
            element("td", ", ".join(one.outputs)),
            element("td", one.measure),
            element("td", one.mechanism),
            element("td", _four_digits(one.scale), class_="number"),
            element("td", one.sensitivity, class_="number"),
            element("td", exact(one.granule), class_="number"),
            element("td", exact(one.share), class_="number"),
            element("td", f"± {_four_digits(one.error)}", class_="number"),
        )
        for one in disclosure.noise
    ]
    headings = [element("th", head, class_="number" if i > 2 else None) for i, head in enumerate(heads)]
    table = element("table", element("thead", element("tr", *headings)), element("tbody", *rows))
    return [
        _facts(facts),
        *([element("div", table, class_="wide method")] if rows else []),
    ]


def _over(cut: Cut) -> str:
    """How what was cut was found out, and what is not in it."""
    return (
        f"{_capital(words.cut_words(cut))}: {number(round(cut.rows))} rows ({number(round(cut.low))} to "
        f"{number(round(cut.high))}), bought with {cut.share} of the price. Of units with more than "
        f"{number(cut.seen)} rows, what they have beyond the limits is not in it: none stood out of the noise, or "
        "more is not looked at."
    )


def _record(disclosure: Disclosure) -> Html:
    return _facts(
        [
            ("Ledger", f"{disclosure.ledger}, answer {disclosure.number} (entry {disclosure.entry})"),
            ("Ledger head", element("code", disclosure.head)),
            ("Check it", element("code", f"tacit verify {disclosure.ledger} --head {disclosure.head}")),
            ("Policy", element("code", disclosure.policy)),
            ("Software", disclosure.software),
            ("Time", disclosure.time),
        ]
    )


def _facts(pairs: Sequence[tuple[str, str]]) -> Html:
    return element("dl", *(join(element("dt", name), element("dd", text)) for name, text in pairs))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _four_digits(value: float) -> str:
    return number(float(f"{value:.4g}"))
