"""What was learnt of clusters, kept for later calls, and what items are expected to take by it.

That is what is said of them, or follows from their size where that explained earlier ones.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from types import CellType, CodeType, FunctionType
from typing import Any

import numpy as np

from makespan.core.errors import InputError
from makespan.core.inputs.rules import quoted
from makespan.core.numeric.arrays import Floats
from makespan.execute.dealing.costs import AffineFit, Costs, WorkerCosts
from makespan.execute.dealing.engine import WorkerInfo
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


MAX_FUNCTIONS = 256  # of a cluster
DEPTH = 4  # of what holds what holds ..., that functions are told from one another by

Link = tuple[str, str]  # the name of a worker, and its host


class History:
    """What was learnt of one cluster: its links by bytes, functions on them by units of load.

    A new function on a known cluster finds the links known; a known function on a new worker finds
    what is usual. ``overhead`` are the seconds that a task of its own map loses.
    """

    def __init__(self) -> None:
        self.overhead: float | None = None
        self._sizes: dict[str, str] = {}
        self._links: dict[Link, AffineFit] = {}
        self._functions: OrderedDict[str, dict[Link, WorkerCosts]] = OrderedDict()

    def recall(self, key: str, workers: Mapping[str, WorkerInfo], unit_bytes: float) -> Costs:
        """Return what is known of a function on workers, whose data has such units."""
        there = self._functions.get(key, {})
        costs = Costs(unit_bytes=unit_bytes)
        for name, worker in workers.items():
            link = _link(worker)
            known, send = there.get(link), AffineFit()
            if link in self._links:
                send = self._links[link].scaled(1.0 / unit_bytes)
            elif known is None:
                continue
            if known is None:
                costs.known[name] = WorkerCosts(send)
            else:
                lines = known.compute.scaled(), known.back.scaled()
                costs.known[name] = WorkerCosts(send, *lines, known.largest)
        return costs

    def ordered(self, key: str, items: Items, expected: Any, *, by_size: bool) -> Items:
        """Return items as expected, or ``by_size`` where that explained what earlier ones took."""
        if by_size and expected is None and key in self._sizes and not isinstance(items, Stream):
            expected = sizes_of(items.data, self._sizes[key])
        return ordered(items, expected)

    def explain(self, key: str, items: Items, took: Floats) -> None:
        """Keep which size of the items explains their seconds."""
        found = size_that_explains(items, took)
        if found is not None:
            self._sizes[key] = found

    def learning(
        self,
        function: Callable[..., Any],
        items: Items,
        expected: Any,
        unit_bytes: Callable[[Items], float],
        *,
        batched: bool,
        by_size: bool,
    ) -> dict[str, Any]:
        """Return the items of a job as they are expected, and how it recalls and learns costs."""
        if isinstance(items, Stream):
            items.read(1)
        key = key_of(function, items, batched)
        found = self.ordered(key, items, expected, by_size=by_size)
        if found is not items:
            key += "by size"
        bytes_of = cache(unit_bytes)

        def recall(members: Mapping[str, WorkerInfo]) -> Costs:
            return self.recall(key, members, bytes_of(found)) if len(found) else Costs()

        return {
            "items": found,
            "batched": batched,
            "recall": recall,
            "learn": partial(self.keep, key),
            "explain": partial(self.explain, key, found),
        }

    def keep(self, key: str, workers: Mapping[str, WorkerInfo], costs: Costs) -> None:
        """Keep what was learnt."""
        if not costs.units:
            return
        there = self._functions.setdefault(key, {})
        self._functions.move_to_end(key)
        for name, worker in workers.items():
            if name in costs.known and costs.known[name].largest:
                there[_link(worker)] = costs.known[name]
                if send := costs.known[name].send:
                    self._links[_link(worker)] = send.scaled(costs.unit_bytes)
        if len(self._functions) > MAX_FUNCTIONS:
            self._functions.popitem(last=False)


def _link(worker: WorkerInfo) -> Link:
    return worker.name, worker.address.rpartition(":")[0]


def key_of(function: Callable[..., Any], items: Items, *options: object) -> str:
    """Return what stands for a function on data of this type, however much of it there is.

    A function that is defined again with the same text is the same.
    """
    return hashlib.sha256(repr((_identity(function), items.type_, options)).encode()).hexdigest()


def _identity(value: Any, depth: int = DEPTH) -> Any:
    """Return what tells a callable, and what it holds, from others; large things only roughly."""
    if value is None or isinstance(value, (str, bytes, int, float)):
        return value
    held: list[Any] = []
    if isinstance(value, partial):
        held = [value.func, *value.args, *value.keywords.items()]
    elif isinstance(value, FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or () if cell != CellType()]
        held = [_text(value.__code__), *cells, *(value.__defaults__ or ())]
    elif isinstance(value, tuple):
        held = [*value]
    elif callable(value) and not hasattr(value, "__qualname__"):
        held = [*getattr(value, "__dict__", {}).items()]
    elif hasattr(type(value), "__len__"):
        held = [len(value)]
    name = getattr(value, "__qualname__", type(value).__qualname__)
    inner = [_identity(each, depth - 1) for each in held] if depth else len(held)
    return getattr(value, "__module__", ""), name, inner


def _text(code: CodeType) -> str:
    consts = [_text(one) if isinstance(one, CodeType) else repr(one) for one in code.co_consts]
    return repr((code.co_code, code.co_names, consts))
