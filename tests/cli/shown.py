"""The commands that pages show, and for each page the folder in which they can be typed as they stand."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import tacit
from tacit.cli.story.demo_table import POLICY, write_visits
from tacit.ledger import Request, SqliteLedger

__all__ = ["ELSEWHERE", "FOLDERS", "PAGES", "Block", "Folder", "blocks"]

ROOT = Path(__file__).resolve().parents[2]
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_TYPED = re.compile(r"(\$ )?(?:[A-Z_]+=\S+ )?tacit ")


@dataclass(frozen=True)
class Block:
    """A line as typed, and what the page shows under it."""

    line: str
    shown: str


def blocks(text: str) -> Iterator[Block]:
    """Every line of a page's shell blocks that calls `tacit`; with prompts, other lines are what was printed."""
    for kind, body in _FENCE.findall(text):
        if kind not in ("", "console", "sh", "bash"):
            continue
        lines = body.splitlines()
        for place, line in enumerate(lines):
            if _TYPED.match(line):
                shown = lines[place + 1 :] if line.startswith("$ ") else []
                printed = shown[: next((i for i, one in enumerate(shown) if one.startswith("$ ")), len(shown))]
                yield Block(line.removeprefix("$ "), "\n".join(printed))


PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if "reference" not in page.parts and any(blocks(page.read_text(encoding="utf-8")))
]
ELSEWHERE = {
    "mistakes.md": "tests/cli/test_mistakes.py types each, and compares what is printed",
    "first_answer.md": "tests/cli/test_tutorial.py types each, and compares what is printed",
}


@dataclass(frozen=True)
class Folder:
    """What a page takes for granted: files, what stands for a word of it, what to do after a line, what takes long."""

    furnish: Callable[[Path], Mapping[str, str] | None]
    after: Mapping[str, Callable[[Path], object]] = field(default_factory=dict)
    long: tuple[str, ...] = ()
    """Beginnings of lines that are typed by the slow suite alone; ``furnish`` has made what they would."""


def _visits(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    write_visits(folder / "visits.csv", 2000)
    (folder / "visits.toml").write_text(POLICY, encoding="utf-8")


def _filled_in(folder: Path) -> None:
    """What the owner does after `tacit init`."""
    (folder / "visits.toml").write_text(POLICY, encoding="utf-8")


_PEOPLE = """\
version = 1
source = "people.csv"
unit = "id"

[budget]
epsilon = 3
delta = 1e-8
strikes = 3

[columns]
id = { type = "text", role = "identifier" }
age = { type = "integer", role = "private", bounds = [0, 120] }
spend = { type = "real", role = "private", bounds = [0, 100] }
plan = { type = "text", role = "public", keys = ["free", "pro"] }
income = { type = "text", role = "public", keys = ["low", "high"] }
"""


def _people(folder: Path) -> None:
    rows = [f"p{n},{20 + n % 60},{n % 97},{('free', 'pro')[n % 3 == 0]},{('low', 'high')[n % 2]}" for n in range(600)]
    text = "id,age,spend,plan,income\n" + "\n".join(rows) + "\n"
    (folder / "people.csv").write_text(text, encoding="utf-8")
    (folder / "new_people.csv").write_text(text, encoding="utf-8")
    (folder / "people.toml").write_text(_PEOPLE, encoding="utf-8")


def _readme(folder: Path) -> None:
    write_visits(folder / "visits.csv", 2000)
    _people(folder)


def _asked(folder: Path) -> None:
    _visits(folder)
    with tacit.open(folder / "visits.toml") as table:
        table.sql("SELECT COUNT(*) FROM visits", epsilon=1)


def _locked(folder: Path) -> Mapping[str, str]:
    """A ledger in which Ada has an answer, and has lost three."""
    _people(folder)
    with tacit.open(folder / "people.toml", analyst="ada") as table:
        table.sql("SELECT COUNT(*) FROM people", epsilon="0.5")
    with SqliteLedger(folder / "people.ledger").open() as ledger:
        for number in range(3):
            ledger.spend(Request("ada", f"lost {number}"), tacit.PureDP("0.1")).abandon()
        head = ledger.budget().head.hash
    return {"3f0c…": head}


def _demo(folder: Path) -> None:
    _visits(folder / "demo-output")


def _anonymous(folder: Path) -> None:
    rows = [
        f"n{n},{20 + 10 * (n % 4)},{'fm'[n // 4 % 2]},{('north', 'south')[n // 8 % 2]},{('flu', 'cold', 'none')[n % 3]}"
        for n in range(480)
    ]
    (folder / "people.csv").write_text("name,age,sex,place,illness\n" + "\n".join(rows) + "\n", encoding="utf-8")
    (folder / "people.toml").write_text(
        'version = 1\nsource = "people.csv"\nunit = "name"\n\n[budget]\nepsilon = 1\n\n[columns]\n'
        'name = { type = "text", role = "identifier" }\nage = { type = "integer", role = "private" }\n'
        + "".join(f'{one} = {{ type = "text", role = "private" }}\n' for one in ("sex", "place", "illness")),
        encoding="utf-8",
    )
    trees = folder / "trees"
    trees.mkdir()
    (trees / "age.csv").write_text("".join(f"{n},{n // 20 * 20}s,*\n" for n in (20, 30, 40, 50)), encoding="utf-8")
    (trees / "sex.csv").write_text("f,*\nm,*\n", encoding="utf-8")
    (folder / "home" / "keys").mkdir(parents=True)


_MODULE = """\
import tacit

LAPLACE = tacit.DiscreteLaplace(epsilon=1, sensitivity=1)


def function(values):
    return LAPLACE.release(values[0] if isinstance(values, list) else values)
"""


def _own(folder: Path) -> None:
    (folder / "mymodule.py").write_text(_MODULE, encoding="utf-8")
    noise = tacit.DiscreteLaplace(epsilon=1, sensitivity=1)
    for name, value in (("first", 0), ("second", 1)):
        drawn = (noise.release(value) for _ in range(2000))
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in drawn), encoding="utf-8")


_DEMO = "tacit demo --out demo-output"
_FIT = "tacit learn people.toml --target income --epsilon 1 -o"
FOLDERS = {
    "README.md": Folder(_readme, after={"tacit init": _filled_in}, long=("tacit learn", "tacit synth")),
    "publication.md": Folder(_demo, long=(_DEMO,)),
    "survey.md": Folder(lambda folder: None),
    "twelve_steps.md": Folder(_demo, long=(_DEMO, "tacit audit")),
    "anonymity.md": Folder(_anonymous),
    "audit.md": Folder(_own, long=("tacit audit",)),
    "discovery.md": Folder(_visits),
    "growing.md": Folder(_asked),
    "learning.md": Folder(
        _people, long=(_FIT, "tacit learn people.toml --target income --method", "tacit learn predict")
    ),
    "ledger.md": Folder(_locked),
    "policy.md": Folder(lambda folder: write_visits(folder / "visits.csv", 200)),
    "service.md": Folder(_visits),
    "synthesis.md": Folder(_demo, long=("tacit demo",)),
}
