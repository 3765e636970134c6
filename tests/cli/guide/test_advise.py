"""`tacit advise` in the shell: every kind of release, JSON, and refusals that name the next thing to type."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.typing_commands import tacit

EVERY = [
    ("numbers", "--count", "20", "--sensitivity", "1"),
    ("numbers", "--sensitivity", "1", "--bounds", "0", "10", "--whole"),
    ("histogram", "--cells", "50"),
    ("choice", "--candidates", "50", "--sensitivity", "1", "--monotone"),
    ("top", "--count", "3", "--candidates", "50", "--sensitivity", "1", "--norm", "l1"),
    ("quantiles", "--quantiles", "0.25,0.5", "--bounds", "0", "100"),
    ("thresholds", "--length", "1000", "--sensitivity", "1", "--threshold", "100"),
    ("totals", "--horizon", "100", "--sensitivity", "1"),
    ("survey", "--categories", "12", "--people", "1000"),
    ("mean", "--people", "1000", "--bounds", "0", "100"),
    ("sum", "--people", "1000", "--bits"),
]


@pytest.mark.parametrize("words", EVERY, ids=lambda words: words[0])
def test_every_kind_is_ranked(tmp_path: Path, words: tuple[str, ...]) -> None:
    ran = tacit(tmp_path, "advise", *words, "--epsilon", "1", "--delta", "1e-6")
    assert ran.returncode == 0, ran.printed
    assert "× best" in ran.stdout
    assert "\n  1  tacit." in ran.stdout or "\n  1  [tacit." in ran.stdout


def test_json_carries_a_version_and_all_numbers(tmp_path: Path) -> None:
    ran = tacit(tmp_path, "advise", "choice", "--candidates", "50", "--sensitivity", "1", "--rho", "0.1", "--json")
    made = json.loads(ran.stdout)
    assert made["version"] == 1
    assert made["options"][0]["name"] == "Exponential"
    assert made["options"][0]["call"] == "tacit.Exponential(rho=0.1, sensitivity=1)"
    assert {one["name"] for one in made["left_out"]} >= {"NoisyMax with other noise"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("numbers", "--epsilon", "1"), "--sensitivity 1 for a count"),
        (("numbers", "--sensitivity", "1"), "Type --epsilon 1."),
        (("numbers", "--sensitivity", "1", "--error", "0"), "Type --error 10"),
        (("numbers", "--sensitivity", "1", "--epsilon", "1", "--beta", "1"), "Type --beta 0.05."),
        (
            ("numbers", "--sensitivity", "1", "--epsilon", "1", "--rho", "1"),
            "given '--epsilon and --rho'; allowed: exactly one of",
        ),
        (("numbers", "--sensitivity", "zero", "--epsilon", "1"), "sensitivity: given 'zero'"),
        (("numbers", "--sensitivity", "1", "--rho", "1", "--delta", "1e-6"), "Type --epsilon 1 --delta 1e-6."),
        (
            ("question", "none.toml", "SELECT 1", "--epsilon", "1"),
            "There is no policy none.toml. Draft one: tacit init",
        ),
        (("thresholds", "--length", "9", "--sensitivity", "1", "--threshold", "x", "--epsilon", "1"), "--threshold"),
        (("thresholds", "--length", "9", "--sensitivity", "1", "--threshold", "nan", "--epsilon", "1"), "a finite"),
        (("sum", "--people", "1000", "--epsilon", "1", "--bounds", "1", "0"), "given '1 0'; allowed: two finite"),
        (("sum", "--people", "1000", "--epsilon", "1", "--bits", "--bounds", "0", "5"), "Leave out the bounds"),
        (("quantiles", "--quantiles", "2", "--bounds", "0", "1", "--epsilon", "1"), "Type --quantiles 0.25,0.5"),
        (("numbers", "--bounds", "9", "1", "--sensitivity", "1", "--epsilon", "1"), "Type --bounds 0 100."),
        (("numbers", "--count", "3", "--bounds", "0", "9", "--sensitivity", "1", "--epsilon", "1"), "clamp each"),
        (("choice", "--candidates", "50", "--sensitivity", "1", "--error", "0.01"), "Say --error 0.194, or a price."),
        (("survey", "--categories", "5", "--people", "0", "--epsilon", "1"), "Type --people 10000."),
        (("top", "--count", "5", "--candidates", "3", "--sensitivity", "1", "--epsilon", "1"), "Type --count 1."),
    ],
)
def test_contradictions_are_one_sentence(tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    ran = tacit(tmp_path, "advise", *words)
    assert ran.returncode == 1, ran.printed
    assert says in ran.stderr
    assert "Traceback" not in ran.printed


def test_reasons_are_told_in_options_and_calls_in_python(tmp_path: Path) -> None:
    ran = tacit(tmp_path, "advise", "numbers", "--count", "3", "--sensitivity", "1", "--epsilon", "1")
    assert "Gaussian: it needs a δ: add --delta 1e-6" in ran.stdout
    assert "tacit.Laplace(epsilon=1, sensitivity=tacit.L1(3))" in ran.stdout


def test_a_question_is_planned_without_rows(tmp_path: Path) -> None:
    from tacit.cli.story.demo_table import POLICY

    (tmp_path / "visits.toml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "visits.csv").write_text("user_id,day,city,spend\nu1,2026-01-01,Gent,3\n", encoding="utf-8")
    ran = tacit(tmp_path, "advise", "question", "visits.toml", "SELECT COUNT(*) AS n FROM visits", "--epsilon", "1")
    assert ran.returncode == 0, ran.printed
    assert "noise for ε" in ran.stdout
    for words, says in (
        (("--epsilon", "1"), "Say --expected-rows 20000"),
        (("--expected-rows", "20000", "--mu", "1"), ""),
    ):
        mean = tacit(tmp_path, "advise", "question", "visits.toml", "SELECT AVG(spend) AS a FROM visits", *words)
        assert says in mean.stderr
        assert mean.returncode == bool(says)
    by_city = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
    keys = tacit(tmp_path, "advise", "question", "visits.toml", by_city, "--epsilon", "1")
    assert "ε 1, δ 1e-09" in keys.stdout, keys.printed  # the policy's, as for `tacit ask`
    assert not (tmp_path / "visits.ledger").exists()


def test_on_a_narrow_screen_reasons_are_folded_and_calls_are_not(tmp_path: Path) -> None:
    asked = ("totals", "--horizon", "365", "--sensitivity", "1", "--epsilon", "1", "--delta", "1e-6")
    lines = tacit(tmp_path, "advise", *asked, columns=60).stdout.splitlines()
    table = [line for line in lines if "× best" in line or " ε 1" in line]
    calls = [line for line in lines if "  tacit." in line]
    assert len(table) == len(calls) + 1 == 7
    assert max(len(line) for line in lines if line not in table + calls) <= 60 < max(map(len, calls))
    assert "     pays for every total anew; error grows like the root of" in lines
