"""Local protocols: a million people, ε = 1, next to numpy doing the same insecurely, and next to the peers.

Numpy's versions draw from its own generator, in blocks that fit into memory, and give the same reports; its servers
unpack bits and sum them, or loop over the categories. pure-ldp and multi-freq-ldpy call a function for each person, so
that they get fewer people: times are per person. Where both have a protocol, the faster one counts.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from measure import AtMost, Faster, Target
from peers import load
from selection import Action, duel, entry
from tables import Table, publish

EPSILON = 1.0
BLOCK_CELLS = 1 << 23


def randomizer(name: str, k: int) -> Any:
    return getattr(load("tacit.local"), name)(epsilon=1, categories=range(k))


# --- numpy, insecurely --------------------------------------------------------------------------------------------


def blocks(n: int, k: int) -> list[slice]:
    step = max(1, BLOCK_CELLS // k)
    return [slice(start, start + step) for start in range(0, n, step)]


def numpy_kary(r: Any, values: Any, rng: Any) -> Any:
    k, truth = len(r.categories), r.support.own
    lies = rng.random(values.size) >= truth
    others = (values + 1 + rng.integers(0, k - 1, values.size)) % k
    return np.where(lies, others, values)


def numpy_unary(r: Any, values: Any, rng: Any) -> Any:
    k, p, q = len(r.categories), r.support.own, r.support.other
    out = []
    for block in blocks(values.size, k):
        part = values[block]
        bits = rng.random((part.size, k)) < q
        bits[np.arange(part.size), part] = rng.random(part.size) < p
        out.append(np.packbits(bits, axis=1))
    return np.concatenate(out)


def numpy_subset(r: Any, values: Any, rng: Any) -> Any:
    k, d, p = len(r.categories), r.size, r.support.own
    out = []
    for block in blocks(values.size, k):
        part = values[block]
        keys, rows = rng.random((part.size, k)), np.arange(part.size)
        keys[rows, part] = np.where(rng.random(part.size) < p, -1.0, 2.0)
        chosen = np.argpartition(keys, d - 1, axis=1)[:, :d]
        bits = np.zeros((part.size, k), dtype=np.bool_)
        bits[rows[:, None], chosen] = True
        out.append(np.packbits(bits, axis=1))
    return np.concatenate(out)


def numpy_hashing(r: Any, values: Any, rng: Any) -> Any:
    g = r.buckets
    columns, rows = (len(r.categories) - 1).bit_length(), g.bit_length() - 1
    matrices = rng.integers(0, 1 << (columns + rows - 1), values.size)
    image = np.zeros(values.size, dtype=np.int64)
    for row in range(rows):
        image |= (np.bitwise_count((matrices >> row) & values).astype(np.int64) & 1) << row
    lies = rng.random(values.size) >= r.support.own
    told = np.where(lies, (image + 1 + rng.integers(0, g - 1, values.size)) % g, image)
    return matrices << rows | told


def numpy_hadamard(r: Any, values: Any, rng: Any) -> Any:
    size = 1 << len(r.categories).bit_length()
    columns = values + 1
    rows = rng.integers(0, size, values.size)
    odd = (np.bitwise_count(rows & columns) & 1).astype(np.bool_)
    even = rng.random(values.size) < r.support.own
    return np.where(odd == even, rows ^ (columns & -columns), rows)


def numpy_counts(r: Any, reports: Any) -> Any:
    return np.bincount(reports, minlength=len(r.categories))


def numpy_columns(r: Any, reports: Any) -> Any:
    k = len(r.categories)
    return sum(np.unpackbits(reports[b], axis=1, count=k).sum(axis=0) for b in blocks(len(reports), k))


def numpy_hash_loop(r: Any, reports: Any) -> Any:
    rows = r.buckets.bit_length() - 1
    matrices, told = reports >> rows, reports & (r.buckets - 1)
    out = []
    for v in range(len(r.categories)):
        image = np.zeros(reports.shape, dtype=reports.dtype)
        for row in range(rows):
            image |= (np.bitwise_count((matrices >> row) & v) & 1).astype(reports.dtype) << row
        out.append(int((image == told).sum()))
    return np.array(out)


def numpy_row_loop(r: Any, reports: Any) -> Any:
    return np.array([int((np.bitwise_count(reports & (v + 1)) & 1 == 0).sum()) for v in range(len(r.categories))])


CLIENTS: dict[str, Callable[..., Any]] = {
    "KaryResponse": numpy_kary,
    "UnaryEncoding": numpy_unary,
    "LocalHashing": numpy_hashing,
    "HadamardResponse": numpy_hadamard,
    "SubsetSelection": numpy_subset,
}
SERVERS: dict[str, Callable[..., Any]] = {
    "KaryResponse": numpy_counts,
    "UnaryEncoding": numpy_columns,
    "LocalHashing": numpy_hash_loop,
    "HadamardResponse": numpy_row_loop,
    "SubsetSelection": numpy_columns,
}


def server_target(name: str, k: int) -> Target | None:
    if name == "LocalHashing":
        return AtMost(0.1 if k <= 100 else 0.02)
    return None if name == "KaryResponse" else AtMost(0.6)


# --- the peers: one call for each person ----------------------------------------------------------------------------


def pure_ldp(client: str, server: str, k: int, values: Any, **options: Any) -> tuple[Action, Action]:
    home = load("pure_ldp.frequency_oracles")
    mapped = {"index_mapper": lambda value: value}
    receive = getattr(home, server)(EPSILON, k, **options, **mapped)
    hashes = {"hash_funcs": receive.get_hash_funcs()} if server == "HadamardResponseServer" else {}
    send = getattr(home, client)(EPSILON, k, **options, **hashes, **mapped)
    listed = values.tolist()
    reports = [send.privatise(value) for value in listed]

    def serve() -> Any:
        receive.reset()
        for report in reports:
            receive.aggregate(report)
        return receive._update_estimates()

    return lambda: [send.privatise(value) for value in listed], serve


def multi_freq(module: str, prefix: str, k: int, values: Any, *, sized: bool = True) -> tuple[Action, Action]:
    home = load(f"multi_freq_ldpy.pure_frequency_oracles.{module}")
    send, receive = getattr(home, f"{prefix}_Client"), getattr(home, f"{prefix}_Aggregator_MI")
    listed = values.tolist()
    reports = [send(value, k, EPSILON) for value in listed]
    gather = (lambda: receive(reports, k, EPSILON)) if sized else (lambda: receive(reports, EPSILON))
    return lambda: [send(value, k, EPSILON) for value in listed], gather


PEERS: dict[str, dict[str, Callable[[int, Any], tuple[Action, Action]]]] = {
    "KaryResponse": {
        "pure-ldp": lambda k, v: pure_ldp("DEClient", "DEServer", k, v),
        "multi-freq-ldpy": lambda k, v: multi_freq("GRR", "GRR", k, v),
    },
    "UnaryEncoding": {
        "pure-ldp": lambda k, v: pure_ldp("UEClient", "UEServer", k, v, use_oue=True),
        "multi-freq-ldpy": lambda k, v: multi_freq("UE", "UE", k, v, sized=False),
    },
    "LocalHashing": {
        "pure-ldp": lambda k, v: pure_ldp("LHClient", "LHServer", k, v, use_olh=True),
        "multi-freq-ldpy": lambda k, v: multi_freq("LH", "LH", k, v),
    },
    "HadamardResponse": {"pure-ldp": lambda k, v: pure_ldp("HadamardResponseClient", "HadamardResponseServer", k, v)},
    "SubsetSelection": {"multi-freq-ldpy": lambda k, v: multi_freq("SS", "SS", k, v)},
}
CLIENT_FACTOR = {"SubsetSelection": 4}
SERVER_FACTOR = {"LocalHashing": 1000, "SubsetSelection": 100, "UnaryEncoding": 8}


def tables(name: str, k: int, people: int, few: int, rounds: int) -> list[Table]:
    r = randomizer(name, k)
    rng = np.random.default_rng(1)
    values = rng.integers(0, k, people)
    reports = r.randomize(values)
    some = values[:few]
    both = {peer: _once(build, k, some) for peer, build in PEERS[name].items()}
    client = Faster(CLIENT_FACTOR.get(name, 15))
    server = Faster(SERVER_FACTOR.get(name, 20))
    return [
        duel(
            f"{name}, client, k = {k}",
            [
                entry("tacit", lambda: lambda: r.randomize(values), people, rounds),
                entry("numpy", lambda: lambda: CLIENTS[name](r, values, rng), people, rounds, AtMost(1.5)),
                *(entry(peer, lambda peer=peer: both[peer]()[0], few, 2, client) for peer in both),
            ],
        ),
        duel(
            f"{name}, server, k = {k}",
            [
                entry("tacit", lambda: lambda: r.estimate(reports), people, rounds),
                entry("numpy", lambda: lambda: SERVERS[name](r, reports), people, 1, server_target(name, k)),
                *(entry(peer, lambda peer=peer: both[peer]()[1], few, 2, server) for peer in both),
            ],
        ),
    ]


def _once(
    build: Callable[[int, Any], tuple[Action, Action]], k: int, values: Any
) -> Callable[[], tuple[Action, Action]]:
    """Built when first asked for, so that a peer that fails is told as one that does."""
    made: list[tuple[Action, Action]] = []

    def get() -> tuple[Action, Action]:
        if not made:
            made.append(build(k, values))
        return made[0]

    return get


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer people and rounds")
    quick = parser.parse_args().quick
    people, few, rounds = (100_000, 300, 2) if quick else (1_000_000, 2_000, 3)
    made = [table for k in (100, 1000) for name in CLIENTS for table in tables(name, k, people, few, rounds)]
    publish("local", made, quick=quick)


if __name__ == "__main__":
    main()
