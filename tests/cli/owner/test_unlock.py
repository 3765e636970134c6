"""Lost answers at the prompt: exit codes, what is shown, and how the owner unlocks an account."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.typing_commands import tacit, tacit_alone
from tests.cli.visits import COUNT, furnish


def test_three_lost_answers_lock_and_unlock(tmp_path: Path) -> None:
    folder = tmp_path
    furnish(folder)
    policy = folder / "visits.toml"
    written = policy.read_text(encoding="utf-8")
    policy.write_text(written + "\n[work]\nseconds = 0.001\n", encoding="utf-8")
    for at in range(3):
        words = ("ask", "visits.toml", f"{COUNT} WHERE spend > {at}", "--epsilon", "0.1", "--analyst", "ada")
        lost = tacit_alone(folder, *words)
        assert (lost.returncode, "no refund" in lost.stderr) == (4, True)
    policy.write_text(written, encoding="utf-8")
    ask = ("ask", "visits.toml", COUNT, "--epsilon", "0.1", "--analyst", "ada")
    locked = tacit(folder, *ask)
    assert locked.returncode == 6
    assert "tacit unlock visits.csv ada --reason" in locked.stderr
    shown = tacit(folder, "budget", "visits.toml").stdout
    assert "ada has lost 3 answers since the last unlock; 3 lock an account; the account is locked" in shown
    assert "One payment costs ε 0.003 at least." in shown
    (account,) = json.loads(tacit(folder, "budget", "visits.toml", "--json").stdout)["accounts"]
    assert (account["strikes"], account["locked"]) == (3, True)
    assert tacit(folder, "unlock", "visits.toml", "ada").returncode == 2  # a reason is needed
    done = tacit(folder, "unlock", "visits.toml", "ada", "--reason", "the limit was a slip", "--owner", "grace")
    assert (done.returncode, done.stdout.startswith("ada can pay again")) == (0, True)
    assert tacit(folder, "unlock", "visits.toml", "ada", "--reason", "again").returncode == 1
    assert tacit(folder, *ask).returncode == 0
    assert "unlocked" in tacit(folder, "log", "visits.toml").stdout
    entries = json.loads(tacit(folder, "log", "visits.toml", "--json").stdout)["entries"]
    (entry,) = [one for one in entries if one["kind"] == "unlocked"]
    assert (entry["owner"], entry["reason"], entry["forgiven"]) == ("grace", "the limit was a slip", [1, 2, 3])
    assert tacit(folder, "verify", "visits.toml").returncode == 0


def test_too_little_is_said_with_what_to_type(tmp_path: Path) -> None:
    folder = tmp_path
    furnish(folder)
    little = tacit(folder, "ask", "visits.toml", COUNT, "--epsilon", "1e-9")
    assert little.returncode == 1
    assert "the least price of a payment: epsilon 0.003" in little.stderr
    assert (
        "too little: a payment is at least ε 0.003"
        in tacit(folder, "plan", "visits.toml", COUNT, "--epsilon", "1e-9").stdout
    )
    assert not (folder / "visits.ledger").exists()
