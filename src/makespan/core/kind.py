"""A kind of problem: a folder with rooms, each loaded when it is first entered.

A room is a module or a package; the protocols here say what it holds, and the type checker holds
the rooms of each kind against them (``tests/flow/test_rooms.py``). What not every kind has is a
protocol of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast, runtime_checkable

from makespan.core.inputs.files import PathLike
from makespan.core.numeric.arrays import Floats
from makespan.core.problem import Problem
from makespan.core.report import Violation
from makespan.core.schedule import Schedule
from makespan.core.simulation import Replay
from makespan.core.solution import Bound, Solution

if TYPE_CHECKING:
    from makespan.core.picture import Drawn, Groups, Picture
    from makespan.core.sensitivity import Copied, Varied
    from makespan.core.solution import FrontValues

Policy = Callable[..., Any]
"""``(problem, noise, repetitions, generator)`` gives the makespans and the one without noise."""

ROUNDING = 1e-9

Own = TypeVar("Own", bound=Problem)
Room = TypeVar("Room")
Of_contra = TypeVar("Of_contra", bound=Problem, contravariant=True)
Made_co = TypeVar("Made_co", bound=Problem, covariant=True)


class Referee(Protocol[Of_contra]):
    def violations(self, problem: Of_contra, schedule: Schedule) -> Iterable[Violation]:
        """Yield what breaks the statement; imports nothing of the solvers."""


class Bounds(Protocol[Of_contra]):
    def bounds(self, problem: Of_contra) -> tuple[Bound, ...]:
        """Return lower bounds on the makespan, each cited; quick at any size."""


@runtime_checkable
class HasLimits(Protocol[Of_contra]):
    def enforce_limits(self, problem: Of_contra, solution: Solution) -> Solution:
        """Return the solution, without its plan where that keeps not all limits of the problem;
        with the proof that no plan does, where bounds show that.
        """


@runtime_checkable
class HasDeadline(Protocol[Own]):
    def undated(self, problem: Own) -> Own:
        """Return the problem without a deadline that only the end of a plan can miss, which
        ``auto`` solves first, so that late plans serve later methods.
        """


@runtime_checkable
class HasGrain(Protocol[Of_contra]):
    def grain(self, problem: Of_contra) -> float | None:
        """Return what some optimal makespan is a whole multiple of, such as 1.0 where all data
        are whole; None where no such number is known.
        """


class Timing(Protocol[Of_contra]):
    def retimed(
        self, problem: Of_contra, schedule: Schedule, factors: Floats | None = None
    ) -> Schedule:
        """Return the same decisions, as early as possible, also for disturbed durations."""


@runtime_checkable
class HasPostprocessing(Protocol[Of_contra]):
    def postprocessing_seconds(self, problem: Of_contra) -> float:
        """Return about how many seconds it takes to time, referee and bound a large plan."""


@runtime_checkable
class HasMinimumTime(Protocol[Of_contra]):
    def minimum_seconds(self, problem: Of_contra) -> float:
        """Return about how many seconds the quickest plan takes, with all that comes behind it,
        where that may be more than a short limit.
        """


@runtime_checkable
class HasReplay(Protocol[Of_contra]):
    def replay(self, problem: Of_contra, schedule: Schedule, repetitions: int) -> Replay:
        """Return the plan's decisions, prepared to be carried out many times."""


@runtime_checkable
class NamesTasks(Protocol[Of_contra]):
    def tasks(self, problem: Of_contra) -> Sequence[str]:
        """Return the names that the items of computations index."""


class Answer(Protocol[Of_contra]):
    def answer(self, problem: Of_contra, schedule: Schedule) -> dict[str, Any]:
        """Return what people read, as data."""

    def lines(self, problem: Of_contra, schedule: Schedule, *, most: int = ...) -> list[str]:
        """Return the answer as lines of text, of ``most`` machines or tasks."""


class Pictures(Protocol[Of_contra]):
    def picture(self, problem: Of_contra, schedule: Schedule) -> Picture:
        """Return rows, lanes and bars, without a backend."""

    @property
    def VIEWS(self) -> Mapping[str, Callable[..., Drawn]]:  # noqa: N802
        """Other pictures by name: ``(problem, schedule or None, *, by, details)``.

        ``by`` is what colours tell apart, where there are several ways; ``details`` what is known
        of a plan besides its schedule. What needs more than is there raises an ``InputError``.
        """


@runtime_checkable
class HasGroups(Protocol[Of_contra]):
    def grouped(
        self, problem: Of_contra, schedule: Schedule, by: str, details: Mapping[str, Any]
    ) -> Groups:
        """Return what colours of activities tell apart, in the way called ``by``."""


@runtime_checkable
class HasAlternatives(Protocol[Of_contra]):
    def alternatives(
        self, problem: Of_contra, details: Mapping[str, Any]
    ) -> list[tuple[FrontValues, Schedule]]:
        """Return the plans to choose from in the details of a result, with what each reaches."""


@runtime_checkable
class HasVariants(Protocol[Of_contra]):
    def varied(self, problem: Of_contra, schedule: Schedule, machines: Sequence[str]) -> Varied:
        """Return by how much the objective of a plan changes per unit of the machines' costs."""


@runtime_checkable
class OffersCopies(Protocol[Of_contra]):
    def copies(
        self, problem: Of_contra, machines: Sequence[str], *, named: bool
    ) -> tuple[list[Copied], tuple[str, ...]]:
        """Return the problems with one machine more, and notes where there are none.

        Each has a copy of one of the machines; unless they are ``named``, only of one of those
        that are alike.
        """


class File(Protocol[Own]):
    def read(self, data: Mapping[str, Any]) -> Own:
        """Build the problem from the contents of a file, or raise every mistake found."""

    def write(self, problem: Own) -> dict[str, Any]:
        """Return the problem as the contents of a file."""

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the kind's files."""


@runtime_checkable
class ReadsFolder(Protocol[Made_co]):
    def read_beside(
        self, data: Mapping[str, Any], folder: Path, within: PathLike | None = None
    ) -> Made_co:
        """Like ``read``; files that ``data`` names lie beneath ``folder`` or ``within``."""


class Generate(Protocol[Made_co]):
    @property
    def generate(self) -> Callable[..., Made_co]:
        """``(rng, *, options)`` makes a random problem."""


class Methods(Protocol):
    @property
    def AUTO(self) -> tuple[str, ...]:  # noqa: N802
        """The line-up that ``method="auto"`` tries in turn."""


@cache
def offers(room: Any, protocol: Any) -> bool:
    """Whether a room holds what a protocol says; looked at once for each room.

    >>> from makespan.flow.kinds import KINDS
    >>> offers(KINDS["taskgraph"].timing, NamesTasks), offers(KINDS["partition"].timing, NamesTasks)
    (True, False)
    """
    return isinstance(room, protocol)


@cache
def _room(kind: str, name: str) -> Any:
    return import_module(f"makespan.{kind}.{name}")


class _Entrance(Generic[Room]):
    """The room of its name, loaded when it is first entered."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, kind: Kind, owner: type) -> Room:
        return cast(Room, _room(kind.name, self._name))


@dataclass(frozen=True, slots=True)
class Kind:
    """The rooms of ``makespan.<name>``, and what stands for those that it lacks."""

    name: str

    answer = _Entrance[Answer[Any]]()
    bounds = _Entrance[Bounds[Any]]()
    file = _Entrance[File[Any]]()
    generate = _Entrance[Generate[Any]]()
    methods = _Entrance[Methods]()
    pictures = _Entrance[Pictures[Any]]()
    referee = _Entrance[Referee[Any]]()
    timing = _Entrance[Timing[Any]]()

    def enforce_limits(self, problem: Problem, solution: Solution) -> Solution:
        """Return what is left of a solution under the limits that not every method knows of."""
        room: Any = self.bounds
        return room.enforce_limits(problem, solution) if offers(room, HasLimits) else solution

    def undated(self, problem: Problem) -> Problem:
        """Return the problem without a deadline that only the end of a plan can miss."""
        room: Any = self.bounds
        return room.undated(problem) if offers(room, HasDeadline) else problem

    def grain(self, problem: Problem) -> float | None:
        """Return what some optimal makespan is a whole multiple of; None where that is unknown."""
        room: Any = self.bounds
        return room.grain(problem) if offers(room, HasGrain) else None

    @property
    def met_within(self) -> float:
        """The share of its makespan by which a plan may be above a bound and still meet it."""
        within: float = getattr(self.bounds, "MET_WITHIN", ROUNDING)
        return within

    def postprocessing_seconds(self, problem: Problem) -> float:
        """Return about how many seconds it takes to time, referee and bound a large plan."""
        room: Any = self.timing
        return room.postprocessing_seconds(problem) if offers(room, HasPostprocessing) else 0.0

    def minimum_seconds(self, problem: Problem) -> float:
        """Return about how many seconds the quickest plan takes, with all that comes behind it."""
        room: Any = self.timing
        return room.minimum_seconds(problem) if offers(room, HasMinimumTime) else 0.0

    def replay(self, problem: Problem, schedule: Schedule, repetitions: int) -> Replay:
        """Return the plan's decisions, to be carried out with other durations."""
        room: Any = self.timing
        if offers(room, HasReplay):
            prepared: Replay = room.replay(problem, schedule, repetitions)
            return prepared
        return Replay(lambda factors: float(room.retimed(problem, schedule, factors).makespan))

    def tasks(self, problem: Problem) -> Sequence[str] | None:
        """Return the names of what is computed; None where it has none."""
        room: Any = self.timing
        return room.tasks(problem) if offers(room, NamesTasks) else None

    @property
    def what_if(self) -> Any:
        """What the kind answers to other costs and one machine more; None for nothing."""
        return self._optional("what_if")

    def advice(self, problem: Problem, schedule: Schedule) -> tuple[str, ...]:
        """Return what the reader of a plan may ask for instead, a sentence each; quickly."""
        room = self._optional("advice")
        return () if room is None else tuple(room.notes(problem, schedule))

    def policy(self, name: str) -> Policy | None:
        """Return the simulation of a policy that decides while it runs; None if there is none."""
        room = self._optional("policies")
        found: Policy | None = None if room is None else room.SIMULATIONS.get(name)
        return found

    def _optional(self, room: str) -> Any:
        """Return a room that not every kind has; None where it is not there."""
        home = f"makespan.{self.name}.{room}"
        return None if find_spec(home) is None else import_module(home)

    def read(
        self, data: Mapping[str, Any], folder: Path | None = None, within: PathLike | None = None
    ) -> Problem:
        """Build the problem from the contents of a file; others that it names are in ``folder``.

        Raises ProblemError with every mistake found.
        """
        room: Any = self.file
        if folder is not None and offers(room, ReadsFolder):
            beside: Problem = room.read_beside(data, folder, within)
            return beside
        found: Problem = room.read(data)
        return found
