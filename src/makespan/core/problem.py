"""What every problem has in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeGuard, runtime_checkable

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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


class Pictured:
    """What a problem can do besides being stated: be drawn."""

    __slots__ = ()

    def plot(self, *, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the problem with matplotlib; see :func:`makespan.plot`."""
        drawn: Axes = import_module("makespan.flow.pictures.plot").plot(self, ax=ax, **options)
        return drawn
