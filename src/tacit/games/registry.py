"""Every mechanism of this part, with examples and neighbours: the contract suite and the audits run on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tacit.examples.selections import Selection
from tacit.games.auction import DigitalGoods
from tacit.games.facilities import TwoFacilities
from tacit.games.frequency_list import FrequencyList
from tacit.games.mediator import Mediator
from tacit.games.partition_list import PartitionList
from tacit.games.vote import BestRated, Vote
from tacit.mechanisms.shared.base import bits_from
from tacit.noise.entropy import BitSource

__all__ = ["GAMES"]


def _price(mechanism: Any, bids: Any, entropy: BitSource | None) -> Any:
    return mechanism.price(bids, entropy=entropy)


def _many_releases(mechanism: Any, data: Any, count: int, entropy: BitSource | None) -> Any:
    return mechanism._releases(data, count, bits_from(entropy))


def _pick(mechanism: Any, data: Any, entropy: BitSource | None) -> Any:
    return mechanism._pick(data, entropy)


def _many_picks(mechanism: Any, data: Any, count: int, entropy: BitSource | None) -> Any:
    return np.array(mechanism.candidates)[mechanism._picks(data, count, bits_from(entropy))]


def _placed(mechanism: Any, reports: Any, entropy: BitSource | None) -> Any:
    placed = mechanism.place(reports, entropy=entropy)
    return mechanism.pairs.index(placed.facilities) + (len(mechanism.pairs) if placed.punishing else 0)


def _list(mechanism: Any, counts: Any, entropy: BitSource | None) -> Any:
    return tuple(mechanism.release(counts, entropy=entropy).tolist())


def _loads(mechanism: Any, tastes: Any, entropy: BitSource | None) -> Any:
    """The noisy loads, which everybody may see, and what all but the first player are told."""
    play = mechanism.play(tastes, entropy=entropy)
    return (*play.loads.reshape(-1).tolist(), *play.suggestions[1:].tolist())


def _many_loads(mechanism: Any, tastes: Any, count: int, entropy: BitSource | None) -> Any:
    bits = bits_from(entropy)
    return np.array([_loads(mechanism, tastes, bits) for _ in range(count)])


GAMES: Mapping[str, Selection] = {
    "digital goods": Selection(
        examples=(
            lambda: DigitalGoods(n=3, epsilon=1, alpha="1/4"),
            lambda: DigitalGoods(n=3, rho=0.125, alpha="1/4", top=4),
            lambda: DigitalGoods.textbook(n=3, epsilon=1, alpha="1/4"),
        ),
        run=_price,
        many=_many_releases,
        neighbours=([0.3, 0.3, 0.0], [0.3, 0.3, 1.0]),
    ),
    "vote": Selection(
        examples=(lambda: Vote([0, 1, 2], epsilon=1),),
        run=_pick,
        many=_many_picks,
        neighbours=([1, 1, 2], [1, 1, 2, 0]),
    ),
    "best rated": Selection(
        examples=(lambda: BestRated([0, 1, 2], bounds=(1, 5), epsilon=1),),
        run=_pick,
        many=_many_picks,
        neighbours=([{0: 3, 1: 4}], [{0: 3, 1: 4}, {0: 5, 1: 1, 2: 1}]),
    ),
    "two facilities": Selection(
        examples=(lambda: TwoFacilities([0, 0.5, 1], n=3, epsilon=1),),
        run=_placed,
        many=_many_releases,
        neighbours=([0, 0, 0], [0, 0, 1]),
    ),
    "frequency list": Selection(
        examples=(lambda: FrequencyList(length=3, epsilon=1),),
        run=_list,
        many=_many_releases,
        neighbours=([2, 1], [2, 1, 1]),
    ),
    "partition list": Selection(
        examples=(lambda: PartitionList(people=5, epsilon=1), lambda: PartitionList(people=4, rho=0.125)),
        run=_list,
        many=_many_releases,
        neighbours=([2, 1], [2, 1, 1]),
    ),
    "mediator": Selection(
        examples=(lambda: Mediator(players=3, actions=2, rounds=2, epsilon=1, delta="0.01"),),
        run=_loads,
        many=_many_loads,
        neighbours=([[0, 1], [0, 0], [1, 1]], [[1, 0], [0, 0], [1, 1]]),
    ),
}
