"""The statement of a pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from makespan.core.cached import cached_property
from makespan.core.inputs.rules import Mistakes, Rule, quoted, whole
from makespan.core.names import Numbered
from makespan.core.network.interconnect import Interconnect
from makespan.core.numeric.arrays import Floats, equal_in, frozen
from makespan.core.problem import Pictured
from makespan.core.system.memory import claim
from makespan.pipeline.model import DATA, Stage, Stages

OBJECTIVES = ("period", "latency", "makespan", "price", "pareto")
ORDERS = ("free", "given")
MAX_MACHINES = 100_000
MACHINES = whole("machines are", high=MAX_MACHINES)
SPEED = Rule("a speed is above 0 units of work per second", strictly=True)
CAPACITY = Rule("a machine's memory is 0 or more units", infinite=True)
PRICE = Rule("a price is 0 or more")
RATE = Rule("a rate is above 0 units of data per second", strictly=True, infinite=True)
LIMIT = Rule("a limit is 0 or more seconds")
BUDGET = Rule("a budget is 0 or more")
ITEMS = whole("data sets are", high=1_000_000)
REPLICAS = whole("replicas are", high=MAX_MACHINES)
IN_FLIGHT = whole("data sets in flight are", high=10**9)
OF_MACHINES = {"speeds": SPEED, "memory": CAPACITY, "price": PRICE, "outside": RATE}
PLACES = {"speeds": "speed", "memory": "memory", "price": "price", "outside": "outside"}


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Pipeline(Pictured):
    """Consecutive stages, to be cut into intervals that machines take; data sets flow through.

    A mapping gives each interval of stages to a machine of its own; other machines stay idle. A
    data set is received, computed and sent by each machine in turn. A transfer of d units holds the
    sender for ``d / rate`` seconds, and as long the receiver, who begins a latency later.

    The *period* is the time between two data sets. With ``overlap`` it is the longest time of a
    machine for receiving, computing or sending one; without, for all three together. The *latency*
    is what one data set takes through all machines. N data sets take
    ``latency + (N - 1) * period``.

    Parameters
    ----------
    stages
        Stages in order: :class:`Stage`, or a work each; or a mapping of columns by the names of
        their fields (``work``, ``data``, ``memory``, ``memory_per_item``, ``durations``).
    machines
        Their number, their names, or an :class:`makespan.Interconnect` of them. Without one,
        transfers take no time.
    speeds, memory, price
        Units of work per second, units of memory, and what it costs to use each machine; one
        number for all, or one for each.
    objective
        What is least: ``"period"``, ``"latency"``, ``"makespan"`` (of ``items`` data sets),
        ``"price"``, or ``"pareto"``: all pairs of period and latency that none beats in both.
    period_limit, latency_limit, budget
        What a mapping may not exceed, seconds and price; None for no limit.
    order
        ``"free"``, or ``"given"``: data flow from machines to later ones only.
    overlap
        Whether a machine receives, computes and sends at once, each one data set.
    input, outside
        Units that the first stage gets from outside, and at which rate each machine does.
    output
        Units that the last stage sends there, at the same rate.
    items
        Data sets of the schedule.
    in_flight
        Data sets for which a machine holds the ``memory_per_item`` of its stages.
    replicas
        Machines that may share an interval at most: they take data sets in turn.
    options
        ``method`` and its options, as in the table ``[options]`` of a file.

    Raises
    ------
    ProblemError
        With every mistake found, each with its place.

    Source: Benoit and Robert 2008: interval mappings.

    >>> layers = Pipeline([4.0, 1.0, 3.0], machines=2, speeds=[2.0, 1.0])
    >>> list(layers.machines), layers.table.tolist()
    (['M1', 'M2'], [[2.0, 4.0], [0.5, 1.0], [1.5, 3.0]])
    """

    kind: ClassVar[str] = "pipeline"

    stages: Stages
    machines: Sequence[str]
    network: Interconnect | None
    speeds: Floats
    memory: Floats
    price: Floats
    objective: str
    period_limit: float | None
    latency_limit: float | None
    budget: float | None
    order: str
    overlap: bool
    input: float
    output: float
    outside: Floats
    items: int
    in_flight: int
    replicas: int
    options: Mapping[str, Any]

    def __init__(
        self,
        stages: Sequence[Stage | float] | Mapping[str, ArrayLike] | Floats | Stages,
        machines: int | Sequence[str] | Interconnect,
        *,
        speeds: ArrayLike = 1.0,
        memory: ArrayLike = np.inf,
        price: ArrayLike = 0.0,
        objective: str = "period",
        period_limit: float | None = None,
        latency_limit: float | None = None,
        budget: float | None = None,
        order: str = "free",
        overlap: bool = True,
        input: float = 0.0,  # noqa: A002 - the word of the file format
        output: float = 0.0,
        outside: ArrayLike = np.inf,
        items: int = 8,
        in_flight: int = 1,
        replicas: int = 1,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        mistakes = Mistakes()
        names, network = _named(machines, mistakes)
        given = dict(locals())
        found: dict[str, Any] = {"machines": names, "network": network}
        found["stages"] = Stages.of(stages, len(names), mistakes)
        for name, rule in OF_MACHINES.items():
            found[name] = _per_machine(name, given[name], len(names), rule, mistakes)
        for name, rule in (("input", DATA), ("output", DATA)):
            found[name] = mistakes.number(name, given[name], rule)
        for name, rule in (("items", ITEMS), ("in_flight", IN_FLIGHT), ("replicas", REPLICAS)):
            mistakes.number(name, given[name], rule)
            found[name] = given[name]
        for name, rule in (
            ("period_limit", LIMIT), ("latency_limit", LIMIT), ("budget", BUDGET),
        ):  # fmt: skip
            limit = given[name]
            found[name] = None if limit is None else mistakes.number(name, limit, rule)
        mistakes.choice("objective", objective, OBJECTIVES)
        mistakes.choice("order", order, ORDERS)
        mistakes.flag("overlap", overlap)
        if options is not None and not isinstance(options, Mapping):
            mistakes.add("options", f"{quoted(options)} is not a table of name = value")
        mistakes.raise_if_any()
        found |= {"objective": objective, "order": order, "overlap": overlap}
        found |= {"options": dict(options or {})}
        for name, value in found.items():
            object.__setattr__(self, name, value)

    @cached_property
    def table(self) -> Floats:
        """The seconds of each stage (row) on each machine (column), infinite where it can't run."""
        if self.stages.durations is not None:
            return self.stages.durations
        count = len(self.stages) * len(self.machines)
        claim(8.0 * count, f"the seconds of {count:,} stages on machines")
        return frozen(self.stages.work[:, None] / self.speeds)

    @cached_property
    def moved(self) -> Floats:
        """The units that enter each stage, and last those that leave the last one."""
        return frozen(np.concatenate([[self.input], self.stages.data[:-1], [self.output]]))

    @cached_property
    def held(self) -> Floats:
        """The units of memory that each stage takes on its machine."""
        return frozen(self.stages.memory + self.in_flight * self.stages.memory_per_item)

    @cached_property
    def per_unit(self) -> Floats:
        """Seconds by (from, to) that a unit of data holds both machines."""
        return self._between("seconds")

    @cached_property
    def delay(self) -> Floats:
        """Seconds by (from, to) from when data leave until they begin to arrive."""
        return self._between("latency")

    def _between(self, name: str) -> Floats:
        count = len(self.machines)
        if self.network is None:
            return np.broadcast_to(0.0, (count, count))
        if not _direct(self.network):
            found: Floats = getattr(self.network.ways, name)
            return found
        claim(32.0 * count * count, f"the links between {count:,} machines")
        table = self.network.latencies.copy()
        if name == "seconds":
            with np.errstate(divide="ignore"):
                table = 1.0 / self.network.arcs
        np.fill_diagonal(table, 0.0)
        return frozen(table)

    @cached_property
    def pace(self) -> Floats:
        """The seconds of all stages on each machine; those that can't run there count double."""
        if self.stages.durations is None:
            return float(self.stages.work.sum()) / self.speeds
        finite = np.isfinite(self.table)
        worst = float(np.where(finite, self.table, 0.0).max())
        seconds: Floats = np.where(finite, self.table, 2.0 * worst).sum(axis=0)
        return seconds

    @property
    def limited(self) -> bool:
        """Whether there is any limit."""
        return any(
            each is not None for each in (self.period_limit, self.latency_limit, self.budget)
        )

    @cached_property
    def alike(self) -> bool:
        """Whether all machines and all links are the same, and the outside costs all the same."""
        durations, pairs = self.stages.durations, ~np.eye(len(self.machines), dtype=bool)
        columns = (self.speeds, self.memory, self.price, self.outside)
        same = all(bool((column == column[0]).all()) for column in columns)
        if durations is not None:
            same = same and bool((durations == durations[:, :1]).all())
        if self.network is None or not same or len(self.machines) == 1:
            return same
        tables = (self.per_unit[pairs], self.delay[pairs])
        return all(bool((table == table[:1]).all()) for table in tables)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pipeline):
            return NotImplemented
        return equal_in(FIELDS, self, other)

    def __hash__(self) -> int:
        return hash((len(self.stages), len(self.machines), self.objective, self.order))

    def _counts(self) -> Mapping[str, int]:
        return {"stage": len(self.stages), "machine": len(self.machines)}


FIELDS = tuple(each.name for each in fields(Pipeline))


def _named(machines: Any, mistakes: Mistakes) -> tuple[Sequence[str], Interconnect | None]:
    """Return the names of machines, and the links between them where there are any."""
    if isinstance(machines, Interconnect):
        machines.collect_mistakes(mistakes)
        if not mistakes:
            _check_ways(machines, mistakes)
        return machines.names, machines
    if isinstance(machines, Sequence) and not isinstance(machines, str):
        mistakes.names(lambda at: f"machines[{at}].name", machines)
        if not len(machines):
            mistakes.add("machines", "is empty; a pipeline has at least one machine")
        return machines if isinstance(machines, Numbered) else tuple(machines), None
    mistakes.number("machines", machines, MACHINES)
    return Numbered("M", 1 if mistakes else int(machines), first=1), None


def _direct(network: Interconnect) -> bool:
    """Whether every pair of machines has a link of its own."""
    return network.topology == "complete"


def _check_ways(network: Interconnect, mistakes: Mistakes) -> None:
    """Note a pair without a way, and links that several pairs of machines share."""
    if _direct(network):
        return
    ways = network.ways
    missing = np.argwhere(~np.isfinite(ways.seconds) | ~np.isfinite(ways.latency))
    if len(missing):
        a, b = (network.names[at] for at in missing[0].tolist())
        mistakes.add("network.links", f"there is no way from {a!r} to {b!r} but by machines")
    elif ways.names:
        text = f"several pairs of machines share {ways.names[0]}; a pipeline's links are apart"
        mistakes.add("network", text)


def _per_machine(name: str, values: Any, count: int, rule: Rule, mistakes: Mistakes) -> Floats:
    """Return a number for each machine; note every mistake."""
    if np.ndim(values) == 0:
        return frozen(np.full(count, mistakes.number(name, values, rule)))
    if len(values) != count:
        mistakes.add(name, f"has {len(values)} entries; there are {count} machines")
        return frozen(np.ones(count))
    return frozen(np.array(mistakes.column(f"machines[{{}}].{PLACES[name]}".format, values, rule)))
