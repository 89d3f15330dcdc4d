"""The data as items in a row, measured in units of load."""

from __future__ import annotations

import math
import os
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np

from makespan.core.errors import InputError
from makespan.core.inputs.rules import quoted
from makespan.core.numeric.arrays import Floats, Integers

FEW = 8  # values that stand for all others


class Files(Sequence[Path]):
    """Files of the client's machine, sent with their contents.

    The function gets, on its worker, the path of a file of the same name and content. The load is
    counted in bytes.

    Parameters
    ----------
    paths
        The files, in the order of the results.

    Raises
    ------
    InputError
        If a file is missing or not a file.

    >>> from pathlib import Path
    >>> from makespan import execute
    >>> pages = execute.Files(sorted(Path("pages").glob("*.txt")))  # doctest: +SKIP
    >>> length = lambda path: len(Path(path).read_text())
    >>> execute.map(length, pages, on=client).results  # doctest: +SKIP
    [12, 7]
    """

    def __init__(self, paths: Iterable[str | os.PathLike[str]]) -> None:
        self.paths: tuple[Path, ...] = tuple(Path(path) for path in paths)
        missing = [path for path in self.paths if not path.is_file()]
        if missing:
            raise InputError(f"data: {missing[0]} is not a file (and {len(missing) - 1} more)")
        self.sizes: tuple[int, ...] = tuple(path.stat().st_size for path in self.paths)

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Files(self.paths[index])
        return self.paths[index]


class Items:
    """Items in a row; ``edges[i]`` is the load of the first i items.

    Parameters
    ----------
    data
        A NumPy array, whose items are its rows; :class:`Files`; or anything else that has a length
        and can be iterated over. One item is one unit of load, one byte for files.

    Raises
    ------
    InputError
        If the data is none of these.
    """

    order: Integers | None = None  # where each lies in what was given, if not as here

    def __init__(self, data: Any) -> None:
        if isinstance(data, Items):
            data = data.data
        refuse_indivisible(data, "data")
        if not isinstance(data, (np.ndarray, Sequence)) or isinstance(data, (deque, memoryview)):
            data = list(data)
        self.data: Any = data
        self.edges: Floats
        if isinstance(data, Files):
            self.edges = np.concatenate([[0.0], np.cumsum(np.maximum(data.sizes, 1.0))])
        else:
            self.edges = np.arange(len(data) + 1, dtype=np.float64)

    def __len__(self) -> int:
        return len(self.edges) - 1

    @property
    def load(self) -> float:
        """The load of all items."""
        return float(self.edges[-1])

    @property
    def in_items(self) -> bool:
        """Whether the load is the number of items."""
        return not isinstance(self.data, Files)

    @property
    def type_(self) -> tuple[object, ...]:
        """What the items are, however many there are."""
        first = self.data[0] if len(self) and not isinstance(self.data, np.ndarray) else self.data
        array = (
            str(getattr(first, "dtype", "")),
            getattr(first, "shape", ())[first is self.data :],
        )
        return type(self.data).__name__, type(first).__name__, *array

    def load_of(self, low: int, high: int) -> float:
        """The load of the items from ``low`` up to ``high``."""
        return float(self.edges[high] - self.edges[low])

    def cut(self, amounts: Sequence[float], low: int = 0, high: int | None = None) -> list[int]:
        """Return where to cut the items from ``low`` to ``high`` into pieces of these amounts.

        The cuts, one more than the amounts, are the edges nearest to the running sums.

        >>> Items(range(10)).cut([3.4, 3.3, 3.3])
        [0, 3, 7, 10]
        """
        high = len(self) if high is None else high
        sums = np.concatenate([[0.0], np.cumsum(amounts)])
        total = sums[-1] or 1.0
        wanted = self.edges[low] + (sums / total) * self.load_of(low, high)
        after = np.searchsorted(self.edges, wanted).clip(low + 1, max(high, low + 1))
        nearer = wanted - self.edges[after - 1] < self.edges[after.clip(0, len(self))] - wanted
        cuts = np.where(nearer, after - 1, after).clip(low, high)
        cuts[0], cuts[-1] = low, high
        return [int(cut) for cut in np.maximum.accumulate(cuts)]

    def item_at(self, load: float) -> int:
        """Return the item that the first ``load`` units end in or before."""
        return int(np.searchsorted(self.edges, load, side="left"))


class Stream(Items):
    """Items that come one after another, nobody knows how many; each is one unit of load.

    >>> stream = Stream(iter("abcd"))
    >>> stream.read(3), stream.data, stream.read(3), stream.load
    (3, ['a', 'b', 'c', 'd'], 1, 4.0)
    """

    def __init__(self, items: Iterator[Any]) -> None:
        self.data = []
        self.ended = False
        self._items = items

    def __len__(self) -> int:
        return len(self.data)

    def read(self, count: int, seconds: float = math.inf) -> int:
        """Read so many more items, or those that come in time; return how many that were."""
        before, until = len(self), time.monotonic() + seconds
        for item in islice(self._items, count):
            self.data.append(item)
            if time.monotonic() > until:
                break
        else:
            self.ended = len(self) - before < count
        return len(self) - before

    def drop(self, low: int, high: int) -> None:
        """Let go of items that nobody needs any more."""
        self.data[low:high] = [None] * (high - low)

    @property
    def load(self) -> float:
        """The load of all items, infinite until that is known."""
        return float(len(self)) if self.ended else math.inf

    def load_of(self, low: int, high: int) -> float:
        """The load of the items from ``low`` up to ``high``."""
        return float(high - low)

    def item_at(self, load: float) -> int:
        """Return the item that the first ``load`` units end in or before."""
        return math.ceil(load)


class Inbox(Stream):
    """Items that are put in while others are done, until it is closed.

    >>> inbox = Inbox()
    >>> inbox.put("a"); inbox.put("b"); inbox.read(9), inbox.ended
    (2, False)
    >>> inbox.close(); inbox.read(9), inbox.ended
    (0, True)
    """

    def __init__(self) -> None:
        super().__init__(iter(()))
        self._queue: SimpleQueue[tuple[Any, ...]] = SimpleQueue()

    def put(self, item: Any) -> None:
        """Put an item in."""
        self._queue.put((item,))

    def close(self) -> None:
        """Say that no more come."""
        self._queue.put(())

    def read(self, count: int, seconds: float = math.inf) -> int:
        """Wait for an item, and take what else is there; return how many that were."""
        before = len(self)
        while not self.ended and len(self) < before + count:
            try:
                found = self._queue.get(block=len(self) == before)
            except Empty:
                break
            self.data += found
            self.ended = not found
        return len(self) - before


def refuse_indivisible(data: Any, place: str) -> None:
    """Refuse what ``client.map`` does: what has no length, or can't be iterated over."""
    try:
        iter(data), len(data)
    except TypeError as error:
        raise InputError(
            f"{place}: {quoted(data)} has no items: {error}; a sequence, a set, a mapping, a NumPy"
            " array, a Series or Files has"
        ) from error


def footprint(values: Any) -> float:
    """Return the bytes that one of these values takes, judged by the first few.

    >>> footprint([np.zeros(4), np.zeros(6)])
    40.0
    """
    few = [(one, getattr(one, "nbytes", None)) for one in values[:FEW]]
    sizes = [size if isinstance(size, int) else sys.getsizeof(one, 0) for one, size in few]
    return sum(sizes) / max(1, len(sizes))


def joined(pieces: Sequence[Any]) -> Any:
    """Join results in order: an array if all are arrays, else a list.

    >>> joined([[1, 2], [3]])
    [1, 2, 3]
    """
    if pieces and all(isinstance(piece, np.ndarray) for piece in pieces):
        return np.concatenate(list(pieces))
    return [value for piece in pieces for value in piece]
