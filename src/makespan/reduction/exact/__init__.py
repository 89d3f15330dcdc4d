"""What models of sends for CP-SAT have in common."""

from __future__ import annotations

from typing import Any

from makespan.core.control import Control
from makespan.core.schedule import Schedule
from makespan.reduction.problem import Reduction

ASKED_EVERY = 200  # arcs or pairs between looks at the clock
MAX_PAIRS = 300_000


class Unbuilt(Exception):
    """The model was not built to its end."""


class Model:
    """A plan that ends no later than the incumbent, in whole units of time."""

    def __init__(self, problem: Reduction, control: Control, incumbent: Schedule) -> None:
        from makespan.backends.cp_sat import library

        self.problem, self.incumbent, self.control = problem, incumbent, control
        self.built = 0
        self.machines, self.segments = len(problem.machines), problem.items
        self.unit = float(problem.unit or 1)
        self.most = round(incumbent.makespan / self.unit)
        self.model: Any = library().CpModel()

    def _look(self) -> None:
        """Give up where the time is up."""
        self.built += 1
        if self.built % ASKED_EVERY == 0 and self.control.expired():
            raise Unbuilt
