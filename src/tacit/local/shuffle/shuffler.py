"""The shuffler: one uniform permutation of all messages, so that nobody can say who sent which."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.mechanisms.selection.scores import kind_of
from tacit.mechanisms.shared.base import bits_from
from tacit.noise.entropy import BitSource

__all__ = ["Shuffler"]


class Shuffler:
    """What stands between devices and server, and must be trusted to forget the order, not to see nothing.

    All messages of all people are permuted together, by one permutation that is exactly uniform.

    >>> mixed = Shuffler().shuffle(np.array([[1, 2], [3, 4], [5, 6]]))      # three people, two messages each
    >>> sorted(mixed.tolist())
    [1, 2, 3, 4, 5, 6]
    """

    __slots__ = ()

    def shuffle(
        self,
        messages: Any,
        *,
        people: int | None = None,
        whole_rows: bool = False,
        entropy: BitSource | None = None,
    ) -> Any:
        """All messages in a random order: of an array, one person's messages in each row; of bytes, a list.

        ``people`` says how many people's messages these must be; another number is refused. With ``whole_rows`` each
        row of an array is one message: the reports of a randomizer that packs many bits.
        """
        if isinstance(messages, tuple):
            messages = list(messages)
        given = len(messages) if isinstance(messages, list) or np.ndim(messages) else None
        if given is None:
            allowed = "an array with a row for each person, or a list of what each person sent"
            raise InvalidParameter("messages", given=kind_of(messages), allowed=allowed)
        if people is not None and given != people:
            raise InvalidParameter("messages", given=f"messages of {given} people", allowed=f"those of {people} people")
        if isinstance(messages, list):
            flat = [item for one in messages for item in (one if isinstance(one, list | tuple) else [one])]
            return [flat[i] for i in uniform_order(len(flat), bits_from(entropy))]
        array = messages if whole_rows else messages.reshape(-1)
        return array[uniform_order(len(array), bits_from(entropy))]


def uniform_order(count: int, entropy: BitSource) -> npt.NDArray[np.intp]:
    """A uniform permutation: the order of 64-bit keys, all drawn again where two are equal.

    Given that they differ, every order of the keys is equally likely.
    """
    while True:
        keys = entropy.words(count)
        order = np.argsort(keys)
        ordered = keys[order]
        if not bool((ordered[1:] == ordered[:-1]).any()):
            return order
