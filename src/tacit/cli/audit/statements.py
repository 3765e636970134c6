"""`tacit audit --policy visits.toml --sql "…"`: whole statements on neighbours that are made up from a policy."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tacit.errors import InvalidParameter
from tacit.report.terminal import RED, Marked, Screen

if TYPE_CHECKING:
    from tacit.auditing.statements.audit import Finding, StatementAudit

__all__ = ["audit_statements", "read_statements"]

JSON_VERSION = 1
_SAMPLES = 400


def audit_statements(
    policy: Path,
    statements: Sequence[str],
    prices: Mapping[str, str],
    *,
    samples: int | None,
    confidence: float,
    as_json: bool,
) -> bool:
    """Audit each, show what was found; whether anything is violated."""
    from tacit.auditing.statements.audit import StatementAuditor

    unknown = [name for name in prices if name not in ("epsilon", "delta", "rho")]
    if unknown:
        raise InvalidParameter(f"--{unknown[0]}", given=prices[unknown[0]], allowed="--epsilon or --rho, and --delta")
    with StatementAuditor(policy) as auditor:
        price = dict(prices) or {auditor.flavour: "1"}
        share = 1 - (1 - confidence) / len(statements)  # so that all verdicts together have the one stated
        found = [
            auditor.audit(sql, price, samples=_SAMPLES if samples is None else samples, confidence=share)
            for sql in statements
        ]
    if as_json:
        click.echo(json.dumps({"version": JSON_VERSION, "statements": [one.to_dict() for one in found]}, indent=2))
    else:
        _show(found)
    return any(one.violated for one in found)


def _show(found: Sequence[StatementAudit]) -> None:
    screen = Screen()
    apart_by = "told apart by"
    headings = ["one unit more", "among", apart_by, "answers", "rows of work", "per step"]
    for audit in found:
        screen.line(f"{audit.sql}\n{audit.outcome}" + (f" at {audit.price}" if audit.price else ""))
        rows: list[list[str | Marked]] = []
        for one in audit.findings:
            apart = Marked(one.differs, RED) if one.differs else "nothing"
            rows.append([one.person, str(one.units), apart, str(one.compared), _work(one), _added(one)])
        screen.grid(headings, rows, whole=[name for name in headings if name != apart_by])
        for one in audit.findings:
            if one.detail:
                screen.line(f"{one.person}, among {one.units}: {one.differs}: {one.detail}")
        if audit.leaked is not None:
            screen.line(audit.leaked.verdict)
    wrong = sum(one.violated for one in found)
    noun = "statement" if len(found) == 1 else "statements"
    verdict = f"violated by {wrong}" if wrong else "not disproved: nothing told two made-up neighbours apart"
    screen.line(f"{len(found)} {noun}: {verdict}.")


def _work(one: Finding) -> str:
    return "–" if one.work is None else f"{one.work[0].rows:,} → {one.work[1].rows:,}"


def _added(one: Finding) -> str | Marked:
    if one.work is None:
        return "–"
    words = f"{one.added:,.0f}"
    return Marked(words, RED) if one.violated and not one.differs else words


def read_statements(text: str) -> list[str]:
    """One statement on each line of a file; lines that begin with -- are comments."""
    lines = [line.strip() for line in text.splitlines()]
    found = [line.rstrip(";") for line in lines if line and not line.startswith("--")]
    if not found:
        raise InvalidParameter("--sql-file", given="no statement", allowed="a statement on each line")
    return found
