"""The frame of every page: its head, its way around, and what its browser is told to allow."""

from __future__ import annotations

import secrets

from fastapi.responses import HTMLResponse

from tacit.report.markup import Html, element
from tacit.report.style import STYLE
from tacit.server.keys import Key
from tacit.server.roles import Act

__all__ = ["STYLE_SHEET", "page", "refused", "section"]

STYLE_SHEET = str(STYLE)
_POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'self' 'nonce-{nonce}'; connect-src 'self'; "
    "img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "require-trusted-types-for 'script'; trusted-types tacit"
)


def page(
    title: str,
    *body: str,
    key: Key | None = None,
    table: str | None = None,
    twin: str | None = None,
    status: int = 200,
    editor: bool = False,
    refresh: str | None = None,
    at: str = "",
) -> HTMLResponse:
    """One page; ``twin`` is the same as JSON, ``at`` is which of the links above it is."""
    nonce = secrets.token_urlsafe(16)
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        *([] if refresh is None else [element("meta", http_equiv="refresh", content=f"2; url={refresh}")]),
        element("title", f"{title} · Tacit"),
        element("link", rel="icon", href="data:,"),
        element("link", rel="stylesheet", href="/static/report.css"),
        element("link", rel="stylesheet", href="/static/page.css"),
        *([] if twin is None else [element("link", rel="alternate", type="application/json", href=twin)]),
    )
    scripts = ["/static/editor.js"] if editor else []
    made = element(
        "body",
        element("a", "Skip to the content", href="#content", class_="skip"),
        _around(key, table, at),
        element(
            "main",
            element("h1", title),
            *body,
            *([] if twin is None else [element("p", element("a", "The same as JSON", href=twin), class_="note")]),
            id="content",
        ),
        *(element("script", src=one, nonce=nonce) for one in (*scripts, "/static/page.js")),
    )
    text = "<!DOCTYPE html>\n" + element("html", head, made, lang="en") + "\n"
    return HTMLResponse(text, status, headers={"Content-Security-Policy": _POLICY.format(nonce=nonce)})


def _around(key: Key | None, table: str | None, at: str) -> Html:
    if key is None:
        return element("nav", element("b", "Tacit"), aria_label="Tacit")
    links = [("/", "Tables")]
    if table is not None:
        links += [(f"/tables/{table}", f"Ask {table}"), (f"/tables/{table}/budget", "Budget")]
    if key.may(Act.MANAGE):
        links.append(("/owner", "Owner"))
    links.append(("/learn", "Learn"))
    return element(
        "nav",
        element("b", "Tacit"),
        *(element("a", label, href=where, aria_current="page" if where == at else None) for where, label in links),
        element(
            "span",
            f"{key.name} ({key.role.value}) ",
            element("form", element("button", "Sign out", class_="small"), method="post", action="/sign-out"),
            class_="who",
        ),
        aria_label="Pages",
    )


def section(title: str, *children: str, **attributes: object) -> Html:
    """A part with a heading."""
    return element("section", element("h2", title), *children, **attributes)


def refused(title: str, detail: str) -> Html:
    """A refusal in plain words, with the next step that its text names."""
    return element("div", element("p", element("b", title)), element("p", detail), class_="card refused", role="alert")
