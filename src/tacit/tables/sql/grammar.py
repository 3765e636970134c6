"""The one place where sqlglot is loaded: SQL text to its syntax tree, within bounds of size and depth.

The dialect is our own, small: DuckDB's signs on sqlglot's base, and no table of functions, so that a function arrives
under the name the analyst wrote. That also saves loading a dialect and building its tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp, parser, tokens
from sqlglot.dialects.dialect import Dialect, NormalizationStrategy
from sqlglot.errors import ParseError, SqlglotError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from tacit.errors import InvalidParameter
from tacit.tables.query.refusals import STATEMENTS, NotUnderstood, not_yet, syntax, void
from tacit.tables.query.relations import MOST_TABLES
from tacit.tables.sql.google.clause import CLAUSES, Clause, cut_clause
from tacit.tables.sql.google.groups import JoinedList, cut_lists

__all__ = ["MOST_CHARACTERS", "MOST_NESTED", "Statement", "exp", "read", "statement"]

MOST_CHARACTERS = 100_000
"""The longest statement that is read."""
MOST_NESTED = 50
"""How deep brackets and CASE may be nested."""
_MOST_PREFIXES = 20
_KEPT = ("CAST", "TRY_CAST", "EXTRACT", "SUBSTRING", "TRIM", "POSITION")


class Tacit(Dialect):
    """SQL as analysts of DuckDB write it."""

    NORMALIZATION_STRATEGY = NormalizationStrategy.CASE_INSENSITIVE
    NULL_ORDERING = "nulls_are_last"
    SAFE_DIVISION = True
    STRICT_STRING_CONCAT = True

    class Tokenizer(tokens.Tokenizer):
        IDENTIFIERS = ['"', "`"]  # noqa: RUF012
        KEYWORDS = {**tokens.Tokenizer.KEYWORDS, "//": TokenType.DIV}  # noqa: RUF012

    class Parser(parser.Parser):
        FUNCTIONS = {}  # noqa: RUF012
        FUNCTION_PARSERS = {name: parser.Parser.FUNCTION_PARSERS[name] for name in _KEPT}  # noqa: RUF012
        NO_PAREN_FUNCTIONS = {}  # noqa: RUF012


_OPENING = {TokenType.L_PAREN, TokenType.CASE}
_CLOSING = {TokenType.R_PAREN, TokenType.END}
_PREFIXES = {TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE}
_NEVER = {
    TokenType.L_BRACKET: ("[", "Lists are not values here: write IN (a, b), or HISTOGRAM(x, 0, 10, 20)."),
    TokenType.L_BRACE: ("{", "Structures are not values here."),
    TokenType.PLACEHOLDER: ("?", "Write the value itself."),
    TokenType.PARAMETER: ("@", "Write the value itself."),
    TokenType.COLON: (":", "Write the value itself."),
    TokenType.ARROW: ("->", "Functions of functions are not understood here."),
    TokenType.DARROW: ("->>", "Structures are not values here."),
    TokenType.BLOCK_START: ("{%", "Templates are not filled in here."),
    TokenType.BLOCK_END: ("%}", "Templates are not filled in here."),
    TokenType.TILDE: ("~", "It means a part here and the whole there: write REGEXP_MATCHES(x, 'expression')."),
    TokenType.INTERSECT: ("INTERSECT", "Ask one SELECT on the table, with the conditions in WHERE."),
    TokenType.EXCEPT: ("EXCEPT", "Ask one SELECT on the table, with the conditions in WHERE."),
}


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement as it was read: the tree of what SQL knows, and Google's clause and lists beside it."""

    tree: exp.Expr
    clause: Clause
    lists: tuple[tuple[JoinedList, exp.Expr], ...]
    """Each with a SELECT of its values."""


def statement(text: str) -> exp.Expr:
    """The syntax tree of one SELECT in which nothing stands that only Google's SQL knows."""
    found = read(text)
    if found.clause != Clause() or found.lists:
        raise not_yet("Google's clause", "It stands in a whole statement only.")
    return found.tree


def read(text: str) -> Statement:
    """The syntax tree of one SELECT, with Google's clause."""
    if not isinstance(text, str):
        raise InvalidParameter("SQL", given=text, allowed="a text")
    if len(text) > MOST_CHARACTERS:
        raise NotUnderstood(f"a statement of {len(text)} characters", f"at most {MOST_CHARACTERS} are read")
    bad = next((place for place, sign in enumerate(text) if sign == "\0" or "\ud800" <= sign <= "\udfff"), None)
    if bad is not None:
        raise syntax("a character that is none", "NUL and halves of characters cannot be read", place=at(text, bad))
    words = _tokens(text)
    said = {word.text.upper() for word in words}
    clause, lists = Clause(), tuple[JoinedList, ...]()
    if not said.isdisjoint(CLAUSES):
        words, clause = cut_clause(text, words)
    if "UNNEST" in said:
        words, lists = cut_lists(words)
    _refuse_any(text, words)
    for one in lists:
        _refuse_any(text, one.values)
    select = next((word for word in words if word.token_type is TokenType.SELECT), None)
    if select is None:
        raise syntax(words[0].text.upper(), "a question has a SELECT", place=at(text, words[0].start))
    read_lists = tuple((one, _parsed(text, [select, *one.values])) for one in lists)
    return Statement(_parsed(text, words), clause, read_lists)


def at(text: str, place: int) -> str:
    """The line of the text with a caret under the place."""
    place = min(max(place, 0), len(text))
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    line = text[start : end if end >= 0 else len(text)]
    column = place - start
    first = max(0, column - 60)
    shown = line[first : column + 40].replace("\t", " ").replace("\r", " ")
    return f"  {shown}\n  {' ' * (column - first)}^"


def _tokens(text: str) -> list[Token]:
    try:
        found = Tacit().tokenize(text)
    except TokenError as problem:
        raise _unfinished(text, problem) from None
    except (SqlglotError, ValueError, IndexError, KeyError, OverflowError):
        raise syntax("the statement", "cannot be split into words") from None
    while found and found[-1].token_type is TokenType.SEMICOLON:
        found.pop()
    if not found:
        raise syntax("an empty statement", "write SELECT … FROM the table")
    _refuse_first(text, found)
    return found


def _unfinished(text: str, problem: TokenError) -> NotUnderstood:
    for quote, what in (("'", "a text"), ('"', "a name"), ("`", "a name")):
        if text.count(quote) % 2:
            return syntax(f"{what} in {quote}", "has no end", place=at(text, text.rfind(quote)))
    place = text.rfind("/*")
    if place >= 0:
        return syntax("a comment", "has no end", place=at(text, place))
    return syntax("the statement", "cannot be split into words")


def _refuse_first(text: str, found: Sequence[Token]) -> None:
    word = found[0].text.upper().split()[0] if found[0].text.split() else ""
    if found[0].token_type in (TokenType.SELECT, TokenType.WITH):
        return
    if word in STATEMENTS:
        raise void(word, STATEMENTS[word], "Write SELECT … FROM the table.")
    if word in ("DESCRIBE", "DESC", "SHOW"):
        raise not_yet(
            word,
            "Type tacit describe and the policy's file, as in: tacit describe visits.toml. In Python: table.columns.",
        )
    if word == "EXPLAIN":
        raise not_yet(word, "Ask for the plan instead: `tacit plan`, or question.plan(epsilon=…); it is free.")
    raise syntax(word or "the statement", "a question starts with SELECT", place=at(text, found[0].start))


def _refuse_any(text: str, found: Sequence[Token]) -> None:
    depth = prefixes = united = 0
    for place, token in enumerate(found):
        kind = token.token_type
        united += kind is TokenType.UNION
        if united >= MOST_TABLES:
            problem = f"reads more than {MOST_TABLES} tables, one for each part of a UNION"
            raise NotUnderstood("the statement", problem, "Ask several smaller questions.", at(text, token.start))
        if kind is TokenType.SEMICOLON:
            raise void(";", "one statement at a time is answered", "Ask the second as a question of its own.")
        if kind in _NEVER and not _is_place(found, place):
            sign, instead = _NEVER[kind]
            raise NotUnderstood(sign, "is not understood here", instead, at(text, token.start))
        depth += (kind in _OPENING) - (kind in _CLOSING)
        prefixes = prefixes + 1 if kind in _PREFIXES else 0
        if depth > MOST_NESTED or prefixes > _MOST_PREFIXES:
            raise NotUnderstood("the statement", f"is nested more than {MOST_NESTED} deep", place=at(text, token.start))
        _refuse_glued(text, token, found[place + 1] if place + 1 < len(found) else None)


def _is_place(found: Sequence[Token], place: int) -> bool:
    """Whether a bracket opens the place of a quantile: [OFFSET(…)]."""
    following = found[place + 1].text.upper() if place + 1 < len(found) else ""
    return found[place].token_type is TokenType.L_BRACKET and following in ("OFFSET", "ORDINAL")


def _refuse_glued(text: str, token: Token, following: Token | None) -> None:
    """A number with letters right behind it (1_000, 0x1F) would otherwise read as a number and a name for it."""
    if token.token_type is not TokenType.NUMBER or following is None or following.start != token.end + 1:
        return
    if text[following.start : following.start + 1].isalnum() or text[following.start] in "_\"'`":
        place = at(text, following.start)
        raise syntax(text[token.start : following.end + 1][:60], "is not a number", place=place)


def _parsed(text: str, found: list[Token]) -> exp.Expr:
    try:
        trees = Tacit().parser().parse(found, text)
    except ParseError as problem:
        raise _misread(text, found, problem) from None
    except RecursionError:
        raise NotUnderstood("the statement", "is nested too deep") from None
    except (SqlglotError, ValueError, TypeError, AttributeError, IndexError, KeyError):
        raise syntax("the statement", "cannot be read") from None
    if len(trees) != 1 or trees[0] is None:
        raise void("several statements", "one statement at a time is answered", "Ask each on its own.")
    return trees[0]


def _misread(text: str, found: Sequence[Token], problem: ParseError) -> NotUnderstood:
    detail = problem.errors[0] if problem.errors else {}
    word = str(detail.get("highlight") or "")
    line, column = detail.get("line"), detail.get("col")
    place = hint = ""
    if isinstance(line, int) and isinstance(column, int):
        start = sum(len(one) for one in text.splitlines(keepends=True)[: line - 1])
        start += column - max(len(word), 1)
        place = at(text, start)
        if _within_groupings([token for token in found if token.start < start]):
            hint = "Keys stand between commas, a condition in brackets of its own: ROLLUP ((age > 40), city)."
    return syntax(word[:60] or "the statement", "cannot be read at this place", place=place, hint=hint)


def _within_groupings(before: Sequence[Token]) -> bool:
    """Whether the bracket that is open after these words is that of ROLLUP, CUBE or GROUPING SETS."""
    opened = list[TokenType | None]()
    for last, token in zip([None, *before], before, strict=False):
        if token.token_type is TokenType.L_PAREN:
            opened.append(None if last is None else last.token_type)
        elif token.token_type is TokenType.R_PAREN and opened:
            opened.pop()
    return bool(opened) and opened[-1] in (TokenType.ROLLUP, TokenType.CUBE, TokenType.GROUPING_SETS)
