"""Every mechanism of this part, with examples and neighbours: the contract suite and the audits run on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tacit.examples.selections import Selection
from tacit.games.auction import DigitalGoods
from tacit.games.vote import BestRated, Vote
from tacit.mechanisms.base import bits_from
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
}
