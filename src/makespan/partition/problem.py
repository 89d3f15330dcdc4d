"""The statement of a partition problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from makespan.core.cached import cached_property
from makespan.core.inputs.rules import DEADLINE, Mistakes, quoted
from makespan.core.names import Numbered
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.problem import Pictured
from makespan.partition.model.allowed_counts import Allowed, scanned
from makespan.partition.model.costs import (
    COST,
    ENERGY,
    TASKS,
    Given,
    build,
    given_rows,
    matrix_table,
    tabulate,
)
from makespan.partition.model.curves import Curves
from makespan.partition.model.long_table import is_frame, resources_of
from makespan.partition.model.table import Table

OBJECTIVES = ("makespan", "total", "energy", "time-then-energy", "energy-then-time", "pareto")
LARGEST_SUM = 1 << 62
NAMED = 3  # of the resources that must take part
PREFERENCES = ("lexicographic", "fewest-resources", "least-total")


@dataclass(frozen=True, kw_only=True, eq=True, repr=False)
class Partition(Pictured):
    """Identical tasks, to be split over resources whose cost of every count is known.

    No shape of the costs is assumed. A resource may take only the counts in its table; every
    resource's cost counts, also that of count 0.

    Parameters
    ----------
    tasks
        How many tasks there are, 0 or more.
    costs
        Seconds for each count, per resource; a list, or a table ``{name: row}``. A row is an
        array (the costs of ``first``, ``first + 1``, … tasks), ``{count: cost}``, an
        :class:`Affine` cost, a function of an array of counts, or
        :class:`makespan.partition.Samples`. Rows may differ in length; a 2-D array is
        used without a copy. An infinite cost forbids its count. Costs above ``tasks`` stay
        unused. A pandas or polars frame with the columns ``resource``, ``count``, ``time`` and,
        where measured, ``energy`` is a table of its own.
    names
        The resources' names; ``R1``, ``R2``, … where neither they nor ``costs`` name them.
    energy
        The energy of each count, in the same form as ``costs``.
    first
        The count of the first entry of each array, a number or one per resource.
    lower, upper
        The least and greatest count of each resource, numbers, one per resource, or where
        ``costs`` name the resources a mapping from their names.
    objective
        ``"makespan"`` (least largest time), ``"total"`` (least sum of times), ``"energy"``
        (least sum of energies), ``"time-then-energy"``, ``"energy-then-time"``, ``"pareto"`` (the
        whole front).
    require
        ``"all"``: exactly ``tasks`` are split. ``"most"``: first as many as possible.
    prefer
        Which optimum, where the objective is the makespan: ``"lexicographic"`` (the least count
        for the first resource, then for the second, …), ``"fewest-resources"`` (fewest with any
        task), ``"least-total"`` (least sum of times).
    deadline
        The latest end, seconds.
    options
        ``method`` and its options, as in the table ``[options]`` of a file.

    Raises
    ------
    ProblemError
        With every mistake found, each with its place.

    Source: Pilla 2022, definition 1; corrected: any number of tasks, any sets of counts.

    >>> problem = Partition(tasks=3, costs=[[0.0, 9.0, 4.0, 7.0], {0: 1.0, 1: 2.0}])
    >>> list(problem.machines), problem.costs_of(np.array([2, 1])).tolist()
    (['R1', 'R2'], [4.0, 2.0])
    """

    kind: ClassVar[str] = "partition"

    tasks: int
    costs: Any
    names: Sequence[str] | None = None
    energy: InitVar[Any] = None
    first: InitVar[Any] = 0
    lower: InitVar[Any] = None
    upper: InitVar[Any] = None
    objective: Literal[
        "makespan", "total", "energy", "time-then-energy", "energy-then-time", "pareto"
    ] = "makespan"
    require: Literal["all", "most"] = "all"
    prefer: Literal["lexicographic", "fewest-resources", "least-total"] = "lexicographic"
    deadline: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self, energy: Any, first: Any, lower: Any, upper: Any) -> None:
        mistakes = Mistakes()
        self._check_choices(mistakes)
        costs, names = self.costs, self.names
        if is_frame(costs):
            names, costs = resources_of(costs, mistakes)
        elif isinstance(costs, Mapping):
            names, costs = (tuple(costs) if names is None else names), list(costs.values())
            if isinstance(energy, Mapping):
                energy = [energy.get(name) for name in names]
            lower, upper = (
                [limit.get(name) for name in names] if isinstance(limit, Mapping) else limit
                for limit in (lower, upper)
            )
        object.__setattr__(self, "costs", self._costs(costs, energy, first, lower, upper, mistakes))
        if self.costs is not None:
            count = len(self.costs)
            names = Numbered("R", count, first=1) if names is None else names
            _check_names(names, count, mistakes)
            if self.tasks * count > LARGEST_SUM:
                mistakes.add("tasks", f"{self.tasks} are too many for {count} resources")
        self._check_energy(mistakes)
        mistakes.raise_if_any()
        object.__setattr__(self, "names", tuple(names) if isinstance(names, list) else names)
        if isinstance(self.costs, Table):
            self.__dict__["choices"] = self._scanned(self.costs)

    def _counts(self) -> Mapping[str, int]:
        return {"task": self.tasks, "resource": len(self.machines)}

    def _facts(self) -> Sequence[str]:
        return [*super()._facts(), self.objective]

    @property
    def machines(self) -> Sequence[str]:
        """The names of the resources."""
        assert self.names is not None
        return self.names

    @property
    def has_energy(self) -> bool:
        """Whether every count has an energy."""
        return isinstance(self.costs, Table) and self.costs.energies is not None

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What its results say in any case: who has to take part, as 0 is none of the counts."""
        table = self.costs
        if not isinstance(table, Table) or not self.tasks:
            return ()
        some = table.stop > table.start
        least = table.first.copy()
        if table.counts is not None:
            least[some] = table.counts[table.start[some]]
        bound = np.flatnonzero(some & (least > 0) & (table.lower <= 0))
        if not len(bound):
            return ()
        names = ", ".join(self.machines[index] for index in bound[:NAMED].tolist())
        more = f" and {len(bound) - NAMED} more" if len(bound) > NAMED else ""
        several, least_of = len(bound) > 1, int(least[bound[0]])
        takes = "each takes its least count" if several else f"it takes at least {least_of}"
        return (
            f"{names}{more} {'have' if several else 'has'} no cost for 0 tasks: {takes}; "
            f"a cost for 0 lets {'them' if several else 'it'} idle",
        )

    @cached_property
    def choices(self) -> Allowed:
        """What may be chosen, as a table: that of a problem with functions is made now.

        Raises
        ------
        ProblemError
            If functions are not costs.
        TooLarge
            If functions have too many counts for a table.
        """
        assert isinstance(self.costs, Curves)  # of a table, the validation made the choices
        return self._scanned(tabulate(self.costs, self.tasks))

    def costs_of(self, amounts: Integers) -> Floats:
        """Return the cost of ``amounts[i]`` tasks on resource i, infinite where not allowed."""
        found: Floats = self.costs.costs_of(amounts)
        return found

    def energies_of(self, amounts: Integers) -> Floats:
        """Return the energy of ``amounts[i]`` tasks on resource i, infinite where not allowed."""
        found: Floats = self.costs.energies_of(amounts)
        return found

    def _costs(
        self, costs: Any, energy: Any, first: Any, lower: Any, upper: Any, mistakes: Mistakes
    ) -> Table | Curves | None:
        if isinstance(costs, (Table, Curves)):
            return costs
        plain = energy is None or isinstance(energy, np.ndarray)
        if isinstance(costs, np.ndarray) and plain and lower is None and upper is None:
            table = matrix_table(costs, energy) if isinstance(first, int) and first == 0 else None
            if table is not None and len(table):
                return table
        if isinstance(costs, (list, tuple)) and costs and isinstance(costs[0], Given):
            return build(costs, self.tasks, mistakes)
        if not isinstance(costs, (list, tuple, np.ndarray)):
            mistakes.add(
                "costs", f"{quoted(costs)} are not costs; give a row per resource, or {{name: row}}"
            )
            return None
        if not len(costs):
            mistakes.add("costs", "are empty; at least one resource is needed")
            return None
        given = given_rows(
            list(costs), energy=energy, first=first, lower=lower, upper=upper, mistakes=mistakes
        )
        return build(given, self.tasks if isinstance(self.tasks, int) else 0, mistakes)

    def _check_choices(self, mistakes: Mistakes) -> None:
        wrong = np.isnan(mistakes.number("tasks", self.tasks, TASKS))
        object.__setattr__(self, "tasks", 0 if wrong else int(self.tasks))
        mistakes.choice("objective", self.objective, OBJECTIVES)
        mistakes.choice("require", self.require, ("all", "most"))
        mistakes.choice("prefer", self.prefer, PREFERENCES)
        if self.deadline is not None:
            mistakes.number("deadline", self.deadline, DEADLINE)
        if not isinstance(self.options, Mapping):
            mistakes.add("options", f"{quoted(self.options)} is not a table of options")

    def _check_energy(self, mistakes: Mistakes) -> None:
        energies = self.costs.energies if isinstance(self.costs, Table) else None
        if energies is None:
            if self.costs is not None and self.objective in OBJECTIVES[2:]:
                mistakes.add("energy", f"is missing; the objective {self.objective!r} needs it")
            return
        allowed = np.where(self.costs.values < np.inf, energies, 0.0)
        mistakes.column(lambda entry: _place(self.costs, entry, "energy"), allowed, ENERGY)

    def _scanned(self, table: Table) -> Allowed:
        found = scanned(table, self.tasks)
        if found is None:
            mistakes = Mistakes()
            mistakes.column(lambda entry: _place(table, entry, "costs"), table.values, COST)
            mistakes.raise_if_any()
        assert found is not None
        return found


def _place(table: Table, entry: int, name: str) -> str:
    row = int(np.searchsorted(table.stop, entry, side="right"))
    return f"{name}[{row}][{entry - int(table.start[row])}]"


def _check_names(names: Any, count: int, mistakes: Mistakes) -> None:
    if isinstance(names, Numbered):
        return
    if not isinstance(names, (list, tuple)):
        mistakes.add("names", f"{quoted(names)} is not a list of names")
        return
    if len(names) != count:
        mistakes.add("names", f"holds {len(names)} names; there are {count} resources")
    mistakes.names("names[{}]".format, names)
