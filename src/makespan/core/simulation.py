"""What becomes of a plan when predictions are wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from makespan.core.display import Displayable, HasFrame, Table, counted
from makespan.core.noise import Noise
from makespan.core.numeric.arrays import Floats
from makespan.core.schedule import Schedule

CONFIDENT = 1.959964  # standard errors on each side within which 95 % of all means are
SHOWN = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Simulation(Displayable, HasFrame):
    """Makespans under errors.

    Parameters
    ----------
    makespans
        The makespan of each repetition, seconds; read-only.
    nominal
        The makespan without errors, seconds.
    noise
        What the durations were disturbed by.
    seed
        The seed, or None where a generator was given.

    >>> import makespan
    >>> tasks = makespan.IndependentTasks(machines=2, durations=[3, 3, 2, 2, 2])
    >>> noise = makespan.Noise("normal", 0.1)
    >>> runs = makespan.simulate(makespan.solve(tasks), noise=noise, repetitions=50, rng=1)
    >>> len(runs.makespans), runs.nominal
    (50, 6.0)
    """

    makespans: Floats
    nominal: float
    noise: Noise
    seed: int | None = None

    @property
    def mean(self) -> float:
        return float(self.makespans.mean())

    @property
    def deviation(self) -> float:
        """The standard deviation of the makespan, seconds."""
        return float(self.makespans.std())

    def quantile(self, share: float) -> float:
        """Return the makespan that a share of the repetitions does not exceed, seconds."""
        return float(np.quantile(self.makespans, share))

    @property
    def quantiles(self) -> Mapping[float, float]:
        """The makespans at 5, 25, 50, 75 and 95 %."""
        return dict(zip(SHOWN, np.quantile(self.makespans, SHOWN).tolist(), strict=True))

    @property
    def mean_interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the mean."""
        return mean_interval(self.makespans)

    def quantile_interval(self, share: float) -> tuple[float, float]:
        """Return the 95 % confidence interval of the makespan that a share does not exceed."""
        return quantile_interval(self.makespans, share)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Simulation):
            return NotImplemented
        return np.array_equal(self.makespans, other.makespans) and (
            (self.nominal, self.noise, self.seed) == (other.nominal, other.noise, other.seed)
        )

    def __hash__(self) -> int:
        return hash((len(self.makespans), self.nominal, self.seed))

    def _columns(self) -> Mapping[str, Sequence[float]]:
        return {"makespan": self.makespans.tolist()}

    def _facts(self) -> Sequence[str]:
        times = counted(len(self.makespans), "repetition")
        return [times, str(self.noise), f"mean {self.mean:.6g}, planned {self.nominal:.6g}"]

    def _tables(self) -> Sequence[Table]:
        shown = {f"{100 * share:g} %": value for share, value in self.quantiles.items()}
        values = {"planned": self.nominal, "mean": self.mean, "deviation": self.deviation, **shown}
        return [Table.of({"": list(values), "makespan (s)": list(values.values())})]

    def as_dict(self) -> dict[str, Any]:
        """Return the distribution for a file."""
        return {
            "format": "makespan.simulation/1",
            "noise": self.noise.as_dict(),
            "repetitions": len(self.makespans),
            "seed": self.seed,
            "nominal": self.nominal,
            "mean": self.mean,
            "deviation": self.deviation,
            "mean_interval": list(self.mean_interval),
            "quantiles": {f"{share:g}": value for share, value in self.quantiles.items()},
            "least": float(self.makespans.min()),
            "most": float(self.makespans.max()),
        }

    def __str__(self) -> str:
        late = (self.mean / self.nominal - 1.0) * 100.0 if self.nominal else 0.0
        low, high = self.mean_interval
        lines = [
            f"{len(self.makespans)} repetitions, {self.noise}",
            f"planned   {self.nominal:.8g}",
            f"mean      {self.mean:.8g}  ({late:+.2f} %), deviation {self.deviation:.4g}",
            f"          95 % sure between {low:.8g} and {high:.8g}",
        ]
        lines += [f"{100 * share:>5.3g} %   {value:.8g}" for share, value in self.quantiles.items()]
        return "\n".join(lines)


def mean_interval(makespans: Floats) -> tuple[float, float]:
    """Return the 95 % confidence interval of the mean, by the normal distribution.

    >>> [round(end, 2) for end in mean_interval(np.array([1.0, 3.0]))]
    [0.04, 3.96]
    """
    mean, count = float(makespans.mean()), len(makespans)
    spread = float(makespans.std(ddof=1)) if count > 1 else np.inf
    half = CONFIDENT * spread / count**0.5
    return mean - half, mean + half


def quantile_interval(makespans: Floats, share: float) -> tuple[float, float]:
    """Return the 95 % confidence interval of a quantile: two of the makespans in order.

    Source: David and Nagaraja 2003, with the normal approximation of the binomial distribution.

    >>> quantile_interval(np.arange(1001.0), 0.5)
    (469.0, 532.0)
    """
    count = len(makespans)
    half = CONFIDENT * (count * share * (1.0 - share)) ** 0.5
    ranks = np.floor(count * share - half), np.ceil(count * share + half)
    low, high = np.sort(makespans)[np.clip(ranks, 0, count - 1).astype(np.int64)].tolist()
    return low, high


NUMBERS_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True)
class Replay:
    """The decisions of a plan; ``end`` takes a factor for each row and returns the makespan."""

    end: Callable[[Floats], float]

    def makespans(self, factors: Floats) -> Floats:
        """Return the makespan for each row of an array (repetitions, rows)."""
        return np.array([self.end(row) for row in factors], dtype=np.float64)

    def disturbed(
        self,
        schedule: Schedule,
        noise: Noise,
        repetitions: int,
        generator: np.random.Generator,
        tasks: Sequence[str] | None = None,
    ) -> Floats:
        """Return the makespans of independent runs; ``tasks`` as in :meth:`Noise.groups`."""
        groups, errors = noise.groups(schedule, tasks)
        factors, makespans = len(errors), np.empty(repetitions)
        block = max(1, NUMBERS_AT_ONCE // max(1, len(schedule)))
        for first in range(0, repetitions, block):
            size = min(block, repetitions - first)
            drawn = np.ones((size, factors + 1))  # the last, of group -1, stays 1
            drawn[:, :factors] = noise.drawn(generator, (size, factors), errors)
            makespans[first : first + size] = self.makespans(drawn[:, groups])
        return makespans
