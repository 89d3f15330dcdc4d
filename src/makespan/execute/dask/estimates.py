"""What is known of the workers' costs while a run goes on."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from makespan.core.costs import Affine
from makespan.core.schedule import Activity
from makespan.divisible.platform import Master, Star, Worker
from makespan.divisible.problem import DivisibleLoad

OVERHEADS = 4.0  # a piece of the pool computes this many times as long as it costs to start
LEAST_SECONDS = 0.02  # and not less than this
LEAST_BAND = 0.15  # relative: nearer to the expected time nothing is in doubt
WIDENING = 1.5  # of the bands when costs changed: they may change again
RECENT = 3  # observations of which the middle one counts


@dataclass(slots=True)
class Known:
    """One worker: its costs, how far off they may be, and how far off they lately were."""

    worker: Worker
    band: float = LEAST_BAND
    factors: dict[Activity, list[float]] = field(default_factory=dict)

    def factor(self, activity: Activity) -> float:
        """How many times as long as expected an activity takes here."""
        recent = self.factors.get(activity, [])
        return statistics.median(recent) if recent else 1.0


class Estimates:
    """Costs by worker, corrected by what is observed.

    Parameters
    ----------
    workers
        The costs to start from.
    bands
        By worker, how far, relatively, a computation may be off before its cost is in doubt.
    """

    def __init__(self, workers: Sequence[Worker], bands: Mapping[str, float] | None = None) -> None:
        bands = bands or {}
        self.known = {
            worker.name: Known(worker, max(LEAST_BAND, bands.get(worker.name, 0.0)))
            for worker in workers
        }
        self.farthest = 0.0

    @classmethod
    def of(cls, problem: DivisibleLoad, bands: Mapping[str, float] | None = None) -> Estimates:
        """Start from the costs in a plan's problem."""
        return cls(problem.star.workers, bands)

    def observe(self, name: str, activity: Activity, units: float, seconds: float) -> bool:
        """Note what an activity took; return whether its cost is now in doubt.

        It is where the middle one of the last three was off by more than the band, or two of
        two, and by more than when it was last so.
        """
        if name not in self.known:
            self.known[name] = Known(self._typical(name))
        known = self.known[name]
        expected = _cost(known.worker, activity).of(units)
        if expected <= 0.0 or seconds <= 0.0:
            return False
        factors = known.factors.setdefault(activity, [])
        factors.append(seconds / expected)
        del factors[:-RECENT]
        if len(factors) < 2:
            return False
        off = min((abs(factor - 1.0) for factor in sorted(factors)[-2:]), default=0.0)
        off = min(off, abs(statistics.median(factors) - 1.0))
        self.farthest = max(self.farthest, off)
        return off > known.band

    def accept(self) -> None:
        """Take what was observed as the costs from now on."""
        for known in self.known.values():
            known.worker = _scaled(known)
            known.factors.clear()
            known.band *= WIDENING

    def speed(self, name: str) -> float:
        """Units per second that a worker computes, 1 where nothing is known of any."""
        known = self.known.get(name)
        worker = _scaled(known) if known is not None else self._typical(name)
        per_unit = _cost(worker, Activity.COMPUTE).per_unit
        return 1.0 / per_unit if per_unit > 0 else 1.0

    def least_piece(self, name: str) -> float:
        """Units that are worth a message."""
        known = self.known.get(name)
        worker = known.worker if known is not None else self._typical(name)
        start = _cost(worker, Activity.SEND).fixed + _cost(worker, Activity.COMPUTE).fixed
        return max(LEAST_SECONDS, OVERHEADS * start) * self.speed(name)

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
