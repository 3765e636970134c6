"""What `import tacit` and `tacit --help` load: nothing heavy."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

HEAVY = ("numpy", "flint", "cryptography", "click", "matplotlib", "pandas", "scipy", "duckdb", "sqlglot")


def loaded_by(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint('\\n'.join(m for m in sys.modules if '.' not in m))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(ran.stdout.split()) & set(HEAVY)


@pytest.mark.parametrize(
    ("code", "allowed"),
    [
        ("import tacit", set()),
        ("import tacit; dir(tacit)", set()),
        ("import tacit; tacit.PureDP(1) + tacit.ZCDP(1)", set()),
        ("import tacit; tacit.Laplace(epsilon=1, sensitivity=1).release(3.5)", {"numpy", "cryptography"}),
        ("import tacit; tacit.Gaussian(rho=1, sensitivity=1).release([1.5] * 10)", {"numpy", "cryptography"}),
        ("import tacit.cli.main", {"click"}),
        ("import tacit.plots.answers", set()),
    ],
)
def test_optional_packages_stay_unloaded_until_used(code: str, allowed: set[str]) -> None:
    # An open decision may load python-flint: rare, but right.
    assert loaded_by(code) - {"flint"} <= allowed


def test_the_check_sees_a_loaded_package() -> None:
    assert "numpy" in loaded_by("import numpy")


def test_a_plain_install_brings_six_packages() -> None:
    """What everybody downloads; a seventh is a decision (CONTRIBUTING.md), extras are for the rest."""
    written = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    names = {one.split(">")[0] for one in written}
    assert names == {"numpy", "cryptography", "python-flint", "duckdb", "sqlglot", "click"}


def test_a_question_loads_no_accountant() -> None:
    script = "import sys, tacit.cli.analyst.ask; print(*(m for m in sys.modules if m.startswith('tacit.privacy.loss')))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []


def test_import_loads_next_to_nothing() -> None:
    """numpy loads about 150 modules."""
    script = "import sys; before = set(sys.modules); import tacit; print(*(set(sys.modules) - before))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "tacit" in ran.stdout.split()
    assert len(ran.stdout.split()) <= 12, ran.stdout
