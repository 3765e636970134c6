"""The rooms of `tables/` are layered like the folders above them: a room imports only from rooms before it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TABLES = Path(__file__).resolve().parents[2] / "src" / "tacit" / "tables"

ROOMS = (
    "expressions",
    "policy",
    "query",
    "sql",
    "python",
    "check",
    "engines",
    "choosing",
    "estimators",
    "fitting",
    "plan",
    "release",
    "workloads",
    "discovery",
    "session",
)
"""In the order of the path of a question; docs/architecture.md says what each holds."""

MOST_FILES = 16
"""In one folder; more ask for a room of their own."""


def rooms_used(path: Path) -> set[str]:
    """The rooms of tables that a file imports from."""
    return imported_from(path, "tacit.tables.")


def imported_from(path: Path, package: str) -> set[str]:
    """The parts of a package that a file imports from, at any depth."""
    used = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        used |= {name.split(".")[2] for name in names if name.startswith(package)}
    return used


def later(room: str, used: set[str]) -> set[str]:
    return {other for other in used if ROOMS.index(other) > ROOMS.index(room)}


FILES = sorted(path for path in TABLES.rglob("*.py") if path.parent != TABLES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(TABLES)))
def test_a_room_imports_only_from_rooms_before_it(path: Path) -> None:
    room = path.relative_to(TABLES).parts[0]
    assert room in ROOMS, f"{room} is no room: add it to ROOMS and to docs/architecture.md"
    wrong = later(room, rooms_used(path))
    assert not wrong, f"{path.relative_to(TABLES)} must not import from {', '.join(sorted(wrong))}"


def test_the_rule_catches_a_breach(tmp_path: Path) -> None:
    sneaky = tmp_path / "sneaky.py"
    sneaky.write_text("def f():\n    from tacit.tables.session.open import open\n    from tacit.tables import sql\n")
    assert rooms_used(sneaky) == {"session", "sql"}
    assert later("sql", rooms_used(sneaky)) == {"session"}


def test_nothing_lies_in_the_hall_and_no_room_is_crowded() -> None:
    assert [path.name for path in TABLES.glob("*.py")] == ["__init__.py"]
    folders = [TABLES, *(path for path in TABLES.rglob("*") if path.is_dir() and path.name != "__pycache__")]
    crowded = {str(folder): len(list(folder.glob("*.py"))) - 1 for folder in folders}
    assert not {folder: size for folder, size in crowded.items() if size > MOST_FILES}


SRC = TABLES.parent
MAY_KNOW_DUCKDB = (
    "tables/engines/duckdb/",
    "tables/engines/registry.py",
    "tables/engines/spark/footers.py",
    "anonymity/",
)
"""The engine itself, the list of engines, what is read of footers for another, the folder with a connection of its
own."""


def duckdb_used(path: Path) -> set[str]:
    """What a file imports of DuckDB, or of the engine that is one."""
    used = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        used |= {name for name in names if name.split(".")[0] == "duckdb" or ".engines.duckdb" in name}
    return used


def test_only_the_engine_knows_duckdb() -> None:
    others = [path for path in SRC.rglob("*.py") if not path.relative_to(SRC).as_posix().startswith(MAY_KNOW_DUCKDB)]
    knowing = {path.relative_to(SRC).as_posix(): used for path in others if (used := duckdb_used(path))}
    assert not knowing, knowing


def test_the_rule_sees_duckdb_in_functions(tmp_path: Path) -> None:
    sneaky = tmp_path / "sneaky.py"
    sneaky.write_text("def f():\n    import duckdb\n    from tacit.tables.engines.duckdb.engine import DuckDBEngine\n")
    assert duckdb_used(sneaky) == {"duckdb", "tacit.tables.engines.duckdb.engine.DuckDBEngine"}


@pytest.mark.parametrize("room", ROOMS)
def test_every_file_is_on_the_page_of_the_architecture(room: str) -> None:
    page = (TABLES.parents[2] / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = page.split("## Which file")[1].split("\n## ")[0]
    line = next(one for one in re.split(r"\n- |\. (?=`)", section) if f"`{room}/`" in one)
    others = "".join(one for one in section.split("\n- ") if one.startswith("`engines/"))
    files = [path for path in (TABLES / room).rglob("*.py") if "sources" not in path.parts and path.stem != "__init__"]
    missing = [path.stem for path in files if f"`{path.stem}`" not in (line + others if room == "engines" else line)]
    assert not missing


CLI = SRC / "cli"
MOST_COMMANDS = 15
"""Files in one room of the command line."""


def test_the_command_line_has_rooms_that_know_only_what_is_shared() -> None:
    assert sorted(path.name for path in CLI.glob("*.py")) == ["__init__.py", "main.py"]
    for room in (path for path in CLI.iterdir() if path.is_dir() and path.name != "__pycache__"):
        files = [path for path in room.glob("*.py") if path.stem != "__init__"]
        assert len(files) <= MOST_COMMANDS, room
        used = {name for path in room.rglob("*.py") for name in command_rooms_used(path)}
        assert used <= {room.name, "shared"}, room


def command_rooms_used(path: Path) -> set[str]:
    """The rooms of the command line that a file imports from."""
    tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    modules = [node.module for node in tree if isinstance(node, ast.ImportFrom) and node.module]
    return {module.split(".")[2] for module in modules if module.startswith("tacit.cli.")}


def test_every_command_is_on_the_page_of_the_architecture() -> None:
    page = (SRC.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = page.split("## The rooms of `cli/`")[1].split("\n## ")[0]
    rooms = [path for path in CLI.iterdir() if path.is_dir() and path.name != "__pycache__"]
    assert not [room.name for room in rooms if f"`{room.name}/`" not in section]
    listed = [path.stem for room in rooms if f"`{room.name}/`:" in section for path in room.glob("[!_]*.py")]
    assert not [name for name in listed if f"`{name}`" not in section]


SYNTH = SRC / "synth"
SYNTH_ROOMS = ("public_coins", "domain", "counts", "models", "made", "opened", "discovered", "methods")
"""In the order in which a fit passes them; files that are rooms of their own stand among them."""


def test_the_rooms_of_synthesis_are_layered_and_small() -> None:
    for path in (one for one in SYNTH.rglob("*.py") if one.name != "__init__.py"):
        place = path.relative_to(SYNTH).with_suffix("").parts[0]
        assert place in SYNTH_ROOMS, path
        tree = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.ImportFrom)]
        modules = [node.module.split(".") for node in tree if node.module and node.module.startswith("tacit.synth.")]
        wrong = {module[2] for module in modules if SYNTH_ROOMS.index(module[2]) > SYNTH_ROOMS.index(place)}
        assert not wrong, f"{path.name} must not import from {wrong}"
    for room in (one for one in SYNTH.iterdir() if one.is_dir() and one.name != "__pycache__"):
        assert len(list(room.glob("*.py"))) <= 15, room


def test_every_file_of_synthesis_is_on_the_page_of_the_architecture() -> None:
    page = (SRC.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = page.split("## The rooms of `synth/`")[1].split("\n## ")[0]
    names = [path.stem for path in SYNTH.rglob("*.py") if path.stem != "__init__"]
    assert not [name for name in names if f"`{name}`" not in section]


def test_every_file_of_the_service_is_on_the_page_of_the_architecture() -> None:
    page = (SRC.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = page.split("## The rooms of `server/` and `remote/`")[1].split("\n## ")[0]
    names = [path.stem for room in ("server", "remote") for path in (SRC / room).rglob("[!_]*.py")]
    assert len(names) > 30
    assert not [name for name in names if f"`{name}`" not in section]


def test_the_service_draws_no_noise_itself() -> None:
    for path in (SRC / "server").rglob("*.py"):
        tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        modules = {node.module for node in tree if isinstance(node, ast.ImportFrom) and node.module}
        assert not {one for one in modules if one.startswith(("tacit.noise", "tacit.mechanisms"))}, path


PARTS = {
    "privacy": "## The rooms of `privacy/`",
    "ledger": "\n- `ledger/`:",
    "work": "\n- `work/`:",
}
"""Where the page of the architecture tells of other folders, file by file."""


@pytest.mark.parametrize("part", PARTS)
def test_every_file_of_other_parts_is_on_the_page_of_the_architecture(part: str) -> None:
    page = (SRC.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    heading = PARTS[part]
    section = page.split(heading)[1].split("\n## " if heading.startswith("##") else "\n")[0]
    files = [path for path in (SRC / part).rglob("*.py") if path.stem != "__init__"]
    assert files
    assert not [path.stem for path in files if f"`{path.stem}`" not in section]


def test_the_page_of_the_architecture_names_no_file_that_is_not_there() -> None:
    page = (SRC.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    parts = page.split("## Which file")[1].split("\n## One question")[0]
    there = {path.stem for path in SRC.rglob("*.py")} | {path.name for path in SRC.rglob("*") if path.is_dir()}
    assert set(re.findall(r"`([a-z_]+)/?`", parts)) <= there
