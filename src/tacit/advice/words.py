"""`tacit explain`: what a word means, in numbers of your own."""

from __future__ import annotations

import difflib

from tacit.advice.glossary.mechanisms import MECHANISMS
from tacit.advice.glossary.promises import PROMISES
from tacit.advice.glossary.tables import TABLES
from tacit.advice.glossary.term import Term
from tacit.errors import InvalidParameter

__all__ = ["TERMS", "explain", "find", "is_term"]

TERMS: dict[str, Term] = {term.name: term for term in (*PROMISES, *MECHANISMS, *TABLES)}
MOST_LINES = 20


def explain(term: str, value: object = None) -> str:
    """What a word means, at most twenty lines; with a value, in its numbers.

    >>> print(explain("epsilon", 0.5).splitlines()[6])
      a risk of 1% becomes at most 1.65%, because of what was released;
    >>> explain("epsilom")
    Traceback (most recent call last):
    ...
    tacit.errors.InvalidParameter: term: given 'epsilom'; allowed: one of 32 words. Did you mean epsilon? ...
    """
    found = find(term)
    if found.number is None:
        if value is not None:
            hint = f"tacit explain {_typed(found.name)}"
            raise InvalidParameter("value", given=value, allowed=f"nothing: {found.name} takes no number", hint=hint)
        body = found.text(0.0)
    else:
        number = found.number.read(found.name, value)
        try:
            body = found.text(float(number))
        except InvalidParameter:  # what the text computes with has limits of its own
            allowed = f"{found.number.allowed}, and of a size that noise can have"
            raise found.number.refusal(found.name, value, allowed) from None
    more = f"\n\nMore: docs/{found.page}" if found.page else ""
    return f"{found.title}\n\n{body}{more}"


def is_term(text: str) -> bool:
    """Whether this is a word, or another name of one.

    >>> is_term("sparse vector"), is_term("sparse vector 50")
    (True, False)
    """
    return _named(text) is not None


def _named(text: str) -> Term | None:
    wanted = _plain(text)
    return next((one for one in TERMS.values() if wanted in map(_plain, (one.name, *one.also))), None)


def find(term: str) -> Term:
    """The term of a name or of another word for it; the nearest is suggested for one that there is not."""
    found, wanted = _named(term), _plain(term)
    if found is not None:
        return found
    names = {_plain(name): one.name for one in TERMS.values() for name in (one.name, *one.also)}
    near = difflib.get_close_matches(wanted, names, n=1, cutoff=0.5)
    if near:
        known = names[near[0]]
        hint = f"Did you mean {known}? tacit explain {_typed(known)}"
    else:
        hint = "tacit explain lists them."
    raise InvalidParameter("term", given=term, allowed=f"one of {len(TERMS)} words", hint=hint)


def _plain(term: str) -> str:
    return " ".join(str(term).casefold().replace("-", " ").replace("_", " ").split())


def _typed(name: str) -> str:
    return f'"{name}"' if " " in name else name
