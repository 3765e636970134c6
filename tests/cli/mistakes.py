"""The folder and the commands of docs/guides/mistakes.md.

Run as a script, it types every command again and writes what was printed into the page, to be read before it is kept.
"""

from __future__ import annotations

import re
import shlex
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.cli.typing_commands import tacit

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "mistakes.md"
_BLOCK = re.compile(r"```console\n\$ tacit (?P<typed>.*)\n(?P<printed>(?:.*\n)*?)```\n\nExit code (?P<code>\d)")
_ROWS = "user_id,city,spend,age\nu1,Aarhus,12.50,31\nu2,Lund,8.00,45\n"


@dataclass(frozen=True)
class Mistake:
    """A command as typed, what the page says that it prints, and its exit code."""

    typed: str
    printed: str
    code: int


def listed() -> list[Mistake]:
    """Every mistake of the page."""
    text = PAGE.read_text(encoding="utf-8")
    return [Mistake(found["typed"], found["printed"], int(found["code"])) for found in _BLOCK.finditer(text)]


def furnish(folder: Path) -> None:
    """The files that the page talks about."""
    text = PAGE.read_text(encoding="utf-8")
    policy = text.split("```toml\n")[1].split("```")[0]
    (folder / "visits.csv").write_text(_ROWS, encoding="utf-8")
    (folder / "bare.csv").write_text(_ROWS, encoding="utf-8")
    (folder / "visits.toml").write_text(policy, encoding="utf-8")
    (folder / "typo.toml").write_text(policy.replace("bounds = [0", "bound = [0"), encoding="utf-8")
    (folder / "photo.csv").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)) * 8)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        furnish(Path(place))
        page = PAGE.read_text(encoding="utf-8")
        for one in listed():
            ran = tacit(Path(place), *shlex.split(one.typed))
            if ran.returncode != one.code:
                print(f"exit code {ran.returncode}, not {one.code}: {one.typed}")
            page = page.replace(f"$ tacit {one.typed}\n{one.printed}```", f"$ tacit {one.typed}\n{ran.printed}```")
        PAGE.write_text(page, encoding="utf-8")
