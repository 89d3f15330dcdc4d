"""What was learnt of clusters, kept for later calls."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import cache, partial
from types import CellType, CodeType, FunctionType
from typing import Any

from makespan.core.numeric.arrays import Floats
from makespan.execute.dealing.costs import AffineFit, Costs, WorkerCosts
from makespan.execute.dealing.engine import WorkerInfo
from makespan.execute.dealing.expected import ordered, size_that_explains, sizes_of
from makespan.execute.dealing.items import Items, Stream

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
    parts = (_identity(function), items.type_, options)
    return hashlib.sha256(repr(parts).encode()).hexdigest()


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
