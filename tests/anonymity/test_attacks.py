"""Each attack succeeds on the release at the rate it states; through Tacit it is bound by ε."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import pytest

from tacit.anonymity.attacks import ATTACKS, Closing
from tacit.anonymity.attacks.reading import stands_for
from tacit.cli.anonymity.attack import answers, open_world
from tacit.privacy import PureDP

LEAST = {"linkage": 0.99, "intersection": 0.8, "homogeneity": 0.15, "background": 0.35, "differencing": 0.55}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_succeeds_at_the_rate_that_it_states(name: str) -> None:
    story = ATTACKS[name]()
    assert story.name == name
    assert 0 < story.learned <= story.targets
    assert story.rate >= LEAST[name]
    assert f"{story.learned:,}" in " ".join(story.told)
    assert ATTACKS[name]() == story


@pytest.mark.parametrize("name", ATTACKS)
def test_the_two_worlds_of_the_closing_question_differ_in_one_person_and_by_the_stated_gap(name: str) -> None:
    closing = ATTACKS[name]().closing
    first, second = (set(zip(*world.values(), strict=True)) for world in closing.worlds)
    assert len({row[0] for row in first ^ second}) == 1
    exact = [tuple(float(exact_count(closing, world, at)) for at in range(len(closing.statements))) for world in (0, 1)]
    sums = [sum(sign * value for sign, value in zip(closing.signs, each, strict=True)) for each in exact]
    assert sums == [closing.without + closing.gap, closing.without]
    assert closing.guess(exact[0])
    assert not closing.guess(exact[1])


def exact_count(closing: Closing, world: int, statement: int) -> int:
    """The count itself, by DuckDB on plain rows: what an attacker would like to be told."""
    import duckdb

    columns = closing.worlds[world]
    with duckdb.connect() as connection:
        kinds = {name: "BIGINT" if isinstance(values[0], int) else "VARCHAR" for name, values in columns.items()}
        connection.execute(f"CREATE TABLE patients ({', '.join(f'{name} {kind}' for name, kind in kinds.items())})")
        lists = ", ".join(f"unnest(${place + 1})" for place in range(len(columns)))
        connection.execute(f"INSERT INTO patients SELECT {lists}", list(columns.values()))
        (found,) = connection.execute(closing.statements[statement]).fetchall()
        return int(found[0])


def right_guesses(closing: Closing, folder: Path, epsilon: Fraction, blocks: int) -> float:
    """The share of right guesses; a hundred draws to a ledger, because its least price grows with its budget."""
    right = 0
    for block in range(blocks):
        (folder / str(block)).mkdir()
        for world in (0, 1):
            with open_world(closing, world, folder / str(block), PureDP(epsilon * 101)) as table:
                for _ in range(100):
                    values = tuple(float(a[a.columns[0]].value) for a in answers(table, closing, epsilon))
                    right += closing.guess(values) == (world == 0)
    return right / (200 * blocks)


def furthest(epsilon: float, draws: int) -> float:
    """What an attack bound by ε exceeds less than once in a million times (five standard errors)."""
    bound = 1 / (1 + math.exp(-epsilon))
    return bound + 5 * math.sqrt(bound * (1 - bound) / (2 * draws))


def test_through_tacit_the_linkage_is_worth_what_epsilon_allows(tmp_path: Path) -> None:
    """One count of one person: the best guess is right exactly as often as ε allows, not always."""
    closing = ATTACKS["linkage"]().closing
    found = right_guesses(closing, tmp_path, Fraction(1), blocks=1)
    assert found <= furthest(1, draws=100) < 1
    bound = 1 / (1 + math.exp(-1))
    assert found >= 2 * bound - furthest(1, draws=100)


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTACKS)
def test_through_tacit_every_attack_stays_within_epsilon(name: str, tmp_path: Path) -> None:
    found = right_guesses(ATTACKS[name]().closing, tmp_path, Fraction(1), blocks=3)
    assert found <= furthest(1, draws=300) < 0.85


def test_labels_are_read_as_they_are_written() -> None:
    assert stands_for("-5..3", -5)
    assert stands_for("20..29 or unknown", 29)
    assert not stands_for("20..29", "25 years")
    assert not stands_for("{f | m}", "x")
    assert stands_for(None, None)
