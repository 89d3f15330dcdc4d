"""The statement of a problem of independent tasks."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from makespan.core.inputs.mistakes import Mistakes, shown
from makespan.core.inputs.rules import Rule, whole
from makespan.core.names import Numbered
from makespan.core.numeric.arrays import Floats
from makespan.core.problem import Pictured

MAX_MACHINES = 10**9
MACHINES = whole("machines are", high=MAX_MACHINES)
DURATION = Rule("a duration is 0 or more seconds")


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class IndependentTasks(Pictured):
    """Tasks of given durations on identical machines, to be finished as early as possible.

    Every task runs on one machine from start to end; with ``preemptive``, it may be cut into
    pieces that run on any machines, one after another. A machine runs one task at a time.

    Parameters
    ----------
    machines
        The number of identical machines, 1 or more. The attribute ``machines`` holds their
        names, ``M1``, ``M2``, …; ``machine_count`` their number.
    durations
        Seconds of each task, 0 or more; any number of tasks. Kept as a read-only array.
    preemptive
        Whether a task may be interrupted and continued later, on any machine.
    options
        ``method`` and its options, as in the table ``[options]`` of a file.

    Raises
    ------
    ProblemError
        With every mistake found, each with its place.

    Source: Benoit 2016, ``P || C_max`` and ``P | pmtn | C_max``.

    >>> tasks = IndependentTasks(machines=3, durations=[4, 4, 4, 4, 3, 2])
    >>> list(tasks.machines), tasks.machine_count
    (['M1', 'M2', 'M3'], 3)
    """

    kind: ClassVar[str] = "independent"

    machines: Sequence[str]
    durations: Floats
    preemptive: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    def __init__(
        self,
        machines: int,
        durations: ArrayLike,
        *,
        preemptive: bool = False,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        mistakes = Mistakes()
        mistakes.number("machines", machines, MACHINES)
        seconds = _checked_durations(mistakes, durations)
        preemptive = bool(preemptive) if isinstance(preemptive, np.bool_) else preemptive
        mistakes.flag("preemptive", preemptive)
        if options is not None and not isinstance(options, Mapping):
            mistakes.add("options", f"{shown(options)} is not a table of name = value")
        mistakes.raise_if_any()
        seconds.flags.writeable = False
        object.__setattr__(self, "machines", Numbered("M", operator.index(machines), first=1))
        object.__setattr__(self, "durations", seconds)
        object.__setattr__(self, "preemptive", preemptive)
        object.__setattr__(self, "options", dict(options or {}))

    @property
    def tasks(self) -> Sequence[str]:
        """The names of the tasks: ``T1``, ``T2``, …"""
        return Numbered("T", len(self.durations), first=1)

    @property
    def machine_count(self) -> int:
        """The number of machines."""
        return len(self.machines)

    @property
    def useful_machines(self) -> int:
        """The number of machines that a plan can use: no more than there are tasks."""
        return min(len(self.machines), len(self.durations))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IndependentTasks):
            return NotImplemented
        return (
            self.machine_count == other.machine_count
            and self.preemptive == other.preemptive
            and np.array_equal(self.durations, other.durations)
            and self.options == other.options
        )

    __hash__ = None  # type: ignore[assignment]

    def _counts(self) -> Mapping[str, int]:
        return {"task": len(self.durations), "machine": self.machine_count}


def _checked_durations(mistakes: Mistakes, durations: Any) -> Floats:
    """Return the durations as an array of their own; note every mistake."""
    if isinstance(durations, (str, bytes, Mapping)) or not np.iterable(durations):
        text = f"{shown(durations)} is not a list of numbers; {DURATION.allowed}"
        mistakes.add("durations", text)
        return np.empty(0)
    if isinstance(durations, np.ndarray) and durations.ndim != 1:
        mistakes.add("durations", f"has {durations.ndim} dimensions; it is one list of numbers")
        return np.empty(0)
    values = durations if isinstance(durations, np.ndarray) else list(durations)
    return np.array(mistakes.column(lambda index: f"durations[{index}]", values, DURATION))
