"""Generated tables of several shapes, on which settings of `tacit.synth` are found; the benches' table plays no part.

    python bench/synthesis_shapes.py                    errors by shape, method and price
    python bench/synthesis_shapes.py --method AIM --epsilon 1

Each shape is codes, sizes and which columns are ordered. Errors are of the model's own tables, all pairs and up to 60
triples, in L1.
"""

import argparse
import time
from itertools import combinations
from typing import Any

import numpy as np

Random = np.random.Generator
Codes = Any
Shape = tuple[Codes, list[int], list[bool]]


def margin(random: Random, size: int, kind: str) -> Any:
    """The law of one column: smooth, one large spike, heaped at round values, or falling like Zipf's."""
    places = np.linspace(0, 1, size)
    if kind == "smooth":
        law = np.exp(-0.5 * ((places - random.uniform(0.2, 0.6)) / random.uniform(0.12, 0.35)) ** 2) + 0.01
    elif kind == "spike":
        law = 1e-4 * random.gamma(0.3, size=size)
        law[0] = random.uniform(2, 10) * max(law.sum(), 0.003)
        law[random.integers(1, size, 8)] += 0.15 * law[0] * random.dirichlet(np.ones(8))
    elif kind == "heaped":
        law = np.exp(-0.5 * ((places - 0.4) / 0.15) ** 2) * np.where(np.arange(size) % 5 == 0, 1.0, 0.12) + 1e-4
        law[int(0.4 * size)] += law.sum()
    else:
        law = 1 / (1 + np.arange(size)) ** random.uniform(0.8, 1.8)
        law = law[random.permutation(size)]
    return law / law.sum()


def mixed(random: Random, width: int) -> tuple[list[int], list[bool], list[Any]]:
    """Columns of all kinds."""
    kinds = random.choice(["smooth", "spike", "heaped", "zipf", "zipf", "zipf"], width)
    sizes = [
        int(random.choice([2, 2, 5, 7, 9, 16, 42]) if k == "zipf" else random.choice([16, 75, 100])) for k in kinds
    ]
    return sizes, [k != "zipf" for k in kinds], [margin(random, s, k) for s, k in zip(sizes, kinds, strict=True)]


def by_ranks(scores: Any, law: Any) -> Codes:
    """Values with this law, in the order of the scores."""
    ranks = (np.argsort(np.argsort(scores)) + 0.5) / len(scores)
    return np.minimum(np.searchsorted(np.cumsum(law), ranks), len(law) - 1)


def factors(random: Random, rows: int, width: int, strength: float) -> Shape:
    """Ranks of sums of three hidden numbers: all columns hang together a little, some much."""
    sizes, ordered, laws = mixed(random, width)
    hidden, loads = random.normal(size=(rows, 3)), random.normal(size=(3, width)) * strength
    scores = hidden @ loads + random.normal(size=(rows, width))
    return np.stack([by_ranks(scores[:, at], laws[at]) for at in range(width)], axis=1), sizes, ordered


def classes(random: Random, rows: int, width: int, number: int) -> Shape:
    """Hidden classes, each with a law of its own in some of the columns."""
    sizes, ordered, laws = mixed(random, width)
    hidden = random.choice(number, rows, p=random.dirichlet(np.full(number, 2.0)))
    made = np.zeros((rows, width), dtype=np.int64)
    for at in range(width):
        for one in range(number):
            own = laws[at]
            if random.random() < 0.6:
                own = laws[at] * random.gamma(0.7, size=sizes[at]) + 1e-9
            mine = hidden == one
            made[mine, at] = random.choice(sizes[at], int(mine.sum()), p=own / own.sum())
    return made, sizes, ordered


def tree(random: Random, rows: int, width: int, copied: float) -> Shape:
    """Each column follows one that came before it, more or less."""
    sizes, ordered, laws = mixed(random, width)
    scores = random.normal(size=(rows, width))
    for at in range(1, width):
        part = random.beta(2.5, 1.5) * copied
        scores[:, at] = part * scores[:, random.integers(0, at)] + np.sqrt(1 - part**2) * scores[:, at]
    return np.stack([by_ranks(scores[:, at], laws[at]) for at in range(width)], axis=1), sizes, ordered


def survey(random: Random, rows: int, width: int) -> Shape:
    """Like a census: two hidden numbers, columns that follow another one closely, lists in no order."""
    sizes, ordered, laws = mixed(random, width)
    hidden = random.normal(size=(rows, 2))
    loads = random.normal(size=(2, width)) * random.uniform(0.1, 1.0, width)
    scores = hidden @ loads + random.normal(size=(rows, width))
    for at in range(3, width):
        if random.random() < 0.35:
            part, other = random.choice([1.0, 0.95, 0.8]), random.integers(0, at)
            own = scores[:, at] / scores[:, at].std()
            scores[:, at] = part * scores[:, other] / scores[:, other].std() + np.sqrt(1 - part**2) * own
    made = np.stack([by_ranks(scores[:, at], laws[at]) for at in range(width)], axis=1)
    for at in range(width):
        if not ordered[at] and sizes[at] > 2:
            made[:, at] = random.permutation(sizes[at])[made[:, at]]
    return made, sizes, ordered


SHAPES: dict[str, Any] = {
    "factors": lambda random: factors(random, 50_000, 14, 1.0),
    "loose factors": lambda random: factors(random, 40_000, 12, 0.3),
    "classes": lambda random: classes(random, 50_000, 14, 6),
    "many classes": lambda random: classes(random, 100_000, 10, 20),
    "tree": lambda random: tree(random, 50_000, 15, 1.0),
    "wide tree": lambda random: tree(random, 25_000, 24, 1.0),
    "survey": lambda random: survey(random, 50_000, 14),
    "large": lambda random: factors(random, 300_000, 10, 0.5),
}


def tables(rows: Codes, sizes: list[int]) -> dict[tuple[int, ...], Any]:
    """The true shares of all pairs, and of some triples of at most 10 000 cells."""
    width, found = len(sizes), {}
    triples = [one for one in combinations(range(width), 3) if np.prod([sizes[at] for at in one]) <= 10_000]
    picked = np.random.default_rng(0).permutation(len(triples))[:60]
    for table in [*combinations(range(width), 2), *(triples[at] for at in picked)]:
        cells = np.zeros(len(rows), dtype=np.int64)
        for at in table:
            cells = cells * sizes[at] + rows[:, at]
        shape = tuple(sizes[at] for at in table)
        found[table] = (np.bincount(cells, minlength=int(np.prod(shape))) / len(rows)).reshape(shape)
    return found


def errors(made: Any, true: dict[tuple[int, ...], Any]) -> tuple[float, float]:
    """Mean distances of the model's tables of two and of three."""
    names, by_width = made.domain.names, {2: [], 3: []}
    for table, shares in true.items():
        by_width[len(table)].append(float(np.abs(made.table(*(names[at] for at in table)) - shares).sum()))
    return float(np.mean(by_width[2])), float(np.mean(by_width[3] or [0.0]))


def shape_of(name: str, seed: int = 1) -> tuple[Any, Any, dict[tuple[int, ...], Any]]:
    """A frame, its domain, and its true tables."""
    from tacit.synth import Domain, Listed

    rows, sizes, ordered = SHAPES[name](np.random.default_rng([seed, *name.encode()]))
    columns = tuple(
        Listed(f"c{at}", tuple(range(size)), ordered=flag)
        for at, (size, flag) in enumerate(zip(sizes, ordered, strict=True))
    )
    return {f"c{at}": rows[:, at] for at in range(len(sizes))}, Domain(columns), tables(rows, sizes)


def main() -> None:
    import tacit.synth

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--method", action="append", metavar="NAME")
    parser.add_argument("--epsilon", action="append", metavar="E")
    parser.add_argument("--runs", type=int, default=2)
    given = parser.parse_args()
    for method in given.method or ["Pairs"]:
        for epsilon in given.epsilon or ["0.1", "1", "10"]:
            for name in SHAPES:
                frame, domain, true = shape_of(name)
                found = []
                for _ in range(given.runs):
                    start = time.process_time()
                    made = getattr(tacit.synth, method)(epsilon=epsilon, delta="1e-9").fit(frame, domain=domain)
                    found.append((*errors(made, true), time.process_time() - start))
                two, three, cpu = np.mean(found, axis=0)
                print(f"{method:<12}{epsilon:>5}  {name:<15}{two:.4f} / {three:.4f}  {cpu:6.1f} s", flush=True)


if __name__ == "__main__":
    main()
