"""What every problem has in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol, runtime_checkable


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
