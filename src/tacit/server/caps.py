"""The cap of one analyst in a policy file: one line of [budget] changed, and all else as the owner wrote it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tacit.errors import PolicyError
from tacit.ledger.terms import Terms
from tacit.tables.policy.file import parse
from tacit.tables.policy.writer import key

__all__ = ["rewritten", "with_cap"]

_SECTION = re.compile(r"^\s*\[")
_BUDGET = re.compile(r"^\s*\[\s*budget\s*\]\s*(#.*)?$")


def with_cap(text: str, analyst: str, wanted: Terms, name: str) -> str:
    """The policy with the analyst's cap as ``wanted`` has it; refused if that cannot be said by one line."""
    cap = wanted.flavour.amount(wanted.analysts[analyst])
    main, delta = cap.texts()
    line = f"analysts.{key(analyst)} = {{ {wanted.flavour.name} = {main}, delta = {delta} }}"
    lines = text.split("\n")
    begins = next((at for at, one in enumerate(lines) if _BUDGET.match(one)), None)
    if begins is not None:
        ends = next((at for at in range(begins + 1, len(lines)) if _SECTION.match(lines[at])), len(lines))
        old = re.compile(rf"^\s*analysts\s*\.\s*{re.escape(key(analyst))}\s*=")
        kept = [one for one in lines[begins + 1 : ends] if not old.match(one)]
        changed = "\n".join([*lines[: begins + 1], line, *kept, *lines[ends:]])
        try:
            if parse(changed, name).terms.analysts == wanted.analysts:
                return changed
        except PolicyError:
            pass
    raise PolicyError(f"{name}: write it into [budget] by hand, {line}, then: tacit amend {name} --reason …")


def rewritten(path: Path, text: str) -> None:
    """In one step: whoever reads it meanwhile reads the old or the new."""
    beside = path.with_name(f".{path.name}.new")
    try:
        beside.write_text(text, encoding="utf-8")
        os.chmod(beside, path.stat().st_mode & 0o777)
        os.replace(beside, path)
    except OSError as error:
        raise PolicyError(f"{path.name} cannot be written: {error.strerror}. Nothing was changed.") from None
