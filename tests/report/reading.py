"""Reading what was rendered, with other tools than those that wrote it."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

VOID = {"meta", "br", "img", "link", "input", "hr"}


class Page(HTMLParser):
    """Every element and text of a page; `unbalanced` tells of tags that were not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.cells: list[str] = []
        self.unbalanced: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        self.unbalanced += self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in ("td", "th"):
            self.cells.append("")
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()
        else:
            self.unbalanced.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self._open and self._open[-1] in ("td", "th"):
            self.cells[-1] += data

    @property
    def tags(self) -> set[str]:
        """The names of all elements."""
        return {tag for tag, _ in self.elements}

    @property
    def text(self) -> str:
        """All text."""
        return "\n".join(self.texts)


def disagreements(value: Any, schema: dict[str, Any], whole: dict[str, Any], where: str = "$") -> list[str]:
    """Where a JSON value breaks a schema; knows the few keywords that ours uses."""
    if "$ref" in schema:
        target: Any = whole
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        return disagreements(value, target, whole, where)
    found = []
    if "const" in schema and value != schema["const"]:
        found.append(f"{where}: {value!r} is not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{where}: {value!r} is none of {schema['enum']}")
    if "type" in schema:
        allowed = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(_is(value, one) for one in allowed):
            return [*found, f"{where}: {value!r} is not {allowed}"]
    if isinstance(value, dict):
        found += [f"{where}.{name}: missing" for name in schema.get("required", ()) if name not in value]
        known = schema.get("properties", {})
        found += [f"{where}.{name}: not in the schema" for name in value if name not in known]
        for name in known.keys() & value.keys():
            found += disagreements(value[name], known[name], whole, f"{where}.{name}")
    if isinstance(value, list):
        for i, one in enumerate(value):
            found += disagreements(one, schema.get("items", {}), whole, f"{where}[{i}]")
    return found


def _is(value: Any, kind: str) -> bool:
    if kind in ("number", "integer") and isinstance(value, bool):
        return False
    kinds: dict[str, Any] = {
        "object": dict,
        "array": list,
        "string": str,
        "number": (int, float),
        "integer": int,
        "boolean": bool,
        "null": type(None),
    }
    return isinstance(value, kinds[kind])
