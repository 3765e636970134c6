"""What would be published: a wheel and an sdist in dist/, built, checked and listed. Uploads nothing.

Built twice, the second time from the unpacked sdist in another folder: the bytes must be the same, so that anybody can
check a published file against the source. The time in them is that of the last commit.
"""

from __future__ import annotations

import email.parser
import email.policy
import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections import Counter
from email.message import EmailMessage
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "dist"
BUILD = "import sys; from hatchling import build; build.build_sdist(sys.argv[1]); build.build_wheel(sys.argv[1])"
NEVER = ("__pycache__", ".pyc", ".ledger", ".env", ".DS_Store", "demo-output")
WITHOUT_GIT = "1580601600"


def main() -> None:
    when = git("log", "-1", "--format=%ct") or WITHOUT_GIT
    for old in OUT.glob("*"):
        old.unlink()
    sdist, wheel = build(ROOT, OUT, when)
    with tempfile.TemporaryDirectory() as scratch:
        with tarfile.open(sdist) as packed:
            packed.extractall(scratch, filter="data")
        (unpacked,) = Path(scratch).iterdir()
        again = build(unpacked, Path(scratch) / "again", when)
        for first, second in zip((sdist, wheel), again, strict=True):
            if first.read_bytes() != second.read_bytes():
                sys.exit(f"{first.name} is not reproducible: built from the unpacked sdist it has other bytes.")
    problems = [*check_wheel(wheel), *check_sdist(sdist)]
    for path in (sdist, wheel):
        show(path)
    if problems:
        sys.exit("\n".join(["Not fit for a release:", *problems]))
    print("built twice with the same bytes; metadata and contents checked")


def git(*asked: str) -> str:
    """What git says of this folder; nothing where it is no checkout."""
    if not (ROOT / ".git").exists():
        return ""
    return subprocess.run(["git", "-C", str(ROOT), *asked], capture_output=True, text=True, check=True).stdout.strip()


def build(source: Path, target: Path, when: str) -> tuple[Path, Path]:
    """The sdist and the wheel of a folder, by the build backend of pyproject.toml."""
    target.mkdir(exist_ok=True)
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("HATCH_", "PYTHON"))}
    asked = [sys.executable, "-c", BUILD, str(target)]
    subprocess.run(asked, cwd=source, env={**clean, "SOURCE_DATE_EPOCH": when}, check=True)
    (sdist,), (wheel,) = target.glob("*.tar.gz"), target.glob("*.whl")
    return sdist, wheel


def check_wheel(wheel: Path) -> list[str]:
    """What is wrong with the wheel: its metadata, its command, files too many or too few."""
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        (info,) = {name.split("/")[0] for name in names if ".dist-info/" in name}
        metadata = parsed(packed.read(f"{info}/METADATA"))
        commands = packed.read(f"{info}/entry_points.txt").decode()
        version = re.search(r'^VERSION = "(.+)"$', packed.read("tacit/version.py").decode(), re.MULTILINE)
    wanted = {str(path.relative_to(ROOT / "src").as_posix()) for path in sources()}
    inside = {name for name in names if not name.startswith(f"{info}/")}
    problems = [f"{name} is not in the wheel" for name in sorted(wanted - inside)]
    problems += [f"{name} should not be in the wheel" for name in sorted(inside - wanted)]
    if "tacit = tacit.cli.main:command" not in commands:
        problems.append(f"the command is missing: {commands!r}")
    if version is None or metadata["Version"] != version[1]:
        problems.append(f"the version of the metadata is {metadata['Version']}, that of the code is another")
    return problems + check_metadata(metadata)


def check_sdist(sdist: Path) -> list[str]:
    """What is wrong with the sdist: it must hold all that the checks of CI need, and nothing that was left behind."""
    with tarfile.open(sdist) as packed:
        names = {str(PurePosixPath(*PurePosixPath(one.name).parts[1:])) for one in packed if one.isfile()}
    wanted = {str(path.relative_to(ROOT).as_posix()) for path in sources()}
    wanted |= {
        "Makefile",
        "requirements.lock",
        "requirements-demo.lock",
        "pyproject.toml",
        "README.md",
        "LICENSE",
        ".ci/run",
        "tests/__init__.py",
    }
    problems = [f"{name} is not in the sdist" for name in sorted(wanted - names)]
    return problems + [f"{name} should not be in the sdist" for name in sorted(names) if left_behind(name)]


def check_metadata(metadata: EmailMessage) -> list[str]:
    """What the package index would refuse, or show wrongly."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    expected = {
        "Name": project["name"],
        "Summary": project["description"],
        "Requires-Python": project["requires-python"],
        "License-Expression": project["license"],
        "License-File": "LICENSE",
        "Description-Content-Type": "text/markdown",
    }
    problems = [
        f"{key} is {metadata[key]!r}, not {value!r}" for key, value in expected.items() if metadata[key] != value
    ]
    extras = set(metadata.get_all("Provides-Extra", []))
    if extras != set(project["optional-dependencies"]):
        problems.append(f"the extras are {sorted(extras)}")
    needed = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    if len(needed) != len(project["dependencies"]):
        problems.append(f"the dependencies are {needed}")
    if metadata.get_payload().strip() != (ROOT / "README.md").read_text(encoding="utf-8").strip():
        problems.append("the description is not the README")
    return problems


def parsed(raw: bytes) -> EmailMessage:
    policy = email.policy.default.clone(max_line_length=0, utf8=True)
    return email.parser.Parser(EmailMessage, policy=policy).parsestr(raw.decode())


def sources() -> list[Path]:
    """Every file of the package: those that git knows, so that nothing else is published; else all in the folder."""
    known = git("ls-files", "-z", "src").split("\0")
    if known != [""]:
        return [ROOT / name for name in known if name]
    return [path for path in (ROOT / "src").rglob("*") if path.is_file() and not left_behind(path.as_posix())]


def left_behind(name: str) -> bool:
    return any(mark in name for mark in NEVER)


def show(path: Path) -> None:
    """The name, size and digest of a file, and how many files it holds in each folder."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as packed:
            sizes = {one.filename: one.file_size for one in packed.infolist()}
    else:
        with tarfile.open(path) as packed:
            sizes = {str(PurePosixPath(*PurePosixPath(one.name).parts[1:])): one.size for one in packed if one.isfile()}
    print(f"{path.name}  {path.stat().st_size:,} bytes  sha256 {hashlib.sha256(path.read_bytes()).hexdigest()}")
    folders = Counter(str(PurePosixPath(*PurePosixPath(name).parts[:-1][:3])) for name in sizes)
    for folder, count in sorted(folders.items()):
        print(f"    {folder + '/' if folder != '.' else '(top)':34} {count:4} files")


if __name__ == "__main__":
    main()
