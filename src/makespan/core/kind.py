"""A kind of problem: a folder with rooms, each loaded when it is first entered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from makespan.core.inputs.files import PathLike
from makespan.core.problem import Problem
from makespan.core.report import Violation
from makespan.core.schedule import Schedule
from makespan.core.simulation.replay import Replay
from makespan.core.solution import Bound

if TYPE_CHECKING:
    from makespan.core.diagram import Drawn
    from makespan.core.picture import Picture

Policy = Callable[..., Any]
"""``(problem, noise, repetitions, generator)`` gives the makespans and the one without noise."""

ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Kind:
    """The rooms of ``makespan.<name>``.

    | room | function | does |
    |---|---|---|
    | referee | ``violations(problem, schedule)`` | yields what breaks the statement |
    | bounds | ``bounds(problem)`` | lower bounds, each cited; quick at any size |
    | | ``grain(problem)`` | what some optimal makespan is a whole multiple of; may be missing |
    | | ``MET_WITHIN`` | 0 where makespans are compared exactly; may be missing: 1e-9 |
    | timing | ``retimed(problem, schedule, factors)`` | the same decisions, as early as possible |
    | | ``behind(problem)`` | seconds from a plan to its result; may be missing: 0 |
    | answer | ``answer(problem, schedule)`` | what people read |
    | pictures | ``picture(problem, schedule)`` | rows and bars |
    | | ``VIEWS`` | other pictures of the problem or a plan, by name |
    | file | ``read(data)``, ``write(problem)``, ``schema()`` | the form in files |
    | generate | ``generate(rng, *, options) -> problem`` | a random problem; may be missing |
    | methods | ``AUTO`` | the line-up that ``method="auto"`` tries in turn |
    """

    name: str

    def _room(self, room: str) -> ModuleType:
        return import_module(f"makespan.{self.name}.{room}")

    def violations(self, problem: Problem, schedule: Schedule) -> Iterable[Violation]:
        found: Iterable[Violation] = self._room("referee").violations(problem, schedule)
        return found

    def bounds(self, problem: Problem) -> tuple[Bound, ...]:
        found: tuple[Bound, ...] = self._room("bounds").bounds(problem)
        return found

    def grain(self, problem: Problem) -> float | None:
        """Return what some optimal makespan is a whole multiple of, such as 1.0 where all data are
        whole; None where no such number is known.
        """
        room = self._room("bounds")
        found: float | None = room.grain(problem) if hasattr(room, "grain") else None
        return found

    @property
    def met_within(self) -> float:
        """The share of its makespan by which a plan may be above a bound and still meet it."""
        within: float = getattr(self._room("bounds"), "MET_WITHIN", ROUNDING)
        return within

    def retimed(self, problem: Problem, schedule: Schedule) -> Schedule:
        timed: Schedule = self._room("timing").retimed(problem, schedule)
        return timed

    def behind(self, problem: Problem) -> float:
        """Return about how many seconds it takes to time, referee and bound a large plan."""
        room = self._room("timing")
        seconds: float = room.behind(problem) if hasattr(room, "behind") else 0.0
        return seconds

    def replay(self, problem: Problem, schedule: Schedule, repetitions: int) -> Replay:
        """Return the plan's decisions, to be carried out with other durations.

        A kind whose ``timing`` has a ``replay`` prepares it once for many repetitions.
        """
        timing = self._room("timing")
        if hasattr(timing, "replay"):
            prepared: Replay = timing.replay(problem, schedule, repetitions)
            return prepared
        return Replay(lambda factors: float(timing.retimed(problem, schedule, factors).makespan))

    def policy(self, name: str) -> Policy | None:
        """Return the simulation of a policy that decides while it runs; None if there is none."""
        try:
            room = self._room("policies")
        except ModuleNotFoundError:
            return None
        found: Policy | None = room.SIMULATIONS.get(name)
        return found

    def answer(self, problem: Problem, schedule: Schedule) -> dict[str, Any]:
        derived: dict[str, Any] = self._room("answer").answer(problem, schedule)
        return derived

    def answer_lines(self, problem: Problem, schedule: Schedule) -> list[str]:
        """Return the answer as lines of text, for people."""
        lines: list[str] = self._room("answer").lines(problem, schedule)
        return lines

    def picture(self, problem: Problem, schedule: Schedule) -> Picture:
        drawn: Picture = self._room("pictures").picture(problem, schedule)
        return drawn

    @property
    def views(self) -> tuple[str, ...]:
        """The names of the pictures of a problem, which may also show a plan."""
        names: tuple[str, ...] = tuple(self._room("pictures").VIEWS)
        return names

    def view(
        self,
        name: str,
        problem: Problem,
        schedule: Schedule | None = None,
        *,
        by: str | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> Drawn:
        """Return one of the :attr:`views`.

        Parameters
        ----------
        by
            What colours tell apart, where the kind has several ways.
        details
            What is known of the plan besides its schedule.

        Raises
        ------
        InputError
            If the picture needs what is not there.
        """
        make = self._room("pictures").VIEWS[name]
        drawn: Drawn = make(problem, schedule, by=by, details=details or {})
        return drawn

    def read(
        self,
        data: Mapping[str, Any],
        folder: Path | None = None,
        within: PathLike | None = None,
    ) -> Problem:
        """Build the problem from the contents of a file.

        Files that it names are looked for in ``folder``, and lie beneath it or ``within`` another;
        a kind whose files name others has a function ``read_beside(data, folder, within)`` for
        that.

        Raises
        ------
        ProblemError
            With every mistake found.
        """
        room = self._room("file")
        if folder is not None and hasattr(room, "read_beside"):
            found: Problem = room.read_beside(data, folder, within)
            return found
        problem: Problem = room.read(data)
        return problem

    def read_csv(self, path: str, parts: Mapping[str, Any]) -> Problem:
        """Build the problem from a CSV file of measurements and the ``parts`` that it lacks."""
        problem: Problem = self._room("file").from_csv(path, **parts)
        return problem

    def write(self, problem: Problem) -> dict[str, Any]:
        """Return the problem as the contents of a file."""
        data: dict[str, Any] = self._room("file").write(problem)
        return data

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the kind's files."""
        described: dict[str, Any] = self._room("file").schema()
        return described

    @property
    def generator(self) -> Callable[..., Problem] | None:
        """The function that makes a random problem; None where the kind has none."""
        if find_spec(f"makespan.{self.name}.generate") is None:
            return None
        found: Callable[..., Problem] = self._room("generate").generate
        return found

    @property
    def auto(self) -> tuple[str, ...]:
        """The names of the methods that ``auto`` tries in turn."""
        names: tuple[str, ...] = self._room("methods").AUTO
        return names
