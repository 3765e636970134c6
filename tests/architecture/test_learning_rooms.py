"""The rooms of `learn/` are layered as those of `tables/` are: a room imports only from rooms before it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.architecture.test_rooms import imported_from

LEARN = Path(__file__).resolve().parents[2] / "src" / "tacit" / "learn"

ROOMS = ("reading", "spending", "linear", "trees", "vectors", "opened", "estimators", "tuning", "finite")
"""From cells to models; docs/architecture.md says what each holds."""

HALL = ("__init__", "noisy_sgd", "saving", "scikit")
MOST_FILES = 15


def later(room: str, used: set[str]) -> set[str]:
    return {other for other in used if other not in HALL and ROOMS.index(other) > ROOMS.index(room)}


FILES = sorted(path for path in LEARN.rglob("*.py") if path.parent != LEARN)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(LEARN)))
def test_a_room_of_learning_imports_only_from_rooms_before_it(path: Path) -> None:
    room = path.relative_to(LEARN).parts[0]
    assert room in ROOMS, f"{room} is no room: add it to ROOMS and to docs/architecture.md"
    wrong = later(room, imported_from(path, "tacit.learn."))
    assert not wrong, f"{path.relative_to(LEARN)} must not import from {', '.join(sorted(wrong))}"


def test_the_rule_catches_a_breach(tmp_path: Path) -> None:
    sneaky = tmp_path / "sneaky.py"
    sneaky.write_text(
        "def f():\n    from tacit.learn.tuning.search import PrivateSearch\n    from tacit.learn import reading\n"
    )
    assert later("trees", imported_from(sneaky, "tacit.learn.")) == {"tuning"}


def test_few_lie_in_the_hall_and_no_room_is_crowded() -> None:
    assert sorted(path.stem for path in LEARN.glob("*.py")) == sorted(HALL)
    rooms = [path for path in LEARN.iterdir() if path.is_dir() and path.name != "__pycache__"]
    assert {room.name for room in rooms} == set(ROOMS)
    assert not {room.name: n for room in rooms if (n := len(list(room.glob("*.py")))) > MOST_FILES}


@pytest.mark.parametrize("room", ROOMS)
def test_every_file_of_learning_is_on_the_page_of_the_architecture(room: str) -> None:
    page = (LEARN.parents[2] / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = page.split("## The rooms of `learn/`")[1].split("\n## ")[0]
    line = next(one for one in re.split(r"\n", section) if one.startswith(f"| `{room}/`"))
    files = [path.stem for path in (LEARN / room).glob("*.py") if path.stem != "__init__"]
    assert not [name for name in files if f"`{name}`" not in line]
