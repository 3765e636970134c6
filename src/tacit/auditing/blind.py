"""When an audit saw nothing that it could judge: that is a verdict of its own, never "not disproved"."""

from __future__ import annotations

import numpy as np

from tacit.auditing.reading.forms import form_words, known
from tacit.auditing.reading.outcomes import Codes, Outcomes

__all__ = ["why_blind"]

_ALL_DIFFERENT = 0.9
_ENOUGH = 20
_UNREAD = 0.1


def why_blind(first: Outcomes, second: Outcomes, message: str = "") -> str:
    """Why these outcomes cannot be judged; empty if they can."""
    forms = np.concatenate([first.form, second.form])
    wholes = np.concatenate([first.whole, second.whole])
    likely = _words(np.array([_most_frequent(forms), *forms[::-1][:_ENOUGH]]))
    raising = _share_raising(forms)
    if raising == 1.0:
        return f"every call failed: {_shown(message or likely)}"
    if float(np.concatenate([first.opaque, second.opaque]).mean()) > _UNREAD:
        return f"outcomes hold something that cannot be read: {_shown(likely)}"
    if bool((wholes == wholes[0]).all()):
        value = f" {first.numbers[0, 0]:.6g}" if first.width == 1 and not first.origin else ""
        return f"every outcome is the same ({_shown(likely)}{value}), so there is nothing to compare"
    if len(forms) >= _ENOUGH and len(np.unique(forms)) > _ALL_DIFFERENT * len(forms):
        return f"outcomes are all different and not numbers, as {_shown(_words(forms[::-1]))}"
    most, kept = max(int(part.counts.max(initial=0)) for part in (first, second)), max(first.width, second.width)
    if most > kept:
        return f"only the first {kept:,} of {most:,} numbers in an outcome were looked at"
    return ""


def _most_frequent(codes: Codes) -> int:
    values, counts = np.unique(codes, return_counts=True)
    return int(values[int(np.argmax(counts))])


def _words(forms: Codes) -> str:
    """Of the first of these forms whose words are still kept."""
    return form_words(next((int(code) for code in forms if known(int(code))), int(forms[0])))


def _share_raising(forms: Codes) -> float:
    values, counts = np.unique(forms, return_counts=True)
    raising = [form_words(int(value)).startswith("raises ") for value in values]
    return float(counts[np.array(raising, dtype=np.bool_)].sum() / counts.sum())


def _shown(words: str) -> str:
    return words if len(words) <= 200 else f"{words[:190]}…"
