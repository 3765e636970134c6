"""Adaptive analysts, exactly: the two worlds' joint distributions of everything an analyst sees, by enumeration."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from hypothesis import strategies as st

from tests.privacy.oracle import Pair

Answers = tuple[int, ...]
Strategy = Callable[[Answers], Pair]


def response(lie: Fraction) -> Pair:
    """Randomized response that lies with this probability: the answer's distribution in either world."""
    return [1 - lie, lie], [lie, 1 - lie]


def play(strategy: Strategy, allows: Callable[[tuple[Pair, ...]], bool], depth: int) -> Pair:
    """Run a strategy in both worlds until ``allows`` refuses the next mechanism or ``depth`` answers were given.

    The strategy names each next mechanism, as its pair of distributions, from all answers so far.
    """
    one: list[Fraction] = []
    other: list[Fraction] = []

    def visit(answers: Answers, asked: tuple[Pair, ...], p: Fraction, r: Fraction) -> None:
        pair = strategy(answers)
        if len(answers) == depth or not allows((*asked, pair)):
            one.append(p)
            other.append(r)
            return
        for answer, (here, there) in enumerate(zip(*pair, strict=True)):
            visit((*answers, answer), (*asked, pair), p * here, r * there)

    visit((), (), Fraction(1), Fraction(1))
    return one, other


def strategies(mechanisms: list[Pair]) -> st.SearchStrategy[Strategy]:
    """Strategies that choose a mechanism, and which world is which, by an arbitrary table of the answers so far."""

    def build(choices: list[tuple[int, bool]]) -> Strategy:
        def strategy(answers: Answers) -> Pair:
            index = 0
            for answer in answers:
                index = 3 * index + answer + 1
            chosen, swapped = choices[index % len(choices)]
            pair = mechanisms[chosen]
            return (pair[1], pair[0]) if swapped else pair

        return strategy

    entry = st.tuples(st.integers(0, len(mechanisms) - 1), st.booleans())
    return st.lists(entry, min_size=1, max_size=40).map(build)
