"""`tacit anonymity` as typed: its results, its refusals, and that it never promises anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tacit.anonymity import Limits, check
from tests.cli.typing_commands import Ran, tacit

PEOPLE = "name,age,sex,ill\nAda,30,f,flu\nBo,31,m,cold\nCy,40,f,cold\nDi,41,m,cough\n"
POLICY = """\
version = 1
source = "people.csv"
unit = "name"

[budget]
epsilon = 1

[columns]
name = { type = "text", role = "identifier" }
age = { type = "integer", role = "private" }
sex = { type = "text", role = "private" }
ill = { type = "text", role = "forbidden" }
"""


def typed(folder: Path, *words: str) -> Ran:
    return tacit(folder, "anonymity", *words)


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


def test_a_check_prints_measures_and_exits_by_the_limits(tmp_path: Path) -> None:
    write(tmp_path, "p.csv", PEOPLE)
    ran = typed(tmp_path, "check", "p.csv", "--quasi", "sex", "--sensitive", "ill", "--k", "2", "--l", "2")
    assert ran.returncode == 0, ran.printed
    assert "k 2 · 0 unique rows" in ran.stdout
    assert "every class keeps k ≥ 2, distinct l ≥ 2" in ran.stdout
    assert ran.stdout.rstrip().endswith("tacit ask.")
    broken = typed(tmp_path, "check", "p.csv", "--quasi", "age,sex", "--k", "2", "--most", "1")
    assert broken.returncode == 1
    assert "k ≥ 2: broken by 4 classes with 4 rows" in broken.stdout
    assert "… and 3 more" in broken.stdout


def test_json_has_a_version_and_a_note(tmp_path: Path) -> None:
    write(tmp_path, "p.csv", PEOPLE)
    found = json.loads(typed(tmp_path, "check", "p.csv", "--quasi", "sex", "--sensitive", "ill", "--json").stdout)
    assert (found["version"], found["k"], found["sensitive"]["ill"]["distinct_l"]) == (1, 2, 2)
    assert "no guarantee" in found["note"]
    made = json.loads(
        typed(tmp_path, "enforce", "p.csv", "--quasi", "age", "--k", "2", "--out", "o.csv", "--json").stdout
    )
    assert (made["version"], made["rows"], made["dropped"]) == (1, 4, ["name", "sex", "ill"])
    assert "no guarantee" in made["note"]


@pytest.mark.parametrize("method", ["mondrian", "relaxed", "full-domain"])
def test_what_enforce_writes_passes_the_check(tmp_path: Path, method: str) -> None:
    write(tmp_path, "p.csv", PEOPLE)
    write(tmp_path, "h/age.csv", "30;30-39;*\n31;30-39;*\n40;40-49;*\n41;40-49;*\n")
    words = ["--quasi", "age", "--sensitive", "ill", "--k", "2", "--l", "2", "--method", method, "--hierarchies", "h"]
    ran = typed(tmp_path, "enforce", "p.csv", *words, "--out", "out.csv", "--plot", "loss.png")
    assert ran.returncode == 0, ran.printed
    assert check(tmp_path / "out.csv", quasi=["age"], sensitive=["ill"], limits=Limits(k=2, distinct_l=2)).passes
    assert typed(tmp_path, "check", "out.csv", *words[:8]).returncode == 0
    assert "dropped: name, sex" in ran.stdout
    assert "This is no guarantee" in ran.stdout
    assert (tmp_path / "loss.png").read_bytes().startswith(b"\x89PNG")
    again = typed(tmp_path, "enforce", "p.csv", *words, "--out", "out.csv")
    assert again.returncode == 1
    assert "--out: given 'out.csv, which is there'" in again.stderr


def test_the_identifiers_of_a_policy_are_the_default(tmp_path: Path) -> None:
    write(tmp_path, "people.csv", PEOPLE)
    write(tmp_path, "people.toml", POLICY)
    (tmp_path / "keys").mkdir()
    for where in ("people.toml", "people.csv"):
        out = f"of-{where.partition('.')[2]}.csv"
        ran = typed(tmp_path, "deidentify", where, "--out", out)
        assert ran.returncode == 0, ran.printed
        assert "dropped name" in ran.stdout
        assert "Ada" not in (tmp_path / out).read_text(encoding="utf-8")
    ran = typed(
        tmp_path, "enforce", "people.toml", "--quasi", "age", "--k", "2", "--pseudonyms", "keys/k", "--out", "e.csv"
    )
    assert ran.returncode == 0, ran.printed
    assert "pseudonyms for: name" in ran.stdout
    assert "Ada" not in (tmp_path / "e.csv").read_text(encoding="utf-8")
    for option in ("--quasi", "--sensitive"):
        words = ("--quasi", "age", "--sensitive", "ill") if option == "--sensitive" else ("--quasi", "name")
        refused = typed(tmp_path, "check", "people.toml", *words)
        assert refused.returncode == 1
        assert f"{option}: given" in refused.stderr
    beside = typed(
        tmp_path, "enforce", "people.toml", "--quasi", "age", "--k", "2", "--pseudonyms", "k", "--out", "f.csv"
    )
    assert beside.returncode == 1
    assert "another folder" in beside.stderr
    assert not (tmp_path / "k").exists()


BAD = {
    "k above the rows": (
        "p.csv",
        PEOPLE,
        ["enforce", "--quasi", "age", "--k", "5"],
        "--k: given 5; allowed: at most 4",
    ),
    "no quasi-identifier": ("p.csv", PEOPLE, ["enforce", "--k", "2"], "--quasi: given 'no column'"),
    "no limit": ("p.csv", PEOPLE, ["enforce", "--quasi", "age"], "allowed: at least a k"),
    "unknown column": ("p.csv", PEOPLE, ["enforce", "--quasi", "agee", "--k", "2"], "Did you mean 'age'?"),
    "l beyond the values": (
        "p.csv",
        PEOPLE,
        ["enforce", "--quasi", "age", "--sensitive", "ill", "--l", "4"],
        "distinct l of ill",
    ),
    "empty": ("p.csv", "", ["enforce", "--quasi", "age", "--k", "1"], "It is empty."),
    "header only": ("p.csv", "age\n", ["enforce", "--quasi", "age", "--k", "1"], "a table without rows"),
    "one row": ("p.csv", "age\n5\n", ["enforce", "--quasi", "age", "--k", "2"], "--k: given 2; allowed: at most 1"),
    "ragged": ("p.csv", "a,b\n1,2\n3\n", ["enforce", "--quasi", "a", "--k", "1"], "Line 3 has 1 field"),
    "twice": ("p.csv", "a,A\n1,2\n", ["enforce", "--quasi", "a", "--k", "1"], "names 'A' twice"),
    "not in the hierarchy": (
        "p.csv",
        "age\n30\n32\n",
        ["enforce", "--quasi", "age", "--k", "1", "--method", "full-domain", "--hierarchies", "h"],
        "hierarchy of age: given 'a value on line 3 of the table",
    ),
    "no hierarchy": (
        "p.csv",
        PEOPLE,
        ["enforce", "--quasi", "age,sex", "--k", "1", "--method", "full-domain", "--hierarchies", "h"],
        "hierarchy of age",
    ),
    "no tree": (
        "p.csv",
        "x\n1\n",
        ["enforce", "--quasi", "x", "--k", "1", "--method", "full-domain", "--hierarchies", "h"],
        "hierarchy of x: given 'two parents at level 2 for one value, on lines 1 and 2'",
    ),
    "JSON": ("p.jsonl", "{}", ["enforce", "--quasi", "x", "--k", "1"], "source: given"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_an_error_with_column_and_line_and_writes_nothing(tmp_path: Path, name: str) -> None:
    file, text, (command, *words), message = BAD[name]
    write(tmp_path, file, text)
    write(tmp_path, "h/age.csv", "30;*\n31;*\n")
    write(tmp_path, "h/x.csv", "1;a;b;*\n2;a;c;*\n")
    ran = typed(tmp_path, command, file, *words, "--out", "out.csv")
    assert ran.returncode == 1, ran.printed
    assert message in ran.stderr
    assert "Traceback" not in ran.printed
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("text", "k", "rows"),
    [
        ("q,s\n,\n,\n,\n", 2, 3),
        ("q,s\nNaN,1\n3,nan\ninf,2\n-inf,5\n7,NaN\n", 2, 5),
        ("q,s\n5,6\n", 1, 1),
        ('q,s\n"a,b",1\n"two\nlines",2\n"say ""x""",3\nŁódź,4\n', 2, 4),
        ("q,s\n1e400,1\n-1e400,2\n0,3\n", 3, 3),
    ],
    ids=["all null", "NaN and infinite", "one row", "quotes", "beyond floats"],
)
def test_odd_input_gives_a_table_that_passes(tmp_path: Path, text: str, k: int, rows: int) -> None:
    write(tmp_path, "p.csv", text)
    words = ["--quasi", "q", "--sensitive", "s", "--k", str(k)]
    ran = typed(tmp_path, "enforce", "p.csv", *words, "--out", "out.csv")
    assert ran.returncode == 0, ran.printed
    found = typed(tmp_path, "check", "out.csv", *words, "--json")
    assert found.returncode == 0, found.printed
    assert json.loads(found.stdout)["rows"] == rows


def test_folders_and_missing_files_are_said_to_be_that(tmp_path: Path) -> None:
    assert "This is a folder" in typed(tmp_path, "check", ".", "--quasi", "a").stderr
    assert "a file that exists" in typed(tmp_path, "check", "no.csv", "--quasi", "a").stderr


@pytest.mark.parametrize(
    ("data", "line"),
    [
        ("name,age\nAda,30\nJosé,31\n".encode("latin-1"), 3),
        ("naïf,age\nAda,30\n".encode("latin-1"), 1),
        ("age\n1\n".encode("utf-16"), 1),
        (b"age\n" + b"1\n" * 300_000 + b"\xff\n", 300_002),
    ],
    ids=["a row", "the header", "UTF-16", "far below"],
)
@pytest.mark.parametrize("words", [["check"], ["enforce", "--k", "1", "--out", "out.csv"]], ids=["check", "enforce"])
def test_text_that_is_not_utf8_is_refused_with_its_line(
    tmp_path: Path, data: bytes, line: int, words: list[str]
) -> None:
    (tmp_path / "p.csv").write_bytes(data)
    ran = typed(tmp_path, words[0], "p.csv", "--quasi", "age", *words[1:])
    assert ran.returncode == 1, ran.printed
    assert f"Line {line} is not UTF-8." in ran.stderr
    assert "Jos" not in ran.printed
    assert [path.name for path in tmp_path.iterdir()] == ["p.csv"]


def test_a_new_key_goes_with_a_release_that_fails_and_an_old_one_stays(tmp_path: Path) -> None:
    write(tmp_path, "p.csv", PEOPLE)
    (tmp_path / "keys").mkdir()
    named = ["--identifiers", "name", "--pseudonyms", "keys/k"]
    failing = [
        ["enforce", "p.csv", "--quasi", "age", "--k", "5", "--out", "out.csv", *named],
        ["enforce", "p.csv", "--quasi", "age", "--k", "2", "--out", "no/out.csv", *named],
        ["deidentify", "p.csv", "--out", "out.csv", "--identifiers", "nam", "--pseudonyms", "keys/k"],
    ]
    for words in failing:
        assert typed(tmp_path, *words).returncode == 1
        assert list((tmp_path / "keys").iterdir()) == []
    made = typed(tmp_path, "deidentify", "p.csv", "--out", "out.csv", *named)
    assert made.returncode == 0, made.printed
    before = (tmp_path / "keys" / "k").read_bytes()
    assert typed(tmp_path, *failing[0]).returncode == 1
    assert (tmp_path / "keys" / "k").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--recursive", "3,²"], "--recursive: given '3,²'"),
        (["--recursive", "1e99999999,2"], "--recursive: given '1e99999999'"),
        (["--plot", "x.xyz"], "--plot: given 'x.xyz'"),
        (["--plot", "no/x.png"], "--plot: given 'no/x.png'"),
    ],
    ids=lambda value: value[1] if isinstance(value, list) else "",
)
def test_what_cannot_be_meant_is_refused_in_the_words_of_the_shell(
    tmp_path: Path, words: list[str], message: str
) -> None:
    write(tmp_path, "p.csv", PEOPLE)
    ran = typed(tmp_path, "check", "p.csv", "--quasi", "age", "--sensitive", "ill", *words)
    assert ran.returncode == 1, ran.printed
    assert message in ran.stderr


def test_a_limit_is_printed_with_all_its_digits(tmp_path: Path) -> None:
    write(tmp_path, "p.csv", PEOPLE)
    for k in (1234567, 10**400):
        ran = typed(tmp_path, "check", "p.csv", "--quasi", "age", "--k", str(k))
        assert ran.returncode == 1, ran.printed
        assert f"k ≥ {k}: broken by 4 classes" in ran.stdout


def test_attacks_tell_their_story_and_the_bound(tmp_path: Path) -> None:
    ran = typed(tmp_path, "attack", "linkage", "differencing", "--epsilon", "0.5")
    assert ran.returncode == 0, ran.printed
    assert "99.2% of 1,500 people" in ran.stdout
    assert ran.stdout.count("at most 62.3% of the time") == 2
    found = json.loads(typed(tmp_path, "attack", "intersection", "--json").stdout)
    assert found["attacks"][0]["guess_right_at_most"] == pytest.approx(0.622459332, abs=2e-9)
    assert len(found["attacks"][0]["questions"]) == 2
    assert typed(tmp_path, "attack", "linkage", "--epsilon", "0").returncode == 1
    assert list(tmp_path.iterdir()) == []
