"""What items are expected to take: as said, or by their size where that explained earlier ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from makespan.core.errors import InputError
from makespan.core.inputs.rules import quoted
from makespan.core.numeric.arrays import Floats
from makespan.execute.dealing.items import Files, Items, Stream

SAMPLE = 200  # items that are looked at
FEWEST = 20  # that tell anything
EXPLAINS = 0.8  # share of the variance of seconds, from which a size explains them
UNLIKE = 0.2  # deviation of seconds, relative to their mean, that is worth an explanation
LEAST = 1e-6  # of the largest: nothing takes no time

SIZES: dict[str, Callable[[Any], float]] = {
    "number": float,
    "bytes": lambda item: item.nbytes,
    "length": len,
}
"""What the size of an item may be."""


class Ordered(Items):
    """Items with what each is expected to take, the longest first: that is their load.

    ``order`` says where each of them lies in the data. Source: R. L. Graham, Bounds on
    multiprocessing timing anomalies, 1969 (longest processing time first).

    >>> Ordered(Items(["b", "a", "c"]), np.array([2.0, 1.0, 3.0])).data
    ['c', 'b', 'a']
    """

    def __init__(self, items: Items, seconds: Floats) -> None:
        self.order = np.argsort(-seconds, kind="stable")
        data, places = items.data, self.order.tolist()
        if isinstance(data, np.ndarray):
            self.data = data[self.order]
        else:
            found = [data[place] for place in places]
            self.data = Files(found) if isinstance(data, Files) else found
        load = np.maximum(seconds[self.order], LEAST * max(seconds.max(initial=0.0), LEAST))
        self.edges = np.concatenate([[0.0], np.cumsum(load)])


def ordered(items: Items, expected: Any) -> Items:
    """Return items in the order of what they are expected to take, as they are for None.

    ``expected`` are seconds, or anything that grows with them: one number an item; a function of an
    item; the name of a column or field of the items; a mapping by item, of which those that it
    lacks take its median; or what an earlier run of as many items has measured. Raises InputError
    if that is not what is expected.
    """
    if expected is None or not (len(items) or isinstance(items, Stream)):
        return items
    if isinstance(items, Stream):
        raise InputError("expected: items of an iterator come one by one; a list can be ordered")
    try:
        seconds = np.asarray(_numbers(items, getattr(expected, "took", expected)), np.float64)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        why = f"{type(error).__name__}: {error}"
        raise InputError(f"expected: {quoted(expected)} gives no seconds: {why}") from error
    if seconds.shape != (len(items),):
        raise InputError(f"expected: has {seconds.size} numbers, but there are {len(items)} items")
    if not np.all(np.isfinite(seconds)) or np.any(seconds < 0.0):
        place = int(np.flatnonzero(~(np.isfinite(seconds) & (seconds >= 0.0)))[0])
        raise InputError(f"expected[{place}]: {seconds[place]:g} is not a number, 0 or more")
    return Ordered(items, seconds)


def _numbers(items: Items, expected: Any) -> Any:
    data = items.data
    if isinstance(expected, str):
        if getattr(getattr(data, "dtype", None), "names", None):
            return data[expected]
        return [
            one[expected] if isinstance(one, Mapping) else getattr(one, expected) for one in data
        ]
    if isinstance(expected, Mapping):
        usual = float(np.median([*expected.values()])) if expected else 1.0
        return [expected.get(one, usual) for one in data]
    return [expected(one) for one in data] if callable(expected) else expected


def size_that_explains(items: Items, took: Floats) -> str | None:
    """Return which size of the items explains their seconds; None where none does.

    >>> items = Items([3, 1, 4, 1, 5, 9, 2, 6, 5, 3] * 3)
    >>> size_that_explains(items, 0.1 * np.array(items.data) + 0.01)
    'number'
    """
    if isinstance(items, (Stream, Ordered)) or len(items) < FEWEST or isinstance(items.data, Files):
        return None
    places = np.unique(np.linspace(0, len(items) - 1, SAMPLE).astype(int))
    seconds = took[places]
    if seconds.std() <= UNLIKE * seconds.mean():
        return None
    best = ("", EXPLAINS)
    for name in SIZES:
        sizes = sizes_of(items.data, name, places.tolist())
        if sizes is None or sizes.std() <= 0.0:
            continue
        share = float(np.corrcoef(sizes, seconds)[0, 1])
        if share > 0.0 and share**2 > best[1]:
            best = (name, share**2)
    return best[0] or None


def sizes_of(data: Sequence[Any], name: str, places: Sequence[int] | None = None) -> Floats | None:
    """Return a size of items, None where they have none."""
    try:
        some = data if places is None else (data[place] for place in places)
        found = np.array([SIZES[name](one) for one in some], np.float64)
    except (TypeError, ValueError, AttributeError):
        return None
    return found if np.all(np.isfinite(found)) and np.all(found >= 0.0) else None
