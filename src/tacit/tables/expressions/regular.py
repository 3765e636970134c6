"""Regular expressions that are matched in time linear in the text: which are allowed, and what they mean.

What can be written is what RE2 has and backtracking does not need: signs, classes, groups, alternatives, repetitions of
something that is never empty. In Python a text is read once, by an automaton that holds all places of the expression
where it could be (Thompson 1968); what is extracted is the leftmost match, of which earlier alternatives and longer
repetitions come first, as in Perl and RE2 (Pike's machine; Cox 2010).

>>> regular("[0-9]{4}").finds("in 2024"), regular("([a-z]+)@([a-z]+)").groups("to ann@home now")
(True, ('ann@home', 'ann', 'home'))
>>> problem("(a")
'( has no end'
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

__all__ = ["LONGEST_EXPRESSION", "MOST_PLACES", "Regular", "posix", "problem", "regular"]

LONGEST_EXPRESSION = 200
"""How many characters a regular expression may have."""
MOST_PLACES = 500
"""How many signs it may have when its repetitions are written out."""
_MOST_NESTED = 20
_MOST_REPEATED = 200
_MOST_REMEMBERED = 5_000
_LAST = 0x10FFFF

Ranges = tuple[tuple[int, int], ...]
_CLASSES: dict[str, Ranges] = {
    "d": ((48, 57),),
    "w": ((48, 57), (65, 90), (95, 95), (97, 122)),
    "s": ((9, 10), (12, 13), (32, 32)),
}
_NAMED = {"t": 9, "n": 10, "r": 13, "f": 12}
_SIGNS = frozenset(r"\^$.|?*+()[]{}-/:;,!\"'#%&<=>@`~ ")


class _Refused(ValueError):
    """What cannot be written, in words."""


def _outside(ranges: Ranges) -> Ranges:
    found, first = list[tuple[int, int]](), 0
    for low, high in sorted(ranges):
        if low > first:
            found.append((first, low - 1))
        first = max(first, high + 1)
    return (*found, (first, _LAST)) if first <= _LAST else tuple(found)


_ANY = _outside(((10, 10),))


@dataclass(frozen=True, slots=True)
class _Sign:
    """One character out of some."""

    ranges: Ranges

    places, empty = 1, False

    def emit(self, to: list[_Step]) -> None:
        to.append(_Step("sign", len(to) + 1, ranges=self.ranges))


@dataclass(frozen=True, slots=True)
class _Edge:
    """The begin or the end of the text."""

    which: str

    places, empty = 0, True

    def emit(self, to: list[_Step]) -> None:
        to.append(_Step(self.which, len(to) + 1))


@dataclass(frozen=True, slots=True)
class _Series:
    """One after the other."""

    parts: tuple[_Part, ...]

    @property
    def places(self) -> int:
        return sum(one.places for one in self.parts)

    @property
    def empty(self) -> bool:
        return all(one.empty for one in self.parts)

    def emit(self, to: list[_Step]) -> None:
        for one in self.parts:
            one.emit(to)


@dataclass(frozen=True, slots=True)
class _Either:
    """One of them, the first if it can be."""

    parts: tuple[_Part, ...]

    @property
    def places(self) -> int:
        return sum(one.places for one in self.parts)

    @property
    def empty(self) -> bool:
        return any(one.empty for one in self.parts)

    def emit(self, to: list[_Step]) -> None:
        ends = []
        for one in self.parts[:-1]:
            fork = _fork(to)
            one.emit(to)
            ends.append(len(to))
            to.append(_Step("go", 0))
            to[fork] = _Step("fork", fork + 1, len(to))
        self.parts[-1].emit(to)
        for end in ends:
            to[end] = _Step("go", len(to))


@dataclass(frozen=True, slots=True)
class _Group:
    """What is between brackets, and can be extracted by its number."""

    part: _Part
    number: int

    @property
    def places(self) -> int:
        return self.part.places

    @property
    def empty(self) -> bool:
        return self.part.empty

    def emit(self, to: list[_Step]) -> None:
        to.append(_Step("save", len(to) + 1, 2 * self.number))
        self.part.emit(to)
        to.append(_Step("save", len(to) + 1, 2 * self.number + 1))


@dataclass(frozen=True, slots=True)
class _Repeated:
    """So often, as often as can be unless it is said otherwise."""

    part: _Part
    least: int
    most: int | None
    greedy: bool

    @property
    def places(self) -> int:
        return self.part.places * max(self.least + 1 if self.most is None else self.most, 1)

    @property
    def empty(self) -> bool:
        return self.least == 0

    def emit(self, to: list[_Step]) -> None:
        for _ in range(self.least):
            self.part.emit(to)
        if self.most is None:
            fork = _fork(to)
            self.part.emit(to)
            to.append(_Step("go", fork))
            self._close(to, fork)
            return
        forks = []
        for _ in range(self.most - self.least):
            forks.append(_fork(to))
            self.part.emit(to)
        for fork in forks:
            self._close(to, fork)

    def _close(self, to: list[_Step], fork: int) -> None:
        ends = (fork + 1, len(to))
        to[fork] = _Step("fork", *(ends if self.greedy else reversed(ends)))


_Part = _Sign | _Edge | _Series | _Either | _Group | _Repeated


@dataclass(frozen=True, slots=True)
class _Step:
    """One step of the automaton; ``other`` is the second choice of a fork, or what is saved."""

    does: str
    then: int
    other: int = 0
    ranges: Ranges = ()

    def takes(self, code: int) -> bool:
        return any(low <= code <= high for low, high in self.ranges)


def _fork(to: list[_Step]) -> int:
    to.append(_Step("fork", 0))
    return len(to) - 1


class _Reader:
    """Reads an expression from left to right."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.groups = text, 0, 0

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def take(self) -> str:
        self.at += 1
        return self.text[self.at - 1]

    def skip(self, text: str) -> bool:
        found = self.text.startswith(text, self.at)
        self.at += len(text) if found else 0
        return found

    def either(self, depth: int) -> _Part:
        if depth > _MOST_NESTED:
            raise _Refused(f"brackets stand in each other at most {_MOST_NESTED} deep")
        parts = [self.series(depth)]
        while self.skip("|"):
            parts.append(self.series(depth))
        return parts[0] if len(parts) == 1 else _Either(tuple(parts))

    def series(self, depth: int) -> _Part:
        parts = list[_Part]()
        if depth == 0 and self.skip("^"):
            parts.append(_Edge("begin"))
        while self.peek() not in ("", "|", ")"):
            if depth == 0 and self.text[self.at : self.at + 2] in ("$", "$|"):
                self.take()
                return _Series((*parts, _Edge("end")))
            parts.append(self.repeated(self.one(depth)))
            if _Series(tuple(parts)).places > MOST_PLACES:
                raise _Refused(f"it has more than {MOST_PLACES} signs, repetitions written out")
        return _Series(tuple(parts))

    def one(self, depth: int) -> _Part:
        sign = self.take()
        if sign == "(":
            return self.group(depth)
        if sign == "[":
            return _Sign(self.signs())
        if sign == "\\":
            return _Sign(self.escaped())
        if sign in "^$":
            raise _Refused("^ stands at the beginning, $ at the end; write \\^ or \\$ for the signs themselves")
        if sign in "*+?{":
            raise _Refused(f"{sign} repeats nothing; write \\{sign} for the sign itself")
        return _Sign(_ANY if sign == "." else ((ord(sign), ord(sign)),))

    def group(self, depth: int) -> _Part:
        if self.skip("?:"):
            part = self.either(depth + 1)
        elif self.peek() == "?":
            raise _Refused("of groups there are (…) and (?:…)")
        else:
            self.groups += 1
            number = self.groups
            part = _Group(self.either(depth + 1), number)
        if not self.skip(")"):
            raise _Refused("( has no end")
        return part

    def escaped(self) -> Ranges:
        sign = self.take() if self.peek() else ""
        if sign.lower() in _CLASSES and sign:
            ranges = _CLASSES[sign.lower()]
            return ranges if sign.islower() else _outside(ranges)
        if sign in _NAMED:
            return ((_NAMED[sign], _NAMED[sign]),)
        if sign in _SIGNS and sign:
            return ((ord(sign), ord(sign)),)
        raise _Refused(f"\\{sign} is not understood; of escapes there are \\d \\w \\s \\t \\n and signs like \\.")

    def signs(self) -> Ranges:
        negated, found = self.skip("^"), list[tuple[int, int]]()
        while not self.skip("]"):
            if not self.peek():
                raise _Refused("[ has no end")
            found += self.span()
        if not found:
            raise _Refused("[] holds nothing; write \\] for the sign itself")
        return _outside(tuple(found)) if negated else tuple(found)

    def span(self) -> Ranges:
        sign = self.take()
        if sign == "[":
            raise _Refused("write \\[ for the sign [ among others")
        low = self.escaped() if sign == "\\" else ((ord(sign), ord(sign)),)
        if self.peek() != "-" or self.text[self.at + 1 : self.at + 2] in ("]", ""):
            return low
        self.take()
        sign = self.take()
        high = self.escaped() if sign == "\\" else ((ord(sign), ord(sign)),)
        if sign == "[" or any(len(end) != 1 or end[0][0] != end[0][1] for end in (low, high)) or low > high:
            raise _Refused("a span goes from a sign to a later one: [a-z]")
        return ((low[0][0], high[0][0]),)

    def repeated(self, part: _Part) -> _Part:
        times = self.times()
        if times is None:
            return part
        if part.empty:
            raise _Refused("what is repeated must not be empty")
        found = _Repeated(part, *times, greedy=not self.skip("?"))
        if self.times() is not None:
            raise _Refused("a repetition is not repeated; put it in brackets")
        if found.places > MOST_PLACES:
            raise _Refused(f"it has more than {MOST_PLACES} signs, repetitions written out")
        return found

    def times(self) -> tuple[int, int | None] | None:
        for sign, times in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self.skip(sign):
                return times
        if not self.skip("{"):
            return None
        end = self.text.find("}", self.at)
        low, comma, high = self.text[self.at : max(end, self.at)].partition(",")
        if not _is_count(low) or not (_is_count(high) or high == ""):
            raise _Refused(f"{{ repeats 0 to {_MOST_REPEATED} times: {{2}}, {{2,}}, {{2,5}}; write \\{{ for the sign")
        self.at = end + 1
        most = int(low) if not comma else int(high) if high else None
        if most is not None and (most < int(low) or most == 0):
            raise _Refused("{2,5} goes from a count to a larger one")
        return int(low), most


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 3 and int(text) <= _MOST_REPEATED


@dataclass(frozen=True, slots=True)
class Regular:
    """A regular expression that was read."""

    steps: tuple[_Step, ...]
    places: int
    """How many signs it has, repetitions written out: what one character of a text costs at most."""
    captured: int
    """How many groups can be extracted."""
    _next: dict[tuple[frozenset[int], str], frozenset[int]]
    posix: str
    """See `posix`."""

    def finds(self, text: str) -> bool:
        """Whether it matches a part of the text."""
        end = len(self.steps) - 1
        state = self._closed([0], begins=True, ends=not text)
        for place, sign in enumerate(text):
            if end in state:
                return True
            if place == len(text) - 1:
                taken = [one.then for one in self._taking(state, ord(sign))]
                return end in self._closed([*taken, 0], begins=False, ends=True)
            state = self._after(state, sign)
        return end in state

    def groups(self, text: str) -> tuple[str, ...] | None:
        """The leftmost match, and what each of its groups holds ('' if it holds nothing); None if there is none."""
        found: tuple[int, ...] | None = None
        width = 2 * self.captured + 2
        threads = list[tuple[int, tuple[int, ...]]]()
        for place in range(len(text) + 1):
            if found is None:
                threads.append((0, (place,) + (-1,) * (width - 1)))
            threads = list(self._ordered(threads, place, len(text)))
            going = list[tuple[int, tuple[int, ...]]]()
            for at, saved in threads:
                step = self.steps[at]
                if step.does == "match":
                    found = (saved[0], place, *saved[2:])
                    break
                if place < len(text) and step.takes(ord(text[place])):
                    going.append((step.then, saved))
            threads = going
            if not threads and found is not None:
                break
        if found is None:
            return None
        return tuple(text[low:high] if high >= 0 else "" for low, high in zip(found[::2], found[1::2], strict=True))

    def _after(self, state: frozenset[int], sign: str) -> frozenset[int]:
        known = self._next.get((state, sign))
        if known is None:
            if len(self._next) >= _MOST_REMEMBERED:
                self._next.clear()
            taken = [one.then for one in self._taking(state, ord(sign))]
            known = self._next[state, sign] = self._closed([*taken, 0], begins=False, ends=False)
        return known

    def _taking(self, state: Iterable[int], code: int) -> Iterator[_Step]:
        return (one for one in map(self.steps.__getitem__, state) if one.does == "sign" and one.takes(code))

    def _closed(self, places: Iterable[int], *, begins: bool, ends: bool) -> frozenset[int]:
        """All places that are reached without a further character."""
        found, waiting = set[int](), list(places)
        while waiting:
            at = waiting.pop()
            if at in found:
                continue
            found.add(at)
            step = self.steps[at]
            if (
                step.does in ("go", "fork", "save")
                or (step.does == "begin" and begins)
                or (step.does == "end" and ends)
            ):
                waiting += [step.then, step.other] if step.does == "fork" else [step.then]
        return frozenset(found)

    def _ordered(
        self, threads: Iterable[tuple[int, tuple[int, ...]]], place: int, length: int
    ) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Signs and the match that are reached, each once, what comes first first."""
        seen, waiting = set[int](), list(threads)[::-1]
        while waiting:
            at, saved = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            step = self.steps[at]
            if step.does in ("sign", "match"):
                yield at, saved
            elif step.does == "fork":
                waiting += [(step.other, saved), (step.then, saved)]
            elif step.does == "save":
                waiting.append((step.then, (*saved[: step.other], place, *saved[step.other + 1 :])))
            elif step.does == "go" or place == (0 if step.does == "begin" else length):
                waiting.append((step.then, saved))


@functools.lru_cache(maxsize=64)
def regular(text: str) -> Regular:
    """The expression, which `problem` has nothing to say about."""
    if len(text) > LONGEST_EXPRESSION:
        raise _Refused(f"it has more than {LONGEST_EXPRESSION} characters")
    reader = _Reader(text)
    part = reader.either(0)
    if reader.at < len(text):
        raise _Refused(") has no beginning")
    if part.places > MOST_PLACES:
        raise _Refused(f"it has more than {MOST_PLACES} signs, repetitions written out")
    steps = list[_Step]()
    part.emit(steps)
    return Regular((*steps, _Step("match", 0)), max(part.places, 1), reader.groups, {}, _posix(part))


def posix(text: str) -> str:
    """An expression that matches a part of the same texts, as PostgreSQL writes it: signs by their codes, no captures.

    Which part it matches may be another one.

    >>> posix("a.?$")
    '(?:[\\\\U00000061](?:[\\\\U00000001-\\\\U00000009\\\\U0000000b-\\\\U0010ffff]){0,1}\\\\Z)'
    """
    return regular(text).posix


def _posix(part: _Part) -> str:
    match part:
        case _Sign(ranges):
            known = [(max(low, 1), high) for low, high in ranges if high > 0]  # no text there has NUL
            return f"[{''.join(map(_range, known))}]" if known else "[^\\U00000001-\\U0010ffff]"
        case _Edge(which):
            return "\\A" if which == "begin" else "\\Z"
        case _Series(parts):
            return f"(?:{''.join(map(_posix, parts))})"
        case _Either(parts):
            return f"(?:{'|'.join(map(_posix, parts))})"
        case _Group(inner):
            return _posix(inner)
        case _Repeated(inner, least, most):
            return f"(?:{_posix(inner)}){{{least},{'' if most is None else most}}}"


def _range(ends: tuple[int, int]) -> str:
    first, last = (f"\\U{code:08x}" for code in ends)
    return first if first == last else f"{first}-{last}"


def problem(text: str) -> str:
    """Why an expression is not allowed, in words; empty if it is."""
    try:
        regular(text)
    except _Refused as refused:
        return str(refused)
    return ""
