"""`tacit demo`: the main job on a table that it makes up, so that nothing has to be downloaded or trusted."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import click
import numpy as np
import numpy.typing as npt

from tacit.mechanisms.discrete_laplace import DiscreteLaplace
from tacit.mechanisms.gaussian import Gaussian
from tacit.noise.coins import uniform_below
from tacit.noise.entropy import BitSource, Entropy
from tacit.noise.gaussian import RoundedGaussianSampler
from tacit.privacy import Guarantee, compose

__all__ = ["demo"]

CITIES = ("Aarhus", "Bergen", "Ghent", "Lund", "Porto", "Turku", "Utrecht", "Łódź")
_SHARES = (24, 18, 15, 13, 11, 9, 7, 3)
_AGE_BOUND = 100


@click.command()
@click.option(
    "--rows", default=20_000, show_default=True, type=click.IntRange(1, 10_000_000), help="Size of the table."
)
@click.option(
    "--out",
    default=Path("demo-output"),
    show_default=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the plot goes.",
)
def demo(rows: int, out: Path) -> None:
    """Private answers about a generated table, with error bars, the price, and a plot."""
    from rich.console import Console  # heavy, and needed here only
    from rich.table import Table

    people = _generate(rows, Entropy())
    console = Console(highlight=False)
    console.print(f"A table of people was made up: [bold]city, age[/bold]. One row is one person, {rows:,} rows.")
    console.print("Each answer is noisy on purpose: whoever reads it learns next to nothing about any one person.\n")

    answers = _ask(people)
    table = Table("question", "answer", "95% interval for the noise", "price", title_justify="left")
    for answer in answers:
        for row in answer.rows():
            table.add_row(*row)
    console.print(table)
    spent = compose([answer.price for answer in answers])
    delta = 1e-6
    console.print(f"\nTogether: ε = {spent.epsilon(delta):.3f} at δ = {delta:g}, by {len(answers)} questions.")
    _plot(answers[-1], out)


@dataclass(frozen=True, slots=True)
class _Answer:
    """Released numbers, each with its interval and the price of all of them together."""

    question: str
    labels: tuple[str, ...]
    values: tuple[float, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]
    price: Guarantee
    digits: int = 0

    def rows(self) -> list[tuple[str, str, str, str]]:
        made = []
        for i, label in enumerate(self.labels):
            show = f",.{self.digits}f"
            interval = f"{self.lows[i]:{show}} to {self.highs[i]:{show}}"
            name = f"{self.question}{label}" if i == 0 or not label else f"  {label}"
            made.append((name, f"{self.values[i]:{show}}", interval, repr(self.price) if i == 0 else ""))
        return made


def _generate(rows: int, entropy: BitSource) -> dict[str, npt.NDArray[np.int64]]:
    """Made-up people: nothing here is anybody's, so any generator would do."""
    ages = 41 + RoundedGaussianSampler(Fraction(17**2)).integers(rows, entropy).astype(np.int64)
    draws = uniform_below(sum(_SHARES), rows, entropy).astype(np.int64)
    cities = np.searchsorted(np.cumsum(_SHARES), draws, side="right").astype(np.int64)
    return {"age": np.clip(ages, 0, 110), "city": cities}


def _ask(people: dict[str, npt.NDArray[np.int64]]) -> list[_Answer]:
    age = np.clip(people["age"], 0, _AGE_BOUND)
    counted = DiscreteLaplace(epsilon="0.1", sensitivity=1)
    older = _count("people of 40 or more", int((age >= 40).sum()), counted)
    everyone = _count("people in all", int(age.size), counted)
    by_city = DiscreteLaplace(epsilon="0.2", sensitivity=1)
    noisy = by_city.release(np.bincount(people["city"], minlength=len(CITIES)))
    error = by_city.accuracy("0.05")
    cities = _Answer(
        "people by city: ",
        CITIES,
        tuple(float(n) for n in noisy),
        tuple(float(n) - error for n in noisy),
        tuple(float(n) + error for n in noisy),
        by_city.guarantee,
    )
    return [older, everyone, _mean_age(int(age.sum()), everyone), cities]


def _count(question: str, true: int, mechanism: DiscreteLaplace) -> _Answer:
    noisy = float(mechanism.release(true))
    error = mechanism.accuracy("0.05")
    return _Answer(question, ("",), (noisy,), (noisy - error,), (noisy + error,), mechanism.guarantee)


def _mean_age(total: int, everyone: _Answer) -> _Answer:
    """A noisy sum over the count already paid for; the interval holds if both errors do, 97.5% each."""
    summed = Gaussian(rho="0.005", sensitivity=_AGE_BOUND)
    noisy, error = summed.release(total), summed.accuracy("0.025")
    count = max(everyone.values[0], 1.0)
    slack = DiscreteLaplace(epsilon="0.1", sensitivity=1).accuracy("0.025")
    low, middle, high = (
        min(max(mean, 0.0), float(_AGE_BOUND))  # free: an average of ages lies within their bounds
        for mean in ((noisy - error) / (count + slack), noisy / count, (noisy + error) / max(count - slack, 1.0))
    )
    return _Answer(f"average age, bound {_AGE_BOUND}", ("",), (middle,), (low,), (high,), summed.guarantee, digits=2)


def _plot(answer: _Answer, out: Path) -> None:
    from tacit.plots.answers import bars_with_intervals

    try:
        figure = bars_with_intervals(
            answer.labels,
            answer.values,
            answer.lows,
            answer.highs,
            title="People by city: private counts with 95% intervals",
            unit="people",
        )
    except ModuleNotFoundError:
        click.echo('No plot: matplotlib is not installed. Add it with  pip install "tacit[plots]".')
        return
    path = out / "people_by_city.png"
    try:
        out.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise click.FileError(str(path), error.strerror) from None
    click.echo(f"The plot is in {path}.")
