"""What `tacit anonymity` prints: findings and releases in words."""

from __future__ import annotations

from pathlib import Path

from tacit.anonymity import BrokenClass, Enforced, Findings, SensitiveFindings, Unknown

__all__ = ["enforced_words", "findings_words"]

_LONGEST = 24


def findings_words(found: Findings) -> str:
    """A check, line by line; the last says that it is no guarantee."""
    unknown = "are a value of their own" if found.unknown is Unknown.VALUE else "agree with every value"
    risk = found.risk
    rows, classes = _many(found.rows, "row"), _many(found.classes, "class")
    lines = [
        f"{rows} in {classes} by {', '.join(found.quasi)}; unknown values {unknown}",
        f"k {found.k:,} · {_many(found.unique_rows, 'unique row')} ({_percent(found.unique_rows / found.rows)}) · "
        f"largest class {found.largest_class:,}",
        f"risk of being named: highest {_percent(risk.highest)}, on average {_percent(risk.average)}, "
        f"above a fifth for {_many(risk.above_a_fifth, 'row')}",
    ]
    lines += [_column(name, one) for name, one in found.sensitive.items()]
    if found.presence is not None:
        low, high = found.presence
        lines.append(
            f"presence: of a class of the population, from {_percent(low)} to {_percent(high)} are in the table"
        )
    if found.limits.words and found.passes:
        lines.append(f"every class keeps {found.limits.words}")
    elif found.limits.words:
        classes, rows = _many(found.broken_classes, "class"), _many(found.broken_rows, "row")
        lines.append(f"{found.limits.words}: broken by {classes} with {rows}")
        lines += _broken(found)
    return "\n".join([*lines, found.note])


def enforced_words(made: Enforced, out: Path) -> str:
    """A release, line by line; the last says that it is no guarantee."""
    loss = made.loss
    lost = ", ".join(f"{name} {_percent(share)}" for name, share in loss.by_column.items())
    lines = [
        f"wrote {out}: {_many(made.rows, 'row')} in {_many(loss.classes, 'class')} with {made.limits.words}",
        f"information lost {_percent(loss.share)} ({lost}) · {_many(loss.suppressed_rows, 'row')} suppressed",
        f"classes have {loss.average_class:.1f} rows on average, at most {loss.largest_class:,} · "
        f"discernibility {loss.discernibility:,}",
    ]
    if made.levels is not None and made.tried is not None:
        levels = ", ".join(f"{name} {level}" for name, level in made.levels.items())
        lines.append(f"levels {levels} · {made.tried[0]:,} of {made.tried[1]:,} combinations tried")
    if made.dropped:
        lines.append(f"dropped: {', '.join(made.dropped)}")
    if made.pseudonymised:
        lines.append(f"pseudonyms for: {', '.join(made.pseudonymised)}; whoever has the key can undo them")
    return "\n".join([*lines, made.note])


def _column(name: str, one: SensitiveFindings) -> str:
    ordered = "" if one.ordered_t is None else f", ordered {one.ordered_t:.3f}"
    return (
        f"{name}: distinct l {one.distinct_l} · entropy l {one.entropy_l:.2f} · recursive ({one.recursive_c:g}, l) l "
        f"{one.recursive_l} · t equal {one.equal_t:.3f}{ordered} · "
        f"{_many(one.one_valued_rows, 'row')} in classes of one value"
    )


def _broken(found: Findings) -> list[str]:
    lines = [f"  {_values(one)} · {_many(one.rows, 'row')} · {', '.join(one.why)}" for one in found.broken]
    left = found.broken_classes - len(found.broken)
    return lines + ([f"  … and {left:,} more"] if left else [])


def _values(one: BrokenClass) -> str:
    return ", ".join(_short("unknown" if value is None else str(value)) for value in one.values)


def _short(text: str) -> str:
    clean = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
    return clean if len(clean) <= _LONGEST else f"{clean[: _LONGEST - 1]}…"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _many(count: int, what: str) -> str:
    if count == 1:
        return f"1 {what}"
    return f"{count:,} {what}es" if what.endswith("ss") else f"{count:,} {what}s"
