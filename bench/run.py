"""Tacit next to its peers: installs them into an environment of their own, then runs the benches there.

    python3 bench/run.py                    everything; `make bench` does this
    python3 bench/run.py --only noise       one bench
    python3 bench/run.py --quick            smaller sizes, fewer rounds; results are not kept
    python3 bench/run.py --list             the benches and the peers

A peer that cannot be installed or imported is reported with the reason, and the rest go on.
"""

import argparse
import json
import re
import subprocess
import sys
import venv
from hashlib import sha256
from pathlib import Path

from peers import ENVIRONMENT, FAILURES, ROOT, Peer, failures, peers

BENCHES = {
    "noise": "drawing noise: a million at a time, one at a time, growth in time and memory",
    "accounting": "the price of a plan: values and times of the accountants",
    "selection": "choosing, thresholds, randomized response, quantiles",
    "local": "local protocols: a million people, next to numpy doing the same insecurely, and the local libraries",
    "ledger": "durable spends next to SQLite itself, growth, verification",
    "audit": "what the auditor can see, and how fast",
    "accuracy": "errors at equal ε and δ: median, mean, variance, distinct count, group means",
    "accuracy_statements": "statements of several statistics that people type: before, now, and the peers",
    "intervals": "lengths of intervals next to what the noise takes, before and after, and how often they hold",
    "together": "several statistics of a statement: errors and intervals, from one release and one by one",
    "batch": "fifty counts as one plan and one by one: passes over the rows, noise at the same price",
    "bounding": "bounding a table of ten million rows: window functions, OpenDP on Polars, PipelineDP",
    "lasting": "questions that a ledger grants, by the sum of ε and with a part of δ set aside",
    "medians": "the median by city of ten million rows: the exact quantile with the same bounding",
    "anonymity": "k, l and t, Mondrian and optimal generalisation: pycanon, anonypy, anjana, plain DuckDB",
    "counting": "all pairs of 14 columns of ten million rows: chosen rows counted in one pass, and grouping sets",
    "drawing": "questions drawn by another process and in this one",
    "games": "games, frequency lists, noise that follows: quality and cost as players, places and lengths grow",
    "learning": "additive, logistic and linear models: Adult next to private EBM, Opacus, diffprivlib; shapes; speed",
    "learning_settings": "the generated tables on which settings of linear models were found",
    "learning_trees": "trees, forests, naive Bayes, k-means and components on Adult, next to scikit-learn's own",
    "synthesis": "synthetic tables of Adult: errors of two- and three-way tables, learning from them; dpmm, mbi",
    "synthesis_growth": "synthetic tables: time and memory by rows, columns and values",
    "advice": "which mechanism: one ranking for every kind of release, small and very large",
    "exponents": "how time and memory grow, for every mechanism, randomizer, protocol and statistic; ours alone",
    "startup": "import time, command start, installed size",
}
PYTHON = ENVIRONMENT / "bin" / "python"
CONSTRAINTS = ENVIRONMENT / "constraints.txt"
INSTALLED = ENVIRONMENT / "installed.json"


def main() -> int:
    arguments = parse()
    if arguments.list:
        show()
        return 0
    prepare()
    flags = ["--quick"] if arguments.quick else []
    crashed = []
    for name in arguments.only or BENCHES:
        script = str(ROOT / "bench" / f"{name}.py")
        if subprocess.run([PYTHON, "-W", "ignore", script, *flags], check=False).returncode:
            crashed.append(name)
    if crashed:
        print(f"did not finish: {', '.join(crashed)}", file=sys.stderr)
    return len(crashed)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=BENCHES, metavar="BENCH", help="run this bench (repeatable)")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer rounds; results are not kept")
    parser.add_argument("--list", action="store_true", help="the benches and the peers, and stop")
    return parser.parse_args()


def show() -> None:
    print("benches")
    for name, summary in BENCHES.items():
        print(f"  {name:<12}{summary}")
    print("peers")
    reasons = failures()
    ready = done()
    for peer in peers():
        state = reasons.get(peer.package) or ("ready" if peer.package in ready else "not installed yet")
        print(f"  {peer.pins[0]:<24}{state}")


def prepare() -> None:
    """The environment: Tacit as it is in this folder, then each peer on its own."""
    if not PYTHON.exists():
        venv.create(ENVIRONMENT, with_pip=True)
    CONSTRAINTS.write_text("\n".join(locked()) + "\n", encoding="utf-8")
    ready, reasons = done(), {}
    if ready.get("tacit") != project():
        print("installing tacit ...", file=sys.stderr)
        if reason := pip("--editable", str(ROOT)):
            sys.exit(f"tacit itself cannot be installed: {reason}")
        ready["tacit"] = project()
    for peer in peers():
        if ready.get(peer.package) != list(peer.pins):
            print(f"installing {peer.name} ...", file=sys.stderr)
            reason = install(peer)
            if reason:
                reasons[peer.package] = reason
                print(f"  {reason}", file=sys.stderr)
            else:
                ready[peer.package] = list(peer.pins)
    INSTALLED.write_text(json.dumps(ready, indent=1), encoding="utf-8")
    FAILURES.write_text(json.dumps(reasons, indent=1), encoding="utf-8")


def done() -> dict[str, list[str]]:
    """The pins that are installed and import, by package."""
    return json.loads(INSTALLED.read_text(encoding="utf-8")) if INSTALLED.exists() else {}


def project() -> list[str]:
    """What the installation of Tacit itself depends on."""
    files = (ROOT / "pyproject.toml", ROOT / "requirements.lock")
    return [sha256(file.read_bytes()).hexdigest() for file in files]


def locked() -> list[str]:
    """The versions the project itself is locked to: no peer may move them."""
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    return [
        line.removesuffix("\\").strip()
        for line in text.replace(" \\\n    --hash", "\n    --hash").splitlines()
        if re.match(r"[A-Za-z0-9._-]+==", line)
    ]


def install(peer: Peer) -> str:
    """Why the peer cannot be used, or nothing."""
    python = peer.environment / "bin" / "python"
    if not python.exists():
        venv.create(peer.environment, with_pip=True)
    if reason := pip(*peer.pins, python=python):
        return f"failed to install: {reason}"
    trial = subprocess.run(
        [python, "-W", "ignore", "-c", f"import {peer.module}"], capture_output=True, text=True, check=False
    )
    return f"failed to import: {trial.stderr.strip().splitlines()[-1]}" if trial.returncode else ""


def pip(*arguments: str, python: Path = PYTHON) -> str:
    """Install, and return the reason if that failed; beside Tacit only what its own versions allow."""
    command: list[str | Path] = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += [*(["--constraint", CONSTRAINTS] if python == PYTHON else []), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.returncode:
        return ""
    lines = done.stderr.strip().splitlines()
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR")]
    return (errors or lines or ["pip gave no reason"])[0]


if __name__ == "__main__":
    sys.exit(main())
