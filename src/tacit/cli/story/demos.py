"""The short demos of `tacit demo NAME`: each shows one thing on made-up data, in a few seconds, with real draws."""

from __future__ import annotations

import contextlib
import math
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from tacit.tables.session.table import Table

__all__ = ["DEMOS", "Demo", "say", "typed"]


@dataclass(frozen=True, slots=True)
class Demo:
    """What a demo shows, in one line, and how."""

    shows: str
    run: Callable[[], None]


def say(text: str) -> None:
    """A line of the story."""
    click.secho(f"# {text}", dim=True)


def typed(line: str) -> None:
    """A line that was typed, in bold."""
    click.secho(f"$ {line}", bold=True)


def _averaging() -> None:
    import numpy as np

    from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace

    truth, times = 1234, 10_000
    say(f"A count of {truth:,} people is asked at ε = 0.1: each answer is off by about ten, so it hides everybody.")
    noisy = DiscreteLaplace(epsilon="0.1", sensitivity=1)
    typed('DiscreteLaplace(epsilon="0.1", sensitivity=1).release(count)     # five times')
    click.echo("  " + "  ".join(str(noisy.release(truth)) for _ in range(5)))
    say(f"Asked {times:,} times with fresh noise, and averaged:")
    mean = float(np.mean(noisy.release(np.full(times, truth))))
    found = "exact" if round(mean) == truth else "nearly exact"
    click.echo(f"  {mean:,.2f}: {found}. In all that cost ε = {times // 10:,}, which promises nothing.")
    say("A ledger keeps a budget: of a table of 400 people, ε = 0.3 in all. Asking the same again costs nothing:")
    with _people(400) as table:
        first = table.sql("SELECT COUNT(*) AS n FROM people", epsilon="0.1")
        again = table.sql("SELECT COUNT(*) AS n FROM people", epsilon="0.1")
        click.echo(f"  first {first['n'].value:,}, asked again {again['n'].value:,}; left {_left(table)}")
        say("Asked afresh, it pays each time, and then refuses:")
        _until_refused(table)


def _left(table: Table) -> str:
    """The ε that is left, in words."""
    stated = table.remaining.as_approx()
    return "something" if stated is None else f"ε {float(stated[0]):g}"


def _until_refused(table: Table) -> None:
    from tacit.errors import BudgetExceeded

    for _ in range(4):
        try:
            answer = table.sql("SELECT COUNT(*) AS n FROM people", epsilon="0.1", fresh=True)
        except BudgetExceeded as refused:
            click.echo(f"  tacit: {refused}")
            return
        click.echo(f"  {answer['n'].value:,}; left {_left(table)}")


@contextlib.contextmanager
def _people(count: int) -> Iterator[Table]:
    """A table of made-up people in a folder that is gone afterwards, with a ledger of its own."""
    from tacit.privacy.guarantees.pure import PureDP
    from tacit.tables.session.open import open as open_table

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.csv"
        path.write_text("person\n" + "\n".join(f"p{i}" for i in range(count)) + "\n", encoding="utf-8")
        with open_table(path, unit="person", budget=PureDP("0.3"), types={"person": "text"}) as table:
            yield table


def _delta() -> None:
    from tacit.noise.coins import uniform_below
    from tacit.noise.entropy import system_entropy

    people = [f"Person {i}, born {1930 + i % 80}" for i in range(10_000)]
    say(f"A mechanism that looks harmless: of {len(people):,} records it prints each with probability δ, as it is.")
    say("For two data sets that differ in one person, no event differs by more than δ: it keeps (0, δ)-privacy.")
    for power, name in ((3, "0.001"), (4, "0.0001"), (9, "1e-9")):
        drawn = uniform_below(10**power, len(people), system_entropy())
        told = [people[i] for i in range(len(people)) if drawn[i] == 0]
        shown = "; ".join(told[:2]) + ("; …" if len(told) > 2 else "")
        click.echo(f"  δ = {name}: {len(told)} printed in full{': ' + shown if told else ''}")
    common = f"{len(people) ** -1.1:.0e}".replace("e-0", "e-")
    say(f"So δ must be far below one in the number of people: n^-1.1, here {common}, is common.")
    say("A policy that declares its population refuses a δ of one in so many, or more.")


def _survey() -> None:
    import numpy as np

    from tacit.local.categories.kary import KaryResponse

    people, yes = 10_000, 0.12
    truth = np.arange(people) < yes * people
    response = KaryResponse(epsilon=1, categories=(False, True))
    say(f"{people:,} people are asked what nobody likes to admit; {yes:.0%} would have to say yes. ε = 1 each.")
    say("Every phone lies now and then, by a coin of its own. What three people with the answer no report:")
    click.echo("  " + ", ".join("yes" if response.randomize(False) else "no" for _ in range(3)))
    say("No report proves anything. All of them together:")
    told = response.randomize(truth)
    estimate = response.estimate(told)
    low, high = (float(end[1]) for end in (estimate.intervals().low, estimate.intervals().high))
    click.echo(f"  {float(np.mean(told)):.1%} reported yes; lies taken out: {float(estimate.values[1]):.1%}")
    click.echo(f"  between {low:.1%} and {high:.1%}, nineteen times in twenty; the truth is {yes:.1%}")
    say("Which protocol for twelve answers? tacit advise survey --categories 12 --people 10000 --epsilon 1")


def _shuffle() -> None:
    import numpy as np

    from tacit.local.categories.kary import KaryResponse
    from tacit.local.shuffle.binary_sum import BinarySum
    from tacit.mechanisms.additive.discrete_laplace import DiscreteLaplace

    people = 10_000
    truth = np.arange(people) < 1234
    say(
        f"How many of {people:,} people? 1,234 do. The same promise to each, ε = 1 (δ = 1e-6), by three kinds of trust."
    )
    central = DiscreteLaplace(epsilon=1, sensitivity=1)
    click.echo(f"  a curator, who sees all values:      {central.release(1234):>7,}   off by about 1")
    mixed = BinarySum(n=people, epsilon=1, delta="1e-6")
    found = float(mixed.estimate(mixed.messages(truth)).unbiased)
    click.echo(f"  a shuffler, who only mixes messages: {found:>7,.0f}   off by about {mixed.standard_error:.0f}")
    response = KaryResponse(epsilon=1, categories=(False, True))
    local = float(response.estimate(response.randomize(truth)).counts[1])
    error = response.standard_error(people, 0.12) * people
    click.echo(f"  nobody:                              {local:>7,.0f}   off by about {error:.0f}")
    say("Each phone sends its bit and one bit of noise; mixed, only the number of ones can be seen.")


def _auction() -> None:
    from tacit.games.auction import DigitalGoods, optimal_revenue

    bids = [1, 1, 1, 3.01]
    say("Four bidders for copies of one film bid 1, 1, 1 and 3.01. What a price earns:")
    small = DigitalGoods(n=4, alpha="1/400", top=4, epsilon=1)
    click.echo(
        "  " + ", ".join(f"at {price:g}: {small.revenue(bids, price):.2f}" for price in (1, 1.01, 3, 3.01, 3.02))
    )
    say("A little noise on the best price ruins it: from 1 to 1.01 it loses three of four buyers, from 3.01 all.")
    say("Selection does not: it takes prices by what they earn. With 2,000 bidders, at ε = 0.5:")
    crowd = [(i * 7919 % 2000) / 2000 for i in range(2000)]
    many = DigitalGoods(n=2000, epsilon="0.5")
    best = optimal_revenue(crowd)
    for _ in range(3):
        price = many.price(crowd)
        click.echo(f"  price {price:.3f} earns {many.revenue(crowd, price):.0f} of {best:.0f}")
    gain = math.ceil(100 * math.tanh(0.25)) / 100
    say(f"And lying about one's bid gains at most {gain:.2f}, where copies are worth up to 1: privacy makes truthful.")


def _linkage() -> None:
    say("A hospital drops names and numbers. A public list has names, birth dates, postcodes.")
    typed("tacit anonymity attack linkage")
    root = click.get_current_context().find_root().command
    root.main(args=["anonymity", "attack", "linkage"], prog_name="tacit", standalone_mode=False)


DEMOS: dict[str, Demo] = {
    "averaging": Demo("asked often enough, noise averages out; a ledger does not let it", _averaging),
    "delta": Demo("why δ must be tiny: records printed with probability δ", _delta),
    "survey": Demo("people who do not trust you: lies that add up to the truth", _survey),
    "shuffle": Demo("what trust buys: curator, shuffler, nobody", _shuffle),
    "auction": Demo("noise on a price is wrong, selection is right", _auction),
    "linkage": Demo("names dropped, and found again", _linkage),
}
