"""Why a statement is refused, and what to write instead: the words, by what was written."""

from __future__ import annotations

from tacit.errors import InvalidParameter, NotPrivate

__all__ = [
    "AGGREGATES_TO_COME",
    "CLAUSES",
    "FUNCTIONS",
    "GROUPINGS",
    "INSTEAD",
    "ONE_SELECT",
    "OVER_GROUPS",
    "STATEMENTS",
    "SUBQUERY_CLAUSES",
    "WINDOWS",
    "NotUnderstood",
    "misplaced",
    "not_yet",
    "syntax",
    "void",
]


def words(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


ONE_SELECT = "Write one SELECT … FROM the table."


class NotUnderstood(InvalidParameter):
    """SQL that is no SQL, or SQL beyond what is read here: says what was written and what to write instead."""

    def __init__(self, written: str, allowed: str, hint: str = "", place: str = "") -> None:
        self.place = place
        super().__init__("SQL", given=written, allowed=allowed, hint=hint)

    def __str__(self) -> str:
        text = f"SQL: {self.given}: {self.allowed}."
        text = f"{text} {self.hint}" if self.hint else text
        return f"{text}\n{self.place}" if self.place else text


def syntax(written: str, problem: str, *, place: str = "", hint: str = "") -> NotUnderstood:
    """A statement that does not read, with the place shown."""
    return NotUnderstood(written, problem, hint, place)


def not_yet(written: str, instead: str) -> NotUnderstood:
    """Something that is not understood here (yet)."""
    return NotUnderstood(shortened(written), "is not understood here", instead)


def void(written: str, reason: str, instead: str) -> NotPrivate:
    """Something that would void the promise."""
    return NotPrivate(f"{shortened(written)}: {reason}. {instead}")


_AGGREGATES_ELSEWHERE = {
    "WHERE": "Conditions on released values go into HAVING.",
    "a subquery without GROUP BY": "It would be one exact number of all people: group by the protected unit there.",
    "a subquery that groups": "Per unit there are COUNT, SUM, AVG, MIN and MAX.",
}
"""What to do where aggregates cannot stand."""


def misplaced(name: str, place: str) -> NotUnderstood:
    """An aggregate where none can stand."""
    return not_yet(f"{name.upper()}(…) in {place}", _AGGREGATES_ELSEWHERE.get(place, "Name a column there."))


def shortened(written: str) -> str:
    """At most 60 characters, on one line."""
    line = " ".join(written.split())
    return line if len(line) <= 60 else f"{line[:57]}…"


STATEMENTS = dict.fromkeys(
    words(
        """
    ALTER ANALYZE ATTACH BEGIN CALL CHECKPOINT COMMENT COMMIT COPY CREATE DEALLOCATE DELETE DETACH DROP EXECUTE
    EXPORT FORCE GRANT IMPORT INSERT INSTALL KILL LOAD LOCK MERGE PRAGMA PREPARE RENAME REPLACE RESET REVOKE
    ROLLBACK SAVEPOINT SET START SUMMARIZE TRUNCATE UPDATE UPSERT USE VACUUM
    """
    ),
    "only questions are answered: nothing is written, attached, loaded or set from here",
)
"""Statements that are no question at all, by their first word."""

CLAUSES = {
    "distinct": ("SELECT DISTINCT", "Write GROUP BY: SELECT city, COUNT(*) … GROUP BY city lists each city once."),
    "joins": (
        "JOIN, or a second table",
        "A join needs a table that the policy names, [public.regions] or [tables.purchases]: ask about one table.",
    ),
    "laterals": ("LATERAL", ONE_SELECT),
    "windows": ("WINDOW", "Windows stand beside groups: SELECT city, RANK() OVER (ORDER BY COUNT(*)) … GROUP BY city."),
    "qualify": ("QUALIFY", "Write HAVING, which looks at released values."),
    "into": ("SELECT … INTO", "Nothing is written from here: take the answer and store it."),
    "sample": ("SAMPLE", "Every row counts; leave it out."),
    "pivots": ("PIVOT", "Group by both columns instead."),
    "fetch": ("FETCH", "Write LIMIT n."),
    "top": ("TOP", "Write LIMIT n at the end."),
    "locks": ("FOR UPDATE", "Leave it out."),
    "prewhere": ("PREWHERE", "Write WHERE."),
    "cluster": ("CLUSTER BY", "Write ORDER BY."),
    "distribute": ("DISTRIBUTE BY", "Leave it out."),
    "sort": ("SORT BY", "Write ORDER BY."),
    "connect": ("CONNECT BY", ONE_SELECT),
    "match": ("MATCH_RECOGNIZE", ONE_SELECT),
    "kind": ("SELECT AS", ONE_SELECT),
    "operation_modifiers": ("a modifier after SELECT", "Leave it out."),
    "hint": ("a hint", "Leave it out."),
    "exclude": ("EXCLUDE", "Name what is to be shown."),
}
"""Clauses of SELECT that are refused, by their name in the parsed statement."""

GROUPINGS = "Several groupings at once are those of the whole statement: write them in its GROUP BY, outside."
"""What to do instead of GROUPING SETS, ROLLUP and CUBE in a subquery."""

_WHOLE = "Inside of a subquery it makes a row depend on other people's rows:"
SUBQUERY_CLAUSES = {
    "distinct": ("DISTINCT in a subquery", f"{_WHOLE} write GROUP BY outside."),
    "order": ("ORDER BY in a subquery", "The order of rows means nothing: order the answer, outside."),
    "limit": ("LIMIT in a subquery", f"{_WHOLE} the policy's limits choose rows, the same for everyone."),
    "offset": ("OFFSET in a subquery", f"{_WHOLE} leave it out."),
    "windows": ("WINDOW in a subquery", f"{_WHOLE} group outside."),
    "qualify": ("QUALIFY in a subquery", f"{_WHOLE} write HAVING outside."),
}
"""Clauses that are refused inside of a subquery."""

AGGREGATES_TO_COME = dict.fromkeys(
    words(
        """
    covar approx_top_k topk skewness
    kurtosis entropy mad regr_slope regr_intercept regr_r2 sumif avgif bool_and bool_or
    every any_value bit_and bit_or bit_xor product fsum kahan_sum favg
    """
    ),
    "That aggregate is not offered; COUNT, SUM, AVG, VARIANCE, STDDEV, MEDIAN, QUANTILE, MIN, MAX, MODE and CORR are.",
)
AGGREGATES_TO_COME |= {
    "covar": "Write COVAR_SAMP(x, y) or COVAR_POP(x, y).",
    "approx_top_k": "Write SELECT x, COUNT(*) AS n … GROUP BY x ORDER BY n DESC LIMIT k.",
    "topk": "Write SELECT x, COUNT(*) AS n … GROUP BY x ORDER BY n DESC LIMIT k.",
    "histogram": "It stands alone in SELECT, with public edges: HISTOGRAM(age, 0, 20, 40).",
    "sumif": "Write SUM(x) FILTER (WHERE condition).",
    "avgif": "Write AVG(x) FILTER (WHERE condition).",
}
"""Aggregates that are known but not offered, with what to do."""

_ROWS = "it shows what single rows hold"
_FILES = "no file, table or network is read from a question"
FUNCTIONS = (
    dict.fromkeys(
        words(
            """
            string_agg listagg group_concat array_agg list first last any_value arbitrary first_value last_value
            arg_max arg_min max_by min_by json_group_array json_group_object array_concat_agg map_agg
            """
        ),
        _ROWS,
    )
    | dict.fromkeys(
        words(
            """
            read_csv read_csv_auto read_parquet parquet_scan read_json read_json_auto read_ndjson read_text
            read_blob glob sniff_csv csv_scan query query_table sqlite_scan postgres_scan mysql_scan getenv
            current_setting duckdb_settings duckdb_tables duckdb_secrets pragma_table_info which_secret
            parquet_metadata nextval currval iceberg_scan delta_scan st_read arrow_scan pandas_scan seq_scan
            summary
            """
        ),
        _FILES,
    )
    | dict.fromkeys(
        words(
            """
            random rand uuid gen_random_uuid setseed now current_date current_timestamp current_time today
            get_current_timestamp localtime localtimestamp transaction_timestamp current_datetime sysdate getdate
            current_user session_user user current_role version current_schema current_database
            """
        ),
        "the answer to a question must depend on the question and the data alone",
    )
)
"""Functions that would void the promise, with the reason."""

INSTEAD = {
    _ROWS: "Group instead: SELECT city, COUNT(*) AS n FROM visits GROUP BY city names what enough people have.",
    _FILES: "Name the table of the policy after FROM.",
}
"""What to write in place of them, by the reason."""

WINDOWS = "it looks at single rows; a private answer is made of groups"
OVER_GROUPS = "Group first: SELECT city, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS place … GROUP BY city."
