"""What chunks cost on each worker, learnt from those that are done."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Self, TypeVar

from makespan.core.costs import Affine
from makespan.divisible.model.machines import Master, Worker
from makespan.divisible.model.platform import Star

MASTER_NAME = "client"
KEPT = 8  # observations that a line is fitted to
CHANGED = 1.4  # times off, twice in a row the same way: the cost is another one now
SPREAD = 1.5  # between sizes: where they differ by less, they don't tell fixed costs from others
NOTHING = 1e-9  # relative: a difference that is but rounding
MIN_COST = 1e-9  # seconds a unit: nothing takes no time
PER_CHUNK = 0.004  # seconds of client and scheduler
BUSY = 0.4  # share of its time that the client may spend so
FIRST_TIME = 4.0  # times as long as the slowest known worker takes the first chunk of another
HIDDEN = 2  # chunks ahead of a worker, in whose computation latencies hide
GROWTH = 32.0  # how much larger than any that came back from a worker its next one may be
FIRST = 4.0  # how much larger than the very first its second chunk is, to tell more
LONGEST = 2.0  # seconds of a chunk, where more than one item fits


class AffineFit:
    """A cost ``fixed + per_unit * x``: least squares of relative errors on the latest observations.

    >>> line = AffineFit()
    >>> for x in (1.0, 2.0, 4.0):
    ...     line.observe(x, 0.5 + 2.0 * x)
    >>> round(line.cost.fixed, 6), round(line.cost.per_unit, 6)
    (0.5, 2.0)
    """

    __slots__ = ("_guessed", "_off", "_seen", "cost")
    per_item: ClassVar = 0.0  # share of what the largest chunk took that is per unit, at least

    def __init__(self, cost: Affine | None = None, sizes: Iterable[float] = ()) -> None:
        self.cost = cost or Affine(0.0, 0.0)
        self._seen = deque(((x, max(MIN_COST, self.cost.of(x))) for x in sizes), KEPT)
        self._off = 0.0
        self._guessed = False

    def __bool__(self) -> bool:
        return bool(self._seen)

    def scaled(self, factor: float = 1.0) -> Self:
        """Return the same line over ``factor * x``."""
        other = type(self)(Affine(self.cost.fixed, self.cost.per_unit / factor))
        other._seen.extend((x * factor, seconds) for x, seconds in self._seen)
        return other

    def guess(self) -> Self:
        """Return the same line for another worker: what that worker takes overrules it."""
        other = self.scaled()
        other._guessed = True
        return other

    def observe(self, x: float, seconds: float) -> None:
        """Note what ``x`` units took; where the cost has changed, forget what was before."""
        seconds = max(seconds, MIN_COST)
        if self._seen:
            off = math.log(seconds / max(self.cost.of(x), MIN_COST))
            off = off if abs(off) > math.log(CHANGED) else 0.0
            if off and self._guessed:
                self._seen.clear()
                self._guessed = False
            elif off * self._off > 0.0:
                while len(self._seen) > 1:
                    self._seen.popleft()
            self._off = off
        self._seen.append((x, seconds))
        self._fit()

    def _fit(self) -> None:
        sizes, times = zip(*self._seen, strict=True)
        usual = sorted(times)[len(times) // 2]
        weighted = [(1.0 / (y + usual) ** 2, x, y) for x, y in self._seen]
        w, wx = sum(w for w, _, _ in weighted), sum(w * x for w, x, _ in weighted)
        wy, wxy = sum(w * y for w, _, y in weighted), sum(w * x * y for w, x, y in weighted)
        wxx = sum(w * x * x for w, x, _ in weighted)
        determinant = w * wxx - wx * wx
        if max(sizes) < SPREAD * min(sizes) or determinant <= NOTHING * w * wxx:
            fixed = min(self.cost.fixed, wy / w)
            slope = (wxy - fixed * wx) / wxx
        else:
            slope = (w * wxy - wx * wy) / determinant
            fixed = (wy - slope * wx) / w
        largest, took = max(self._seen)
        least = self.per_item * took / largest
        if slope < least:
            slope, fixed = least, max(0.0, (wy - least * wx) / w)
        elif fixed < 0.0:
            slope, fixed = wxy / wxx, 0.0
        self.cost = Affine(fixed, slope)


class ComputeFit(AffineFit):
    """A cost of computing: without end, no function is fast.

    Where one odd time of a tiny chunk says so, nothing would be dealt that says better.
    """

    __slots__ = ()
    per_item = 0.25


Kind = TypeVar("Kind", AffineFit, ComputeFit)


class WorkerCosts:
    """What is known of one worker.

    Sending, computing, and bringing results ``back``, by units of load; and the units of the
    ``largest`` chunk that came back.
    """

    __slots__ = ("back", "compute", "largest", "send")

    def __init__(
        self,
        send: AffineFit | None = None,
        compute: ComputeFit | None = None,
        back: AffineFit | None = None,
        largest: float = 0.0,
    ) -> None:
        self.send, self.back = send or AffineFit(), back or AffineFit()
        self.compute = compute or ComputeFit()
        self.largest = largest

    @property
    def lines(self) -> tuple[AffineFit, AffineFit, AffineFit]:
        return self.send, self.compute, self.back


class Costs:
    """By worker, what sending, computing and returning chunks costs, as far as it is known.

    A unit is taken for as many bytes as the first one has (``unit_bytes``), until more were sent.
    """

    def __init__(
        self, known: dict[str, WorkerCosts] | None = None, unit_bytes: float = 0.0
    ) -> None:
        self.known = {} if known is None else known
        self.units = self.bytes = 0.0  # that were sent
        self._first = unit_bytes

    @classmethod
    def of(cls, workers: Sequence[Worker], load: float) -> Costs:
        """Start from the costs of workers that were measured, or planned with."""
        sizes = (load / 1000, load / 20)

        def line(kind: type[Kind], cost: object) -> Kind:
            return kind(cost, sizes) if isinstance(cost, Affine) else kind()

        return cls(
            {
                one.name: WorkerCosts(
                    line(AffineFit, one.send),
                    line(ComputeFit, one.compute),
                    line(AffineFit, one.return_),
                    load,
                )
                for one in workers
            }
        )

    def __getitem__(self, name: str) -> WorkerCosts:
        """What is known of a worker; of one that nobody knows, what is usual of the others."""
        if name not in self.known:
            others = [one for one in self.known.values() if one.compute]
            usual = _middle(others, lambda one: one.compute.cost.per_unit)
            slowest = _middle(others, lambda one: one.send.cost.per_unit)
            self.known[name] = WorkerCosts(
                slowest.send.guess() if slowest else None,
                usual.compute.guess() if usual else None,
                usual.back.guess() if usual else None,
            )
        return self.known[name]

    @property
    def unit_bytes(self) -> float:
        """The bytes of a unit; 0 where nobody knows."""
        return self.bytes / self.units if self.units else self._first

    def sent(self, name: str, units: float, count: int, seconds: float) -> None:
        """Note that so many units, in ``count`` bytes, were sent; 0 seconds tell nothing."""
        self.units, self.bytes = self.units + units, self.bytes + count
        if seconds > 0.0:
            self[name].send.observe(units, seconds)

    def done(self, name: str, units: float, computed: float, returned: float) -> None:
        """Note what computing a chunk, and bringing its results back, took."""
        known = self[name]
        known.compute.observe(units, computed)
        known.back.observe(units, returned)
        known.largest = max(known.largest, units)

    def seconds(self, name: str) -> float:
        """Return the seconds that a unit takes a worker that is never without work."""
        return max(MIN_COST, *(line.cost.per_unit for line in self[name].lines))

    def speed(self, name: str) -> float:
        """Return the units a second of a worker, 1 where nothing is known of any."""
        return 1.0 / self.seconds(name) if self[name].compute else 1.0

    def due(self, name: str, units: float) -> float:
        """Return the seconds of a chunk alone, from its sending until its results are here.

        Of a worker that has returned nothing yet, they are guessed from those that have; infinite
        where there are none.
        """
        known = self[name]
        if known.compute:
            return sum(line.cost.of(units) for line in known.lines)
        others = (other for other, costs in self.known.items() if costs.compute)
        return FIRST_TIME * max((self.due(other, units) for other in others), default=math.inf)

    def least(self, name: str, workers: int) -> float:
        """Return the units that are worth a message.

        Client and scheduler handle a chunk in :data:`PER_CHUNK`; what passes between two chunks of
        a worker hides in the computation of the others that are ahead.
        """
        known = self[name]
        if not known.compute:
            return 0.0
        latency = sum(line.cost.fixed for line in known.lines)
        return max(workers * PER_CHUNK / BUSY, latency / HIDDEN) * self.speed(name)

    def most(self, name: str, first: float) -> float:
        """Return the units that a chunk holds at most; ``first`` for the very first ones."""
        largest = self[name].largest
        return min(GROWTH * largest, max(first, LONGEST * self.speed(name))) if largest else first

    def in_time(self, name: str, left: float) -> float:
        """Return the units that arrive before a worker has computed what it has ``left``.

        At least twice that: where the link is what limits, it waits in any case.
        """
        send, compute, _ = self[name].lines
        return left * max(2.0, compute.cost.per_unit / max(MIN_COST, send.cost.per_unit))

    def star(self, names: Iterable[str]) -> Star:
        """Return the platform of these workers as it was learnt."""
        workers = []
        for name in names:
            send, compute, back = (line.cost for line in self[name].lines)
            compute = Affine(compute.fixed, max(MIN_COST, compute.per_unit))
            workers.append(Worker(name=name, send=send, compute=compute, return_=back))
        return Star(workers, master=Master(name=MASTER_NAME))


def _middle(known: list[WorkerCosts], cost: Callable[[WorkerCosts], float]) -> WorkerCosts | None:
    return sorted(known, key=cost)[len(known) // 2] if known else None
