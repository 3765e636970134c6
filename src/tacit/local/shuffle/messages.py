"""Messages to a shuffler: as many from every device, whatever its value, and read by the server whatever they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.mechanisms.responses.answers import listed
from tacit.noise.entropy import BitSource

__all__ = ["MessageProtocol", "read_messages"]


class MessageProtocol(ABC):
    """A protocol in which each person sends several short messages, all of which are shuffled together."""

    __slots__ = ()

    @abstractmethod
    def messages(self, values: Any, *, entropy: BitSource | None = None) -> npt.NDArray[Any]:
        """A row of messages for each person."""

    def messages_of(self, value: Any, *, entropy: BitSource | None = None) -> npt.NDArray[Any]:
        """What a device sends about its one value, a list included: as many messages whatever it is.

        `messages` takes a list for the values of several people; a device that may hold anything calls this.
        """
        one = np.empty(1, dtype=object)
        one[0] = value
        sent: npt.NDArray[Any] = self.messages(one, entropy=entropy)[0]
        return sent


def read_messages(messages: Any, size: int) -> tuple[npt.NDArray[np.uint64], int]:
    """The whole numbers below ``size``, 2⁶³ at most, among messages in any order, and how many others there were.

    >>> found, refused = read_messages([[0, 1], [7, "x"], 2**70, np.array([1, -1])], 2)
    >>> found.tolist(), refused
    ([0, 1, 1], 4)
    """
    array = messages.reshape(-1) if isinstance(messages, np.ndarray) else listed(_flat(messages))
    if array.dtype.kind == "b":
        array = array.view(np.uint8)
    if array.dtype.kind in "iu":
        within = (array >= 0) & (array < size)
        found: npt.NDArray[np.uint64] = array[within].astype(np.uint64)
    else:
        whole = [int(one) for one in array if isinstance(one, int) and 0 <= one < size]
        found = np.array(whole, dtype=np.uint64)
    return found, array.size - found.size


def _flat(messages: Any) -> list[Any]:
    """One message after another, of a list of messages or of what each person sent."""
    if not isinstance(messages, list | tuple):
        return [messages]
    found: list[Any] = []
    for one in messages:
        several = one.reshape(-1) if isinstance(one, np.ndarray) else one
        found.extend(several if isinstance(several, list | tuple | np.ndarray) else [several])
    return found
