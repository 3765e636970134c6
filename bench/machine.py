"""Where a result came from: the commit, the day, the machine, the versions."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def provenance() -> dict[str, Any]:
    return {
        "commit": commit(),
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "machine": {
            "cpu": cpu_model(),
            "cores": os.cpu_count(),
            "ram_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
            "system": f"{platform.system()} {platform.machine()}",
        },
        "python": platform.python_version(),
        "packages": dict(sorted((d.name, d.version) for d in metadata.distributions())),
    }


def commit() -> str:
    """The commit measured, with `-dirty` when the sources differ from it."""
    try:
        head = _git("rev-parse", "HEAD")
        changed = _git("status", "--porcelain", "--", "src", "pyproject.toml", "bench/*.py")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{head}-dirty" if changed else head


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def cpu_model() -> str:
    listing = Path("/proc/cpuinfo")
    if listing.exists():
        for line in listing.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
