"""What is known of the workers' costs while a run goes on."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from makespan.core.costs import Affine
from makespan.core.schedule import Activity
from makespan.divisible.model.platform import Master, Star, Worker
from makespan.divisible.problem import DivisibleLoad

OVERHEADS = 4.0  # a piece of the pool computes this many times as long as it costs to start
MIN_SECONDS = 0.02  # and not less than this
MIN_BAND = 0.15  # relative: nearer to the expected time nothing is in doubt
MIN_DIFFERENCE = 0.05  # seconds: nor where it is off by less than this,
SHARE_OF_END = 0.05  # or by less than this share of the makespan
WIDENING = 1.5  # of the bands when costs changed: they may change again
RECENT = 3  # observations that count


@dataclass(slots=True)
class Known:
    """One worker: its costs, how far off they may be, and how far off they lately were."""

    worker: Worker
    band: float = MIN_BAND
    difference: float = MIN_DIFFERENCE
    recent: dict[Activity, list[tuple[float, float]]] = field(default_factory=dict)

    def factor(self, activity: Activity) -> float:
        """How many times as long as expected an activity takes here; 1 where it is but noise."""
        if self.off(activity) <= self.difference:
            return 1.0
        recent = self.recent.get(activity, [])
        factors = sorted(taken / expected for expected, taken in recent)
        if len(factors) == 2:  # one of them may be an accident: the one nearer to 1 holds
            return min(factors, key=lambda factor: abs(math.log(factor)))
        return statistics.median(factors) if factors else 1.0

    def off(self, activity: Activity) -> float:
        """By how many seconds the last observations were off in all."""
        return abs(sum(taken - expected for expected, taken in self.recent.get(activity, [])))


class Estimates:
    """Costs by worker, corrected by what is observed.

    Parameters
    ----------
    workers
        The costs to start from.
    bands
        By worker, how far, relatively, a computation may be off before its cost is in doubt.
    end
        When all shall be done: what is off by a small share of that changes little.
    """

    def __init__(
        self,
        workers: Sequence[Worker],
        bands: Mapping[str, float] | None = None,
        end: float = 0.0,
    ) -> None:
        bands = bands or {}
        self.difference = max(MIN_DIFFERENCE, SHARE_OF_END * end)
        self.known = {
            worker.name: Known(worker, max(MIN_BAND, bands.get(worker.name, 0.0)), self.difference)
            for worker in workers
        }
        self.farthest = 0.0

    @classmethod
    def of(cls, problem: DivisibleLoad, bands: Mapping[str, float] | None = None) -> Estimates:
        """Start from the costs in a plan's problem."""
        return cls(problem.star.workers, bands)

    def observe(self, name: str, activity: Activity, units: float, seconds: float) -> bool:
        """Note what an activity took; return whether its cost is now in doubt.

        It is where the middle one of the last three, or both of two, are off by more than the
        band, and all together by more than what disturbs any short activity.
        """
        if name not in self.known:
            self.known[name] = Known(self._typical(name), difference=self.difference)
        known = self.known[name]
        expected = _cost(known.worker, activity).of(units)
        if expected <= 0.0 or seconds <= 0.0:
            return False
        recent = known.recent.setdefault(activity, [])
        recent.append((expected, seconds))
        del recent[:-RECENT]
        off = abs(known.factor(activity) - 1.0)
        in_doubt = off > known.band and len(recent) > 1
        if in_doubt:
            self.farthest = max(self.farthest, off)
        return in_doubt

    def accept(self) -> None:
        """Take what was observed as the costs from now on."""
        for known in self.known.values():
            known.worker = _scaled(known)
            known.recent.clear()
            known.band *= WIDENING

    def speed(self, name: str) -> float:
        """Units per second that a worker gets and computes, 1 where nothing is known of any."""
        known = self.known.get(name)
        worker = _scaled(known) if known is not None else self._typical(name)
        per_unit = max(_cost(worker, of).per_unit for of in (Activity.SEND, Activity.COMPUTE))
        return 1.0 / per_unit if per_unit > 0 else 1.0

    def least_piece(self, name: str) -> float:
        """Units that are worth a message."""
        known = self.known.get(name)
        worker = known.worker if known is not None else self._typical(name)
        start = _cost(worker, Activity.SEND).fixed + _cost(worker, Activity.COMPUTE).fixed
        return max(MIN_SECONDS, OVERHEADS * start) * self.speed(name)

    def star(self, names: Sequence[str], master: Master) -> Star:
        """Return the platform of these workers with the costs observed."""
        return Star(
            [
                _scaled(self.known[name]) if name in self.known else self._typical(name)
                for name in names
            ],
            master=master,
        )

    def _typical(self, name: str) -> Worker:
        """Return a worker as the middle one of those known."""
        known = [_scaled(one) for one in self.known.values()]
        if not known:
            return Worker(name=name, compute=1.0)
        costs = {
            of: Affine(
                statistics.median(_cost(worker, activity).fixed for worker in known),
                statistics.median(_cost(worker, activity).per_unit for worker in known),
            )
            for of, activity in (("send", Activity.SEND), ("compute", Activity.COMPUTE))
        }
        return replace(known[0], name=name, send=costs["send"], compute=costs["compute"])


def _cost(worker: Worker, activity: Activity) -> Affine:
    cost = worker.send if activity is Activity.SEND else worker.compute
    assert isinstance(cost, Affine)
    return cost


def _scaled(known: Known) -> Worker:
    """Return a worker whose costs are those observed."""
    costs = {}
    for of, activity in (("send", Activity.SEND), ("compute", Activity.COMPUTE)):
        cost, factor = _cost(known.worker, activity), known.factor(activity)
        costs[of] = Affine(cost.fixed, cost.per_unit * factor)
    return replace(known.worker, send=costs["send"], compute=costs["compute"])
