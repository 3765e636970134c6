"""Views in a DuckDB file, those that make one row of one row: chosen columns, computed ones, a condition.

A view that joins, groups, sorts, numbers or looks at other rows is refused: one of its rows may be about several
people, and nothing here could say whom the promise protects. What a row's value makes fail is null in that row, and a
condition that fails leaves its row out: casts are total, and what else may fail is evaluated under TRY. That takes some
microseconds where it fails, so that it is done once for each row, before anything multiplies rows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tacit.errors import PolicyError
from tacit.tables.engines.duckdb.sources.source import quoted_name

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["RowByRow"]

_SIGNS = ("+", "-", "*", "/", "//", "%", "||", "~~", "!~~", "~~*", "!~~*")
_NAMES = re.compile(r"\w+")
_ON_TEXTS = """upper lower ucase lcase trim ltrim rtrim length len strlen substr substring left right replace concat
starts_with ends_with contains prefix suffix md5"""
_ON_OTHERS = """abs round floor ceil ceiling coalesce nullif ifnull if greatest least year month day hour minute second
quarter week isodow dayofweek date_trunc date_part datepart strptime try_strptime make_date epoch"""
_FUNCTIONS = frozenset((*_SIGNS, *_NAMES.findall(_ON_TEXTS), *_NAMES.findall(_ON_OTHERS)))
_CLASSES = frozenset(
    ("COLUMN_REF", "CONSTANT", "COMPARISON", "CONJUNCTION", "OPERATOR", "CAST", "FUNCTION", "BETWEEN", "CASE", "STAR")
)
_OPERATORS = frozenset(
    ("OPERATOR_NOT", "OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL", "OPERATOR_COALESCE", "COMPARE_IN", "COMPARE_NOT_IN")
)
_PLAIN_STAR = frozenset(("class", "type", "alias", "query_location", "relation_name"))
_DEEPEST = 10


class RowByRow:
    """Reads views as statements over the tables that they are about; ``find`` gives a view's text, or None."""

    def __init__(self, connection: DuckDBPyConnection, find: Callable[[str, str], str | None], alias: str) -> None:
        self._connection = connection
        self._find = find
        self._alias = alias
        self.base = ""
        """Schema and name of the table that the view last read is about."""

    def select(self, schema: str, view: str, depth: int = 0) -> str:
        """A view as a total SELECT; `PolicyError` if it is not row by row."""
        text = self._find(schema, view)
        if text is None or depth > _DEEPEST:
            raise _refused(view, "it is about something that is no table of the file")
        node = self._parsed(view, text)
        for part, what in (
            ("modifiers", "sorts, limits or leaves out doubles"),
            ("group_expressions", "groups rows"),
            ("group_sets", "groups rows"),
            ("having", "groups rows"),
            ("qualify", "numbers rows"),
            ("sample", "takes a sample"),
        ):
            if node.get(part):
                raise _refused(view, f"it {what}")
        if node.get("aggregate_handling", "STANDARD_HANDLING") != "STANDARD_HANDLING":  # GROUP BY ALL
            raise _refused(view, "it groups rows")
        if node.get("type") != "SELECT_NODE" or node["cte_map"]["map"]:
            raise _refused(view, "it puts several statements together")
        listed = [self._column(view, one) for one in node["select_list"]]
        where = node["where_clause"]
        kept = "" if where is None else f" WHERE coalesce(TRY({self._written(view, where)}), false)"
        return f"SELECT {', '.join(listed)} FROM {self._from(view, node['from_table'], depth)}{kept}"

    def _parsed(self, view: str, text: str) -> dict[str, Any]:
        made, _, body = text.strip().rstrip(";").partition(" AS ")
        if "(" in made:
            raise _refused(view, "it renames its columns in its first line")
        found = json.loads(self._one("SELECT json_serialize_sql(?)", body))
        if found.get("error") or len(found["statements"]) != 1:
            raise _refused(view, "it is no simple SELECT")
        node: dict[str, Any] = found["statements"][0]["node"]
        return node

    def _from(self, view: str, table: Mapping[str, Any], depth: int) -> str:
        if table.get("type") != "BASE_TABLE" or table.get("sample") or table.get("at_clause"):
            raise _refused(view, "it is about more than one table")
        if table["column_name_alias"]:
            raise _refused(view, "it renames the columns of its table")
        schema, name = table["schema_name"] or "main", table["table_name"]
        called = quoted_name(table["alias"] or name)
        if self._find(schema, name) is not None:
            return f"({self.select(schema, name, depth + 1)}) AS {called}"
        self.base = f"{schema}.{name}"
        return f"{quoted_name(self._alias)}.{quoted_name(schema)}.{quoted_name(name)} AS {called}"

    def _column(self, view: str, expression: dict[str, Any]) -> str:
        if expression["class"] == "STAR":
            if any(part for name, part in expression.items() if name not in _PLAIN_STAR):
                raise _refused(view, "it has * with exceptions")
            return "*"
        last = expression.get("column_names", [""])[-1]
        name = expression["alias"] or last
        if not name:
            raise _refused(view, "it computes a column without a name: AS …")
        made = self._written(view, expression)
        return f"{made if expression['class'] == 'COLUMN_REF' else f'TRY({made})'} AS {quoted_name(name)}"

    def _written(self, view: str, expression: dict[str, Any]) -> str:
        """The text of an expression, if all in it is row by row."""
        _check(view, expression)
        alone: dict[str, Any] = {
            "type": "SELECT_NODE",
            "modifiers": [],
            "cte_map": {"map": []},
            "select_list": [{**_with_total_casts(expression), "alias": ""}],
            "from_table": {"type": "EMPTY", "alias": "", "sample": None, "query_location": 0},
            "where_clause": None,
            "group_expressions": [],
            "group_sets": [],
            "aggregate_handling": "STANDARD_HANDLING",
            "having": None,
            "sample": None,
            "qualify": None,
        }
        whole = {"error": False, "statements": [{"node": alone, "named_param_map": []}]}
        return self._one("SELECT json_deserialize_sql(CAST(? AS JSON))", json.dumps(whole)).removeprefix("SELECT ")

    def _one(self, sql: str, given: str) -> str:
        ((found,),) = self._connection.execute(sql, [given]).fetchall()
        return str(found)


def _with_total_casts(node: Any) -> Any:
    """The same expression, in which a cast that fails is null: much sooner than TRY finds it out."""
    if isinstance(node, list):
        return [_with_total_casts(one) for one in node]
    if not isinstance(node, dict):
        return node
    made = {name: _with_total_casts(part) for name, part in node.items()}
    return {**made, "try_cast": True} if node.get("class") == "CAST" else made


def _check(view: str, node: Any) -> None:
    """Every part of an expression is of a kind that looks at its own row alone."""
    if isinstance(node, list):
        for one in node:
            _check(view, one)
    if not isinstance(node, dict):
        return
    kind = node.get("class")
    if kind is not None:
        if kind not in _CLASSES or kind == "STAR":
            raise _refused(view, "it looks at other rows or tables")
        if kind == "COLUMN_REF" and node["column_names"][-1].lower() == "rowid":
            raise _refused(view, "it numbers rows")
        if kind == "OPERATOR" and node["type"] not in _OPERATORS:
            raise _refused(view, f"it uses {node['type'].lower()}")
        if kind == "FUNCTION" and (node["function_name"].lower() not in _FUNCTIONS or node["filter"] or node["schema"]):
            raise _refused(view, f"it uses {node['function_name']}(), which is not among the functions of a row")
    for name, part in node.items():
        if name not in ("value", "cast_type"):
            _check(view, part)


def _refused(view: str, why: str) -> PolicyError:
    return PolicyError(
        f"The view {view} cannot be asked about: {why}. A view may choose and compute columns of one table, row by "
        "row, with a condition; otherwise make a table of it (CREATE TABLE … AS FROM …). Nothing was spent."
    )
