"""HTML and SVG that are escaped by construction: text becomes markup only through `element`."""

from __future__ import annotations

import html

from tacit.report.numbers import printable

__all__ = ["Html", "element", "join", "preformatted"]

_EMPTY = frozenset({"br", "meta", "line", "rect", "circle", "path", "polyline", "input", "link"})


class Html(str):
    """Markup that `element` or a constant of ours has made; any other text is escaped when it is put in."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: object) -> Html:
    """``<name attributes>children</name>``; a trailing underscore in an attribute is dropped, other ones are hyphens.

    >>> element("td", "a < b", class_="key")
    '<td class="key">a &lt; b</td>'
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(printable(str(value)))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _EMPTY:
        return Html(f"<{name}{given}/>")
    return Html(f"<{name}{given}>{join(*children)}</{name}>")


def preformatted(text: str) -> Html:
    """Text as it stands, lines folded where the page ends: for what is drawn in letters."""
    return element("pre", text, style="font-family:monospace;white-space:pre-wrap;line-height:1.35;margin:0.2em 0")


def join(*children: str) -> Html:
    """Children side by side, escaped unless they are markup; line breaks of texts are kept."""
    return Html("".join(child if isinstance(child, Html) else _escaped(child) for child in children))


def _escaped(text: str) -> str:
    return "\n".join(html.escape(printable(line)) for line in text.replace("\r\n", "\n").split("\n"))
