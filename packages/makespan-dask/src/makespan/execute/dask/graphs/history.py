"""What is known of clusters and of graphs on them, from the runs that were seen."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from statistics import median
from typing import Any, TypeVar

from makespan.core.inputs.suggest import suggesting
from makespan.execute.dask.cluster.client import Client
from makespan.execute.dask.graphs.remote import Seen
from makespan.execute.dask.graphs.work import Structure
from makespan.execute.dealing.engine import WorkerInfo
from makespan.execute.dealing.history import History
from makespan.flow.result import Result

Value = TypeVar("Value")

LAST = 5  # runs that count
MOST_GRAPHS = 64  # of a cluster
MOST_PERIODS = 200  # of transfers, for each worker


@dataclass(slots=True)
class Runs:
    """The last runs of a kind: seconds until results were at the client, and from first to last."""

    whole: deque[float] = field(default_factory=lambda: deque(maxlen=LAST))
    inner: deque[float] = field(default_factory=lambda: deque(maxlen=LAST))

    def add(self, whole: float, inner: float) -> None:
        """Note a run."""
        self.whole.append(whole)
        self.inner.append(inner)


@dataclass(slots=True)
class GraphHistory:
    """What is known of a graph on certain workers, tasks by number.

    ``took`` has the (worker, seconds) of each task, ``size`` the bytes of results, ``placed`` the
    order and the workers of the last run as Dask placed it, ``busy`` the seconds of computing and
    sending in it; ``seen`` counts all runs, planned ones too. What the first run took counts only
    until there is another, as it may have imported and compiled: ``warm`` says whether ``own`` has
    another. ``promised`` are the seconds that the plan promises; ``compared`` says whether the next
    run shall be Dask's, to compare with the plan.
    """

    took: dict[int, deque[tuple[str, float]]] = field(default_factory=dict)
    size: dict[int, int] = field(default_factory=dict)
    placed: dict[int, tuple[float, str]] = field(default_factory=dict)
    own: Runs = field(default_factory=Runs)
    planned: Runs = field(default_factory=Runs)
    seen: int = 0
    busy: float = 0.0
    warm: bool = False
    plan: Result | None = None
    promised: float = 0.0
    compared: bool = False
    why: str = ""
    asked: int = 0

    @property
    def due(self) -> bool:
        """Whether to decide anew with the next run: each time that twice as many were seen."""
        return self.compared or self.seen + 1 >= 2 * self.asked

    def add_own(self, whole: float, inner: float) -> None:
        """Note a run as Dask placed it."""
        if self.own.whole and not self.warm:
            self.own, self.warm = Runs(), True
        self.own.add(whole, inner)


@dataclass(slots=True)
class Alike:
    """What is known of graphs that look alike, from the last one, and what is ``pending`` of it."""

    known: GraphHistory | None = None
    pending: Future[None] | None = None


@dataclass(slots=True)
class ClusterHistory:
    """What calls have taught about a cluster, for later ones.

    ``functions`` has what maps have taught; ``sent``, by worker, the (bytes, seconds) of periods in
    which it sent without a pause; ``gaps`` the seconds before tasks that waited for another one.
    """

    sent: dict[str, deque[tuple[float, float]]] = field(default_factory=dict)
    gaps: deque[float] = field(default_factory=lambda: deque(maxlen=MOST_PERIODS))
    graphs: OrderedDict[Any, GraphHistory] = field(default_factory=OrderedDict)
    kinds: OrderedDict[Any, Alike] = field(default_factory=OrderedDict)
    functions: History = field(default_factory=History)
    watching: bool = False

    def known(self, structure: Structure, members: Iterable[WorkerInfo]) -> GraphHistory:
        """Return what is known of a graph on these workers, to be added to."""
        there = tuple((member.name, member.threads) for member in members)
        return _kept(self.graphs, (structure.same, there), GraphHistory)

    def alike(self, likeness: Hashable) -> Alike:
        """Return what is known of graphs that look like that, to be added to."""
        return _kept(self.kinds, likeness, Alike)

    def learn(
        self,
        known: GraphHistory,
        structure: Structure,
        number: Mapping[Any, int],
        found: Mapping[str, Seen],
        *,
        own: bool,
    ) -> None:
        """Add what was seen of a run; ``number`` has the task of each key that was sent."""
        if own:
            known.placed, known.busy = {}, 0.0
        for worker, seen in found.items():
            for key, size in seen.sizes.items():
                known.size[number[key]] = size
            for key, (start, end) in seen.computed.items():
                task = number[key]
                known.busy += (end - start) * own
                times = known.took.setdefault(task, deque(maxlen=LAST))
                if known.seen == 1:
                    times.clear()
                times.append((worker, end - start))
                if own:
                    known.placed[task] = start, worker
        for worker, seen in found.items():
            moved = [(s, e, known.size.get(number[key], 0)) for key, _, s, e in seen.sent]
            periods = _periods(moved)
            known.busy += sum(period[1] for period in periods) * own
            self.sent.setdefault(worker, deque(maxlen=MOST_PERIODS)).extend(periods)
        if own:
            self.gaps.extend(_gaps(structure, number, found))

    @property
    def handing(self) -> float | None:
        """The seconds from a task to the next that waits for it; None: not seen yet."""
        return median(self.gaps) if self.gaps else None


HISTORIES: dict[str, ClusterHistory] = {}  # by the address of the scheduler


def history_of(client: Any) -> ClusterHistory:
    """Return what is known of a client's cluster."""
    return HISTORIES.setdefault(client.scheduler.address, ClusterHistory())


@suggesting
def forget(client: Client) -> None:
    """Forget what was learnt of a client's cluster.

    >>> from makespan.execute import dask
    >>> dask.forget(client)  # doctest: +SKIP
    """
    HISTORIES.pop(client.scheduler.address, None)


def _kept(found: OrderedDict[Any, Value], key: Any, new: Callable[[], Value]) -> Value:
    """Return an entry of those that were used last, or a new one."""
    if key not in found:
        found[key] = new()
    found.move_to_end(key)
    if len(found) > MOST_GRAPHS:
        found.popitem(last=False)
    return found[key]


def _periods(moved: list[tuple[float, float, int]]) -> list[tuple[float, float]]:
    """Return (bytes, seconds) of the periods without a pause.

    >>> _periods([(0.0, 2.0, 10), (1.0, 3.0, 20), (5.0, 6.0, 5)])
    [(30.0, 3.0), (5.0, 1.0)]
    """
    found: list[tuple[float, float]] = []
    until, since = float("-inf"), 0.0
    for start, end, size in sorted(moved):
        if start > until:
            since, until = start, end
            found.append((0.0, 0.0))
        until = max(until, end)
        found[-1] = found[-1][0] + size, until - since
    return found


def _gaps(
    structure: Structure, number: Mapping[Any, int], found: Mapping[str, Seen]
) -> list[float]:
    """Return what passed before tasks that found their worker idle, and all inputs there."""
    times = {number[k]: (w, *t) for w, seen in found.items() for k, t in seen.computed.items()}
    before: dict[int, list[int]] = {}
    for source, target in structure.edges:
        before.setdefault(target, []).append(source)
    last: dict[str, float] = {}
    gaps = []
    for task, (worker, start, end) in sorted(times.items(), key=lambda entry: entry[1][1]):
        inputs = [times.get(each, ("", 0.0, 0.0)) for each in before.get(task, ())]
        if inputs and all(where == worker for where, *_ in inputs):
            ready = max(stop for *_, stop in inputs)
            if ready >= last.get(worker, 0.0):
                gaps.append(max(0.0, start - ready))
        last[worker] = max(last.get(worker, 0.0), end)
    return gaps
