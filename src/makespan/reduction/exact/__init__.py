"""What models of sends for CP-SAT have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from itertools import chain, combinations, pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from makespan.core.control import Control
from makespan.core.schedule import Schedule
from makespan.reduction.problem import Reduction

if TYPE_CHECKING:
    from makespan.backends.cp_sat import Settings

ASKED_EVERY = 200  # arcs or pairs between looks at the clock
MAX_PAIRS = 300_000


class Unbuilt(Exception):
    """The model was not built to its end."""


class Part(NamedTuple):
    """What a unit may combine or prepare: whether, and two things that follow one another.

    Of the next one that the unit takes, ``begins`` are no earlier than ``ends`` of this one.
    """

    chosen: Any
    begins: tuple[Any, Any]
    ends: tuple[Any, Any]


class Model(ABC):
    """A plan that ends no later than the incumbent, in whole units of time.

    ``held[i, k]`` is when machine i has segment k; machines from ``first`` on may be alike.
    """

    first: ClassVar[int]
    settings: ClassVar[Settings] = {}  # parameters of CP-SAT that suit the model
    held: dict[tuple[int, int], Any]

    def __init__(
        self, problem: Reduction, control: Control, incumbent: Schedule, least: float,
        in_order_of_arrival: bool,
    ) -> None:  # fmt: skip
        from makespan.backends.cp_sat import library

        self.problem, self.incumbent, self.control = problem, incumbent, control
        self.built = 0
        self.machines, self.segments = len(problem.machines), problem.items
        self.unit = float(problem.unit or 1)
        self.most = round(incumbent.makespan / self.unit)
        self.model: Any = library().CpModel()
        self._finish(self._variables(round(least / self.unit)), self._ports(), in_order_of_arrival)

    @abstractmethod
    def _variables(self, least: int) -> Any:
        """Add the variables, and what holds between them; return the end, at least so late."""

    @abstractmethod
    def _ports(self) -> Iterable[list[Part]]:
        """Ports and units take one at a time; return what each unit does."""

    def _look(self) -> None:
        """Give up where the time is up."""
        self.built += 1
        if self.built % ASKED_EVERY == 0 and self.control.expired():
            raise Unbuilt

    def _finish(self, end: Any, units: Iterable[list[Part]], in_order_of_arrival: bool) -> None:
        """Add the order of arrival, if asked for, and the symmetry; begin with the incumbent."""
        if in_order_of_arrival:
            self._order_of_arrival(list(units))
        if self._alike:  # numbered by when machines have segment 0, and the first one has segments
            machines = [self.held[i, 0] for i in range(self.first, self.machines)]
            segments = [self.held[self.first, k] for k in range(self.segments)]
            for one, two in chain(pairwise(machines), pairwise(segments)):
                self.model.add(one <= two)
        self.model.minimize(end)
        self._hint(end)

    def _order_of_arrival(self, units: list[list[Part]]) -> None:
        """A unit combines parts as they arrive, or prepares copies as they are sent."""
        if sum(len(unit) * (len(unit) - 1) // 2 for unit in units) > MAX_PAIRS:
            raise Unbuilt
        for one, two in (pair for unit in units for pair in combinations(unit, 2)):
            self._look()
            first = self.model.new_bool_var("")
            for sooner, later, when in ((one, two, first), (two, one, first.negated())):
                for end, begin in zip(sooner.ends, later.begins, strict=True):
                    self.model.add(end <= begin).only_enforce_if(one.chosen, two.chosen, when)

    def _hold(self, ports: Any, port: int, at: Any, lasts: int, chosen: Any) -> None:
        """Note that a port is held from ``at`` on for so long, if that is chosen."""
        held = self.model.new_optional_fixed_size_interval_var(at, lasts, chosen, "")
        ports[port].append(held)

    def _one_at_a_time(self, intervals: Iterable[list[Any]]) -> None:
        """Each port, unit or link carries or does one thing at a time."""
        for each in intervals:
            if len(each) > 1:
                self.model.add_no_overlap(each)

    @property
    @abstractmethod
    def _alike(self) -> bool:
        """Whether machines, and segments, are interchangeable."""

    @abstractmethod
    def _hint(self, end: Any) -> None:
        """Start from the incumbent, its machines and segments renamed as the symmetry asks."""
