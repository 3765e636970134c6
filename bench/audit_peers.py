"""Libraries of the package index, audited through recorded outcomes: each runs in an environment of its own.

    python -m venv peers && peers/bin/pip install python-dp==1.1.5 diffprivlib==0.6.6 'scikit-learn<1.8' \\
        multi-freq-ldpy==0.2.5 pure-ldp==1.2.0 statsmodels seaborn xxhash==3.5.0
    peers/bin/python bench/audit_peers.py record outcomes/ 40000
    python bench/audit_peers.py judge outcomes/
"""

import argparse
import json
import secrets
import sys
from collections.abc import Callable, Iterator
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

Subject = tuple[str, str, tuple[Any, Any], str, Callable[[Any], Any]]


def subjects() -> Iterator[Subject]:
    """(library, call, neighbours, claim, function)."""
    for make in (diffprivlib, pydp, multi_freq_ldpy, pure_ldp):
        try:
            yield from make()
        except ImportError as error:
            print(f"{make.__name__}: {error}", file=sys.stderr)


def diffprivlib() -> Iterator[Subject]:
    mechanisms = import_module("diffprivlib.mechanisms")
    one = {"epsilon": 1, "sensitivity": 1}
    for name, options, pair, claim in (
        ("Laplace", one, (0.0, 1.0), "pure 1"),
        ("Laplace", {"epsilon": 0.01, "sensitivity": 1}, (100.0, 101.0), "pure 0.01"),
        ("Geometric", one, (0, 1), "pure 1"),
        ("LaplaceTruncated", one | {"lower": 0, "upper": 4}, (0.0, 1.0), "pure 1"),
        ("LaplaceBoundedDomain", one | {"lower": 0, "upper": 4}, (0.0, 1.0), "pure 1"),
        ("Staircase", one, (0.0, 1.0), "pure 1"),
        ("Snapping", one | {"lower": -10, "upper": 10}, (0.0, 1.0), "pure 1"),
        ("GaussianAnalytic", one | {"delta": 0.001}, (0.0, 1.0), "approx 1 0.001"),
        ("Binary", {"epsilon": 1, "value0": "a", "value1": "b"}, ("a", "b"), "pure 1"),
    ):
        call = f"{name}({', '.join(f'{k}={v!r}' for k, v in options.items())}).randomise"
        yield "diffprivlib", call, pair, claim, getattr(mechanisms, name)(**options).randomise


def pydp() -> Iterator[Subject]:
    kind = import_module("pydp.algorithms.numerical_mechanisms").LaplaceMechanism
    yield "python-dp", "LaplaceMechanism(1.0, 1.0).add_noise", (0.0, 1.0), "pure 1", kind(1.0, 1.0).add_noise
    far = kind(0.01, 1.0).add_noise
    yield "python-dp", "LaplaceMechanism(0.01, 1.0).add_noise", (100.0, 101.0), "pure 0.01", far


def multi_freq_ldpy() -> Iterator[Subject]:
    home = "multi_freq_ldpy.pure_frequency_oracles"
    for name, options in (("GRR", ()), ("UE", (True,)), ("SS", ())):
        client = getattr(import_module(f"{home}.{name}"), f"{name}_Client")
        shown = f"{name}_Client(x, 4, 1{''.join(f', {one}' for one in options)})"
        yield "multi-freq-ldpy", shown, (0, 1), "pure 1", lambda x, c=client, o=options: c(x, 4, 1, *o)


def pure_ldp() -> Iterator[Subject]:
    oracles = import_module("pure_ldp.frequency_oracles")
    yield "pure-ldp", "DEClient(epsilon=1, d=4).privatise", (1, 2), "pure 1", oracles.DEClient(epsilon=1, d=4).privatise
    for optimised in (True, False):
        client = oracles.UEClient(epsilon=1, d=4, use_oue=optimised)
        yield "pure-ldp", f"UEClient(epsilon=1, d=4, use_oue={optimised}).privatise", (1, 2), "pure 1", client.privatise
    server = oracles.RAPPORServer(f=0.5, m=16, k=2, d=4)
    client = oracles.RAPPORClient(f=0.5, m=16, hash_funcs=server.get_hash_funcs())
    yield "pure-ldp", "RAPPORClient(f=0.5, m=16, k=2).privatise", (1, 2), "pure 4.3945", client.privatise


def plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else repr(value)


def record(folder: Path, count: int) -> None:
    """Two files for each subject, neighbours in turns by a coin, and what they are."""
    folder.mkdir(parents=True, exist_ok=True)
    index = []
    for i, (library, call, pair, claim, function) in enumerate(subjects()):
        names = [f"{i}-{side}.jsonl" for side in (0, 1)]
        files = [(folder / name).open("w", encoding="utf-8") for name in names]
        for _ in range(count):
            turn = secrets.randbelow(2)
            for side in (turn, 1 - turn):
                print(json.dumps(function(pair[side]), default=plain), file=files[side])
        for file in files:
            file.close()
        version = metadata.version(library)
        index.append({"library": library, "version": version, "call": call, "pair": repr(pair), "claim": claim})
        index[-1] |= {"files": names}
        print(library, version, call, flush=True)
        (folder / "index.json").write_text(json.dumps(index), encoding="utf-8")


def judge(folder: Path) -> None:
    """The audits, as a table."""
    from peers import load
    from tables import Column, Table, publish

    words, calls = load("tacit.cli.audit.words"), load("tacit.auditing.calls")
    rows = []
    for one in json.loads((folder / "index.json").read_text(encoding="utf-8")):
        outcomes = calls.Recorded(*(folder / name for name in one.pop("files")))
        found = load("tacit.auditing.audit").audit(outcomes, claim=words.read_claim(one["claim"]))
        verdict = "violated" if found.violated else "blind" if found.blind else "not disproved"
        rows.append({**one, "verdict": verdict, "eps": found.epsilon_lower, "samples": found.samples})
        rows[-1] |= {"event": found.blind or found.event}
    columns = [Column(key, key) for key in ("library", "version", "call", "pair", "claim", "verdict")]
    columns += [Column("eps", "ε proven", lambda value: f"{value:.3f}"), Column("samples", "samples")]
    columns.append(Column("event", "event", lambda text: text[:80]))
    publish("audit_peers", [Table("recorded outcomes, confidence 99.9%", columns, rows)], quick=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("step", choices=("record", "judge"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("count", type=int, nargs="?", default=40_000)
    options = parser.parse_args()
    if options.step == "record":
        record(options.folder, options.count)
    else:
        judge(options.folder)


if __name__ == "__main__":
    main()
