"""Limits that cut a search short: of the clock, or at any one look at it."""

from __future__ import annotations

import math
import random
from typing import NamedTuple

from makespan import Result
from makespan.core.control import Control
from makespan.core.problem import Problem
from makespan.flow.solve import solve_controlled

SHORTEST, LONGEST = 1e-3, 0.1
MOST_LOOKS = 2_000
BY_LOOKS = 0.5


class Cut(NamedTuple):
    """Where a search ends: after seconds, or at a look at the clock, the same on any machine."""

    seconds: float | None = None
    looks: int | None = None

    def solve(self, problem: Problem, method: str) -> Result:
        """Solve a problem until the cut."""
        control = Control(time_limit=self.seconds) if self.looks is None else Counted(self.looks)
        return solve_controlled(problem, control, method=method)

    def __str__(self) -> str:
        if self.looks is None:
            return f"cut after {self.seconds:.2g} s"
        return f"cut at look {self.looks} at the clock"


class Counted(Control):
    """A control for which time passes when somebody looks: at look ``looks`` the time is up.

    It is up as well when the longest limit is: some look once in a long while.
    """

    def __init__(self, looks: int) -> None:
        super().__init__(time_limit=1.0)
        self._seconds, self._passed = 1.0 / looks, 0.0

    @property
    def elapsed(self) -> float:
        """Seconds of the limit: a part of it for each look, or the share of the longest one."""
        self._passed += self._seconds
        return max(self._passed, super().elapsed / LONGEST)


def drawn(rng: random.Random, most_looks: int = MOST_LOOKS) -> Cut:
    """Return a cut, its place evenly over magnitudes."""
    if rng.random() < BY_LOOKS:
        return Cut(looks=int(math.exp(rng.uniform(0.0, math.log(most_looks)))))
    return Cut(seconds=math.exp(rng.uniform(math.log(SHORTEST), math.log(LONGEST))))
