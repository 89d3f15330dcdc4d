"""How far real durations are from predicted ones."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Literal

import numpy as np

from makespan.core.inputs.mistakes import Mistakes
from makespan.core.inputs.rules import Rule
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.schedule import Activity, Schedule

DISTRIBUTIONS = ("normal", "uniform", "lognormal", "gamma")
WIDEST = {"normal": 0.5, "uniform": 1 / math.sqrt(3)}
"""The largest errors with which all factors can be positive and 1 on average."""


@dataclass(frozen=True, slots=True)
class Noise:
    """Factors on durations, 1 on average.

    Parameters
    ----------
    distribution
        ``"normal"`` (cut off at 0 and 2, so that the mean stays 1), ``"uniform"``,
        ``"lognormal"`` or ``"gamma"``.
    error
        The standard deviation, relative to the predicted duration: 0.2 is 20 %. Cutting off
        makes that of ``"normal"`` a little less.
    per
        ``"activity"``: every transfer and computation has a factor of its own. ``"machine"``:
        all computations of a machine share one, and so do all transfers between two machines.
    of
        ``"all"`` activities, ``"compute"`` (and ``"reduce"``) only, or ``"transfers"`` only.

    Raises
    ------
    ProblemError
        If one of these is not allowed.

    >>> Noise("uniform", 0.2).drawn(np.random.default_rng(0), (2, 3)).shape
    (2, 3)
    """

    distribution: Literal["normal", "uniform", "lognormal", "gamma"] = "normal"
    error: float = 0.0
    _: KW_ONLY
    per: Literal["activity", "machine"] = "activity"
    of: Literal["all", "compute", "transfers"] = "all"

    def __post_init__(self) -> None:
        mistakes = Mistakes()
        for name, allowed in (
            ("distribution", DISTRIBUTIONS),
            ("per", ("activity", "machine")),
            ("of", ("all", "compute", "transfers")),
        ):
            mistakes.choice(f"noise.{name}", getattr(self, name), allowed)
        error = mistakes.number("noise.error", self.error, Rule("an error is 0 or more, as in 0.2"))
        widest = WIDEST.get(str(self.distribution), math.inf)
        if error > widest:
            mistakes.add(
                "noise.error",
                f"{error!r} is above {widest:.4g}, the widest {self.distribution} error that "
                "keeps durations positive; lognormal and gamma can be wider",
            )
        mistakes.raise_if_any()

    def drawn(self, generator: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Return independent factors."""
        error = float(self.error)
        if error == 0.0:
            return np.ones(shape)
        factors: Floats
        if self.distribution == "uniform":
            half = error * math.sqrt(3.0)
            factors = generator.uniform(1.0 - half, 1.0 + half, shape)
        elif self.distribution == "lognormal":
            variance = math.log1p(error**2)
            factors = generator.lognormal(-variance / 2.0, math.sqrt(variance), shape)
        elif self.distribution == "gamma":
            factors = generator.gamma(1.0 / error**2, error**2, shape)
        else:
            factors = generator.normal(1.0, error, shape)
            outside = (factors <= 0.0) | (factors >= 2.0)
            while outside.any():
                factors[outside] = generator.normal(1.0, error, int(outside.sum()))
                outside = (factors <= 0.0) | (factors >= 2.0)
        return factors

    def groups(self, schedule: Schedule) -> Integers:
        """Return for each row the number of the factor that it takes, -1 for none."""
        computes = (schedule.kind == Activity.COMPUTE) | (schedule.kind == Activity.REDUCE)
        wanted = {"all": computes | True, "compute": computes, "transfers": ~computes}[self.of]
        groups = np.full(len(schedule), -1, dtype=np.int64)
        rows = np.flatnonzero(wanted)
        if self.per == "activity":
            groups[rows] = np.arange(len(rows))
        else:
            count = len(schedule.machines) + 1
            ends = np.sort(np.stack([schedule.machine, schedule.peer], axis=1), axis=1)[rows]
            key = np.where(
                computes[rows], ends[:, 1], count + (ends[:, 0] + 1) * count + ends[:, 1]
            )
            groups[rows] = np.unique(key, return_inverse=True)[1]
        return groups

    def __str__(self) -> str:
        what = "durations" if self.of == "all" else self.of
        return f"{self.distribution} error of {100 * self.error:g} % per {self.per} on {what}"


def as_noise(noise: Noise | float) -> Noise:
    """Return ``noise`` as a :class:`Noise`; a number is a normal relative error per activity."""
    return noise if isinstance(noise, Noise) else Noise("normal", noise)
