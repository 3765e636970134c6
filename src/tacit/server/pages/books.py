"""Budget and owner: what was charged, to whom, when; tables, keys, caps."""

from __future__ import annotations

from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tacit.report.markup import Html, element
from tacit.report.numbers import delta, price
from tacit.report.words import moment
from tacit.server.pages.charts import chart
from tacit.server.pages.frame import section
from tacit.server.roles import Act

if TYPE_CHECKING:
    from tacit.server.keys import Key
    from tacit.server.served_table import ServedTable
    from tacit.server.service import Service

_WIDE = {"class_": "wide", "tabindex": 0, "role": "region", "aria_label": "Table"}
__all__ = ["budget_parts", "history", "owner_parts"]


def budget_parts(served: ServedTable, told: dict[str, Any], entries: list[dict[str, Any]]) -> list[Html]:
    """Mine and all, as numbers and over time."""
    terms = served.ledger.budget().terms if served.is_begun else served.table.policy.terms
    symbol = terms.flavour.symbol
    if not told["begun"]:
        return [element("p", "Nothing has been paid yet: the whole budget is there."), element("p", str(terms))]
    charged, cap = told["charged"], terms.cap.texts()
    mine = told["yours"]["account"]
    parts = [
        element(
            "div",
            _card(f"{symbol} {price(charged[0])}", f"charged so far, of {symbol} {price(cap[0])} in all"),
            _card(f"{symbol} {price(told['left'][0])}", "left for everybody together"),
            _card(f"{symbol} {price(mine['charged'][0] if mine else '0')}", f"paid by {told['yours']['name']}"),
            *_left(told, terms.flavour.name, symbol),
            class_="promise",
        ),
        element(
            "meter",
            f"{float(Fraction(charged[0])):g}",
            min=0,
            max=float(Fraction(cap[0])),
            value=float(Fraction(charged[0])),
            aria_label="Charged so far, of the whole budget",
        ),
        element("p", f"The promise is the cap: {terms}.", class_="note"),
    ]
    paid = [one for one in entries if one["kind"] == "reserved"]
    if len(paid) > 1:
        parts.append(section("Over time", _timeline(paid, symbol)))
    if len(told["accounts"]) > 1 or (told["accounts"] and told["accounts"][0]["analyst"] != told["yours"]["name"]):
        parts.append(section("Accounts", _accounts(told["accounts"], symbol)))
    return [*parts, section("On record", history(served.name, entries, symbol))]


def _left(told: dict[str, Any], flavour: str, symbol: str) -> list[Html]:
    """What is left for who looks, where a cap of theirs says less than that of all."""
    own = told["yours"]["left"][flavour]
    if Fraction(own) >= Fraction(told["left"][0]):
        return []
    return [_card(f"{symbol} {price(own)}", f"left for {told['yours']['name']}, who has a cap")]


def _card(main: str, note: str) -> Html:
    return element("div", element("b", main), element("span", note))


def _timeline(paid: list[dict[str, Any]], symbol: str) -> Html:
    moments = [datetime.fromisoformat(one["time"]).timestamp() for one in paid]
    sums = [float(Fraction(one["charged"][0])) for one in paid]
    steps: list[tuple[float, float]] = []
    for at, total in zip(moments, sums, strict=True):
        seconds = at - moments[0]
        steps += [(seconds, steps[-1][1] if steps else 0.0), (seconds, total)]
    return chart(
        f"Charged so far in {symbol}, over time", [("curve", steps)], across="seconds since the first", up=symbol
    )


def _accounts(accounts: list[dict[str, Any]], symbol: str) -> Html:
    head = element("tr", *(element("th", one) for one in ("analyst", "charged", "cap", "left", "")))
    rows = [
        element(
            "tr",
            element("td", one["analyst"]),
            element("td", f"{symbol} {price(one['charged'][0])}", class_="number"),
            element("td", "–" if one["cap"] is None else f"{symbol} {price(one['cap'][0])}", class_="number"),
            element("td", f"{symbol} {price(one['left'][0])}", class_="number"),
            element("td", "locked" if one["locked"] else f"{one['strikes']} lost" if one["strikes"] else ""),
        )
        for one in accounts
    ]
    return element("div", element("table", element("thead", head), element("tbody", *rows)), **_WIDE)


def history(table: str, entries: list[dict[str, Any]], symbol: str) -> Html:
    """The newest first; what was answered can be looked at again, free."""
    if not entries:
        return element("p", "Nothing yet.", class_="note")
    rows = []
    for one in reversed(entries[-200:]):
        what = one.get("question") or one.get("reason") or one["kind"]
        cell: Html | str = what
        if one["kind"] == "reserved" and one["state"] == "released":
            cell = element("a", what, href=f"/tables/{table}/answers/{one['number']}")
        cost = ""
        if "price" in one:
            cost = f"{symbol} {price(one['price'][0])}" + (
                "" if one["price"][1] == "0" else f", δ {delta(one['price'][1])}"
            )
        rows.append(
            element(
                "tr",
                element("td", "" if one["number"] is None else f"#{one['number']}"),
                element("td", moment(one["time"])),
                element("td", one.get("analyst") or one.get("owner") or ""),
                element("td", cost, class_="number"),
                element("td", cell, class_="key"),
            )
        )
    head = element("tr", *(element("th", one) for one in ("#", "time", "who", "price", "what")))
    return element("div", element("table", element("thead", head), element("tbody", *rows)), **_WIDE)


def owner_parts(service: Service, key: Key, new_key: str | None) -> list[Html]:
    """Tables, keys, caps: what an owner does."""
    parts: list[Html] = []
    if new_key is not None:
        parts.append(
            element(
                "div",
                element("p", element("b", "The new key, shown this once:")),
                element("pre", new_key, id="new-key"),
                element("button", "Copy", type="button", class_="small", data_copy="#new-key", hidden=""),
                class_="card",
                role="status",
            )
        )
    mine = [served for name, served in service.served_tables.items() if key.may(Act.LOOK, name)]
    parts.append(section("Tables", *(_table(served) for served in mine)))
    parts.append(section("Keys", _keys(service, key), _new_key(service)))
    return parts


def _table(served: ServedTable) -> Html:
    policy = served.table.policy
    terms = served.ledger.budget().terms if served.is_begun else policy.terms
    lines = [f"{served.path.name}: {terms}"]
    warnings = (
        [] if policy.population is not None else ["The policy declares no population: δ is held against nothing."]
    )
    warnings += [] if policy.unit.is_row or terms.per_analyst or terms.analysts else [
        "No analyst has a cap: one of them can spend the whole budget."
    ]  # fmt: skip
    if served.is_begun:
        found = served.ledger.verify()
        lines.append(f"ledger: {found.entries} entries, {'sound' if found.sound else 'NOT SOUND: tacit verify'}")
    else:
        lines.append("ledger: nothing has been paid yet")
    gone = served.missing()
    forms = [
        _form(
            f"/owner/{served.name}/cap",
            "Set the cap",
            ("analyst", "Analyst", "ada"),
            ("main", f"Cap, {policy.terms.flavour.symbol}", "1"),
            ("reason", "Reason", "a study"),
        ),
        _form(
            f"/owner/{served.name}/unlock",
            "Unlock",
            ("analyst", "Analyst", "ada"),
            ("reason", "Reason", "the disk was full"),
        ),
    ]
    if gone is not None:
        text = f"An older copy of the ledger was put back: entry {gone[0]} is missing. Nothing is paid until then."
        forms.insert(0, element("p", text, class_="refused card"))
        forms.insert(1, _form(f"/owner/{served.name}/restored", "Sign off", ("reason", "Reason", "the disk failed")))
    return element(
        "div",
        element("h3", served.name),
        *(element("p", one) for one in lines),
        element("ul", *(element("li", one) for one in warnings)),
        element("p", element("a", "Log and budget", href=f"/tables/{served.name}/budget")),
        element("details", element("summary", "Caps and locked accounts"), *forms),
        class_="card",
    )


def _form(action: str, label: str, *fields: tuple[str, str, str]) -> Html:
    inputs = [
        element(
            "div",
            element("label", words, for_=f"{action}-{name}".strip("/").replace("/", "-")),
            element(
                "input", id=f"{action}-{name}".strip("/").replace("/", "-"), name=name, placeholder=hint, required=""
            ),
        )
        for name, words, hint in fields
    ]
    return element("form", *inputs, element("button", label), method="post", action=action, class_="row")


def _keys(service: Service, key: Key) -> Html:
    head = element("tr", *(element("th", one) for one in ("name", "role", "tables", "made", "ends", "")))
    rows = []
    for one in service.keys_for(key):
        end = (
            f"revoked {moment(one.revoked)}" if one.revoked else "never" if one.expires is None else moment(one.expires)
        )
        act = (
            ""
            if one.revoked
            else element(
                "form",
                element("button", "Revoke", class_="small", aria_label=f"Revoke the key of {one.name}, {one.id}"),
                method="post",
                action=f"/owner/keys/{one.id}/revoke",
            )
        )
        tables = "all" if one.tables is None else ", ".join(one.tables)
        cells = (one.name, one.role.value, tables, moment(one.made), end, act)
        rows.append(element("tr", *(element("td", cell) for cell in cells)))
    return element("div", element("table", element("thead", head), element("tbody", *rows)), **_WIDE)


def _new_key(service: Service) -> Html:
    roles = [element("option", one, value=one) for one in ("analyst", "auditor", "owner")]
    return element(
        "form",
        element(
            "div", element("label", "Name", for_="key-name"), element("input", id="key-name", name="name", required="")
        ),
        element(
            "div", element("label", "Role", for_="key-role"), element("select", *roles, id="key-role", name="role")
        ),
        element(
            "div",
            element("label", "Days until it ends", for_="key-days"),
            element("input", id="key-days", name="days", inputmode="numeric", size=6, placeholder="never"),
        ),
        element("button", "Make a key", class_="main"),
        method="post",
        action="/owner/keys",
        class_="row",
    )
