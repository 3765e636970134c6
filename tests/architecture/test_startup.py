"""What `import tacit` and `tacit --help` load: nothing heavy."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("numpy", "flint", "cryptography", "rich", "click", "matplotlib", "pandas", "scipy", "duckdb", "sqlglot")


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


def test_a_question_loads_no_accountant() -> None:
    script = "import sys, tacit.cli.ask; print(*(m for m in sys.modules if m.startswith('tacit.privacy.loss')))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []


def test_import_costs_at_most_one_point_six_times_numpy() -> None:
    """CPU time, the least of several runs each, interleaved: a ratio within one run."""
    timer = "import resource; r = resource.getrusage(resource.RUSAGE_SELF); print(r.ru_utime + r.ru_stime)"

    def cost(module: str) -> float:
        code = f"import {module}\n{timer}"
        return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)

    pairs = [(cost("tacit"), cost("numpy")) for _ in range(5)]
    assert min(ours for ours, _ in pairs) <= 1.6 * min(theirs for _, theirs in pairs)
