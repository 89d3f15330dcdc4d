"""What a plan gains or loses by other costs, and by one machine more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from makespan.core.display import Displayable, HasFrame, Table, counted
from makespan.core.problem import Problem

WHOLE_PROBLEM = "(problem)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """By how much the objective changes per unit of one number of the problem."""

    machine: str  # whose number it is; empty for one of the whole problem, such as the load
    cost: str  # what it is called in files: ``"send.per_unit"``
    value: float  # what it is now
    change: float  # of the objective, as the number rises by 1; where it can't rise, falls by 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Varied:
    """The rates of a plan, in the order of the problem, and what there is to say about them."""

    rates: tuple[Rate, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Copied:
    """A problem with one machine more; ``optional``: it may be left idle."""

    machine: str
    problem: Problem
    optional: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """What a plan reaches with one machine more, a copy of ``machine``.

    ``value`` is the objective of the plan that was found, None where none was; ``bound`` what no
    plan beats; ``change`` what it differs by from the value without the copy.
    """

    machine: str
    value: float | None
    bound: float | None
    change: float | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Sensitivity(Displayable, HasFrame):
    """By how much an objective changes with costs, and with one machine more.

    Parameters
    ----------
    objective
        ``"makespan"``, or the name of what was optimised in its place.
    value
        Its value in the plan.
    rates
        The change per unit of every number that was asked about.
    additions
        What copies of machines are worth.
    notes
        What could not be answered, and what to keep in mind.

    >>> import makespan
    >>> workers = [makespan.Worker(send=1, compute=3), makespan.Worker(send=2, compute=5)]
    >>> plan = makespan.solve(makespan.DivisibleLoad(load=10, platform=makespan.Star(workers)))
    >>> rates = makespan.sensitivity(plan).rates
    >>> [(rate.cost, round(rate.change, 3)) for rate in rates[:2]]
    [('load', 2.8), ('send.fixed', 1.0)]
    """

    objective: str
    value: float
    rates: tuple[Rate, ...]
    additions: tuple[Addition, ...]
    notes: tuple[str, ...] = ()

    def rate(self, cost: str, machine: str = "") -> float:
        """Return the change per unit of one cost of a machine, or of the whole problem.

        Raises
        ------
        KeyError
            If it was not asked about, or is not known.
        """
        for each in self.rates:
            if (each.machine, each.cost) == (machine, cost):
                return each.change
        raise KeyError(f"{machine} {cost}".strip())

    def _share(self, rate: Rate) -> float | None:
        """The relative change of the objective per relative change of a number."""
        return rate.change * rate.value / self.value if self.value else None

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        names = ("machine", "cost", "value", "change")
        columns = {name: [getattr(each, name) for each in self.rates] for name in names}
        return {**columns, "share": [self._share(each) for each in self.rates]}

    def _facts(self) -> Sequence[str]:
        return [
            f"{self.objective} {self.value:.6g}",
            counted(len(self.rates), "rate"),
            counted(len(self.additions), "machine more", "machines more"),
        ]

    def _notes(self) -> Sequence[str]:
        return self.notes

    def _tables(self) -> Sequence[Table]:
        """One table with a row for each machine and a column for each cost, and the copies."""
        tables = []
        if self.rates:
            machines = list(dict.fromkeys(each.machine for each in self.rates))
            many = Counter(each.machine for each in self.rates)
            by_length = sorted(
                self.rates, key=lambda each: (bool(each.machine), -many[each.machine])
            )
            costs = list(dict.fromkeys(each.cost for each in by_length))
            of = {(each.machine, each.cost): f"{each.change:+.4g}" for each in self.rates}
            columns: dict[str, list[str | None]] = {
                "": [machine or WHOLE_PROBLEM for machine in machines]
            }
            columns |= {cost: [of.get((name, cost)) for name in machines] for cost in costs}
            caption = f"change of the {self.objective} per unit of each"
            tables.append(Table.of(columns, caption=caption))
        if self.additions:
            shown = {
                "a copy of": [each.machine for each in self.additions],
                self.objective: [_number(each.value) for each in self.additions],
                "change": [_number(each.change, "+") for each in self.additions],
                "bound": [_number(each.bound) for each in self.additions],
            }
            tables.append(Table.of(shown, caption="with one machine more"))
        return tables

    def as_dict(self) -> dict[str, Any]:
        """Return everything for a file."""
        return {
            "objective": self.objective,
            "value": self.value,
            "rates": [
                {**asdict(each), "machine": each.machine or None, "share": self._share(each)}
                for each in self.rates
            ],
            "additions": [asdict(each) for each in self.additions],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        parts = [f"{table.caption}\n{table}" for table in self._tables()]
        parts += ["\n".join(f"note: {note}" for note in self.notes)] if self.notes else []
        return "\n\n".join(parts)


def _number(value: float | None, sign: str = "") -> str:
    return "" if value is None else f"{value:{sign}.8g}"
