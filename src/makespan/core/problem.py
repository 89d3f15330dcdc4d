"""What every problem has in common."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar, Protocol, TypeGuard, runtime_checkable

from makespan.core.display import Axes, Displayable, Table, counted, renderers

SHOWN = 20_000  # machines, tasks and edges up to which a notebook shows what a problem is made of
DRAWN = 1_000  # and up to which it shows a picture


NO_MACHINES = "the file names no machines"  # how the note begins where a graph came without them


def assumed_machines(count: int) -> list[str]:
    """Return the note about instances whose machines were assumed; none where there are none.

    >>> assumed_machines(1)
    ['1 instance names no machines: equal ones were assumed; --machines or --network names others']
    """
    names = "names" if count == 1 else "name"
    text = "no machines: equal ones were assumed; --machines or --network names others"
    return [f"{counted(count, 'instance')} {names} {text}"] if count else []


@runtime_checkable
class Problem(Protocol):
    """A frozen, validated statement of one kind of problem."""

    kind: ClassVar[str]

    @property
    def machines(self) -> Sequence[str]:
        """The names of the machines, which a schedule's columns index."""

    @property
    def options(self) -> Mapping[str, Any]:
        """The method and its options that the problem's file asks for; empty for none."""


def is_problem(thing: object) -> TypeGuard[Problem]:
    """Whether a thing is a problem, of any kind."""
    return isinstance(getattr(type(thing), "kind", None), str)


class Pictured(Displayable):
    """What a problem can do besides being stated: be drawn, be shown in a notebook, be pickled."""

    __slots__ = ()

    def plot(self, *, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the problem with matplotlib; see :func:`makespan.plot`."""
        return renderers().plot(self, ax, **options)

    @abstractmethod
    def _counts(self) -> Mapping[str, int]:
        """Return how many there are of what the problem consists of, by its word."""

    def _facts(self) -> Sequence[str]:
        return [counted(number, word) for word, number in self._counts().items()]

    def _tables(self) -> Sequence[Table]:
        if sum(self._counts().values()) > SHOWN:
            return ()
        return renderers().tables(self)

    def _picture(self) -> str:
        if sum(self._counts().values()) > DRAWN:
            return ""
        return str(renderers().image(self, ".svg"))

    def __getstate__(self) -> dict[str, Any]:
        """Return the statement for copies and pickles, without what was worked out from it."""
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]
