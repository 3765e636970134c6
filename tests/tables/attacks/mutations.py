"""Statements bent out of shape, some by grammar so that they still reach the planner, some by brute force."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.tables.attacks.corpus import COLUMN_NAMES, CONDITIONS, FUNCTIONS, INJECTIONS, NUMBERS, STATEMENTS, TEXTS

__all__ = ["mutated"]

_TOKENS = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|[A-Za-z_]\w*|\d+(?:\.\d+)?|\s+|.", re.DOTALL)
_OPERATORS = (
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "||",
    "=",
    "<>",
    "<",
    ">=",
    "AND",
    "OR",
    "IS",
    "NOT",
    "**",
    "^",
    "<=>",
    "::",
)
_HOMOGLYPHS = str.maketrans({"a": "\u0430", "e": "\u0435", "o": "\u043e", "S": "\uff33", "(": "\uff08", "'": "\u2019"})
_WORDS = {"from", "where", "group", "by", "having", "order", "limit", "offset", "select", "and", "or", "as", "case"}
_NAMES = {"age", "spend", "city", "plan", "points", "active", "day", "moment", "region", "price"}

Change = Callable[[str, random.Random], str]


def mutated(count: int, seed: int, folder: Path) -> Iterator[str]:
    """``count`` statements; half of them by mild changes only. {canary} and {folder} in them are real paths."""
    chance = random.Random(seed)
    for _ in range(count):
        text = chance.choice(STATEMENTS)
        mild = chance.random() < 0.6
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            text = chance.choice(_MILD if mild else _WILD)(text, chance) or ";"
        yield text.replace("{canary}", str(folder / "secret.txt")).replace("{folder}", str(folder))


def _tokens(text: str) -> list[str]:
    return _TOKENS.findall(text)


def _replace_one(text: str, chance: random.Random, fits: Callable[[str], bool], new: Callable[[str], str]) -> str:
    tokens = _tokens(text)
    places = [i for i, token in enumerate(tokens) if fits(token)]
    if places:
        place = chance.choice(places)
        tokens[place] = new(tokens[place])
    return "".join(tokens)


# changes that keep a statement well-formed


def _other_column(text: str, chance: random.Random) -> str:
    return _replace_one(text, chance, lambda one: one.lower() in _NAMES, lambda _: chance.choice(sorted(_NAMES)))


def _odd_column(text: str, chance: random.Random) -> str:
    return _replace_one(text, chance, lambda one: one.lower() in _NAMES, lambda _: chance.choice(COLUMN_NAMES))


def _other_number(text: str, chance: random.Random) -> str:
    return _replace_one(text, chance, lambda one: one[0].isdigit(), lambda _: chance.choice(NUMBERS))


def _other_text(text: str, chance: random.Random) -> str:
    return _replace_one(text, chance, lambda one: one[0] == "'", lambda _: chance.choice(TEXTS))


def _condition(text: str, chance: random.Random) -> str:
    extra = _nested(chance, chance.choice(CONDITIONS))
    if " WHERE " in text and "FILTER" not in text:
        return text.replace(" WHERE ", f" WHERE ({extra}) {chance.choice(('AND', 'OR', 'AND NOT'))} ", 1)
    return text.replace("FROM visits", f"FROM visits WHERE {extra}", 1) if "AS v" not in text else text


def _nested(chance: random.Random, condition: str) -> str:
    for _ in range(chance.choice((0, 0, 1, 2, 8, 40, 60))):
        condition = chance.choice(("({})", "NOT ({})", "(({}) OR active)", "COALESCE({}, FALSE)")).format(condition)
    return condition


def _expression(chance: random.Random, depth: int = 0) -> str:
    """A number, most of the time."""
    kind = chance.random()
    if depth > 3 or kind < 0.25:
        return chance.choice(("age", "spend", "points", "points", "CAST(city AS DOUBLE)", "LENGTH(city)", "YEAR(day)"))
    if kind < 0.4:
        return chance.choice(NUMBERS[:12])
    if kind < 0.75:
        sign = chance.choice(("+", "-", "*", "/", "//", "%"))
        return f"({_expression(chance, depth + 1)} {sign} {_expression(chance, depth + 1)})"
    if kind < 0.9:
        name = chance.choice(("ABS", "FLOOR", "CEIL", "ROUND", "SQRT", "EXP", "LN", "SIGN", "-"))
        return f"{name}({_expression(chance, depth + 1)})"
    return f"CASE WHEN {chance.choice(CONDITIONS)} THEN {_expression(chance, depth + 1)} ELSE 1 END"


def _computed(text: str, chance: random.Random) -> str:
    bounds = chance.choice(("(0, 10)", "(-1e9, 1e9)", "(0, 1e-300)", "(0, 1e300)", "(-5, 5)", "(0, 1e400)", "(7, 3)"))
    where = chance.choice(("per_row", "per_row", "per_group"))
    name = chance.choice(("SUM", "AVG", "STDDEV", "VAR_POP"))
    made = f"{name}({_expression(chance)}, contribution_bounds_{where} => {bounds})"
    return text.replace("SELECT ", f"SELECT {made} AS made, ", 1)


def _computed_key(text: str, chance: random.Random) -> str:
    if "GROUP BY" in text:
        return text
    key = chance.choice((_expression(chance), "day", "moment", "city", "DATE_ADD('day', 1, moment)", "plan || city"))
    tail = text.split("FROM visits", 1)[-1]
    return f"SELECT {key} AS key_, COUNT(*) AS n FROM visits{tail} GROUP BY {chance.choice(('1', 'key_'))}"


def _tail(text: str, chance: random.Random) -> str:
    if any(word in text for word in ("HAVING", "ORDER", "LIMIT")):
        return text
    return text + chance.choice(
        (
            " ORDER BY 1",
            " ORDER BY COUNT(*) DESC NULLS FIRST",
            " LIMIT 0",
            " LIMIT 999999999999999",
            " OFFSET 5",
            " HAVING COUNT(*) / 0 > 1",
            " HAVING COUNT(*) > 1e308 * 10",
            " HAVING SUM(spend) IS NULL",
            " ORDER BY LN(COUNT(*) - 42)",
            " HAVING CAST(COUNT(*) AS VARCHAR) LIKE '1%'",
            " ORDER BY 1/(COUNT(*)-COUNT(*))",
            " HAVING POWER(COUNT(*), 400) > 0",
            " HAVING CAST(CAST(COUNT(*) AS VARCHAR) AS DATE) IS NULL",
        )
    )


def _commented(text: str, chance: random.Random) -> str:
    return _replace_one(
        text, chance, str.isspace, lambda _: chance.choice((" /* x */ ", " -- y\n", "\t", "\n\n", "  "))
    )


def _cased(text: str, chance: random.Random) -> str:
    return _replace_one(text, chance, str.isalpha, lambda one: one.swapcase())


def _output(text: str, chance: random.Random) -> str:
    more = (
        "COUNT(*) / (COUNT(*) - COUNT(*))",
        "SUM(spend) / AVG(age)",
        "1 / 0",
        "COUNT(*) * 1e308 * 10",
        "CASE WHEN COUNT(*) > 3 THEN 'many' END",
        "-COUNT(*)",
        "SQRT(AVG(spend) - 1000)",
        "'text'",
        "DATE '2026-01-01'",
        "COUNT(*) // 0",
        "CAST(SUM(age) AS VARCHAR)",
        "CAST(AVG(age) AS BIGINT)",
        "ROUND(AVG(spend), 2)",
        "NULL",
        "COUNT(*) % 7",
        "POWER(10, COUNT(*))",
        "COALESCE(AVG(age), 0)",
        "WIDTH_BUCKET(COUNT(*), 0, 10, 2)",
        "DATE_ADD('day', CAST(COUNT(*) AS BIGINT), DATE '2026-01-01')",
    )
    return text.replace(" FROM visits", f", {chance.choice(more)} FROM visits", 1)


_MILD: tuple[Change, ...] = (
    _other_column,
    _other_column,
    _odd_column,
    _other_number,
    _other_text,
    _condition,
    _condition,
    _computed,
    _computed_key,
    _tail,
    _commented,
    _cased,
    _output,
)


# changes that need not


def _injected(text: str, chance: random.Random) -> str:
    place = chance.choice((0, len(text), chance.randrange(len(text) + 1)))
    piece = chance.choice(INJECTIONS).replace("{{", "{").replace("}}", "}")
    return text[:place] + piece + text[place:]


def _injected_in_text(text: str, chance: random.Random) -> str:
    return _replace_one(
        text, chance, lambda one: one[0] in "'\"", lambda one: one[:-1] + chance.choice(INJECTIONS) + one[-1]
    )


def _dropped(text: str, chance: random.Random) -> str:
    return _replace_one(text, chance, lambda _: True, lambda _: "")


def _doubled(text: str, chance: random.Random) -> str:
    return _replace_one(text, chance, lambda _: True, lambda one: one + " " + one)


def _swapped(text: str, chance: random.Random) -> str:
    tokens = _tokens(text)
    a, b = chance.randrange(len(tokens)), chance.randrange(len(tokens))
    tokens[a], tokens[b] = tokens[b], tokens[a]
    return "".join(tokens)


def _spliced(text: str, chance: random.Random) -> str:
    other = _tokens(chance.choice(STATEMENTS))
    tokens = _tokens(text)
    return "".join(tokens[: chance.randrange(len(tokens))] + other[chance.randrange(len(other)) :])


def _other_function(text: str, chance: random.Random) -> str:
    fits = lambda one: one.isupper() and one.lower() not in _WORDS  # noqa: E731
    return _replace_one(text, chance, fits, lambda _: chance.choice(FUNCTIONS))


def _other_operator(text: str, chance: random.Random) -> str:
    return _replace_one(text, chance, lambda one: one in _OPERATORS, lambda _: f" {chance.choice(_OPERATORS)} ")


def _looks_alike(text: str, chance: random.Random) -> str:
    return _replace_one(text, chance, lambda _: chance.random() < 0.5, lambda one: one.translate(_HOMOGLYPHS))


def _deep(text: str, chance: random.Random) -> str:
    levels = chance.choice((30, 49, 51, 500, 20000))
    return _replace_one(text, chance, lambda one: one.lower() in _NAMES, lambda one: "(" * levels + one + ")" * levels)


def _chain(text: str, chance: random.Random) -> str:
    size = chance.choice((100, 1000, 5000))
    return _condition(text, chance).replace("age", " + ".join(["age"] * size), 1)


def _bytes(text: str, chance: random.Random) -> str:
    place = chance.randrange(len(text))
    return text[:place] + chr(chance.choice((0, 1, 7, 26, 127, 0xFFFD, 0x1F4A9, 0xE000, 0x2028, 0xD800))) + text[place:]


def _cut(text: str, chance: random.Random) -> str:
    return text[: chance.randrange(len(text))]


_WILD: tuple[Change, ...] = (
    _injected,
    _injected,
    _injected,
    _injected_in_text,
    _dropped,
    _doubled,
    _swapped,
    _spliced,
    _other_function,
    _other_operator,
    _looks_alike,
    _deep,
    _chain,
    _bytes,
    _cut,
    _odd_column,
    _other_text,
    _condition,
)
