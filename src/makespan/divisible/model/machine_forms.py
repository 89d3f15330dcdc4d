"""The forms of machines in files: workers, masters, several sources, and what they cost."""

import math
from dataclasses import fields
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, Discriminator, Field, Tag

from makespan.core.costs import Affine, Convex, Price
from makespan.core.inputs.forms import (
    AS_COST,
    HIDDEN,
    NUMBER_OR_TABLE,
    Cost,
    CostForm,
    Form,
    NumberOrTable,
    UnitCost,
    Value,
    cost_entry,
    mistake,
)
from makespan.core.inputs.rules import quoted
from makespan.divisible.model.machines import PAIRS, PRICE, SENDS, SIZE, UPLINK, Worker
from makespan.divisible.model.platform import RULES
from makespan.divisible.model.sources import HELD, LINK, Source, Sources

Machine = TypeVar("Machine")


class PriceForm(CostForm):
    """A price in full: fixed, per unit of load, and per second of the whole plan."""

    per_second: Annotated[float, Value(PRICE)] = 0.0

    def affine(self) -> Affine:
        if self.per_second:
            return Price(self.fixed, self.per_unit, self.per_second)
        return Affine(self.fixed, self.per_unit)


PriceCost = Annotated[PriceForm, AS_COST, NUMBER_OR_TABLE]


def _pair(value: Any) -> Any:
    if not isinstance(value, list) or len(value) != 2:
        raise mistake(f"{quoted(value)} is not a pair; {PAIRS}")
    return tuple(value)


Pair = Annotated[tuple[Annotated[float, Value(SIZE)], UnitCost], BeforeValidator(_pair)]


class ConvexForm(CostForm):
    """A computing cost in full: fixed, per unit, and pairs of a size and the cost beyond it."""

    beyond: list[Pair] = Field(default_factory=list)

    def affine(self) -> Affine:
        if self.beyond:
            return Convex(self.fixed, self.per_unit, tuple(self.beyond))
        return Affine(self.fixed, self.per_unit)


ConvexCost = Annotated[ConvexForm, AS_COST, NUMBER_OR_TABLE]


class BusWorkerForm(Form):
    """A worker whose link is the bus."""

    name: str = ""
    compute: ConvexCost = ConvexForm()
    return_: Cost | None = Field(None, alias="return")
    memory: Annotated[float, Value(RULES["memory"])] = math.inf
    release: Annotated[float, Value(RULES["release"])] = 0.0
    deadline: Annotated[float, Value(RULES["deadline"])] = math.inf
    price: PriceCost = PriceForm()


class WorkerForm(BusWorkerForm):
    """A worker behind a link of its own."""

    send: Cost = CostForm()


class MasterForm(Form):
    """The machine that holds the load."""

    name: str = "P0"
    compute: Cost | None = None
    uplink: Annotated[float, Value(UPLINK)] | None = None
    sends: Annotated[int, Value(SENDS)] | None = None


def machine_of(kind: type[Machine], form: Form) -> Machine:
    """Return the machine that a form stands for."""

    def value(part: Any) -> Any:
        if isinstance(part, list):
            return [value(each) for each in part]
        return part.affine() if isinstance(part, CostForm) else part

    return kind(**{name: value(part) for name, part in form})


def entry_of(machine: Any, always: tuple[str, ...], without: tuple[str, ...] = ()) -> Any:
    """Return a machine as it stands in files: what is not its default, and what always stands."""
    data: dict[str, Any] = {}
    for field in fields(machine):
        value = getattr(machine, field.name)
        if field.name in always or (value != field.default and field.name not in without):
            name = field.name.rstrip("_")
            data[name] = cost_entry(value) if isinstance(value, Affine) else value
    return data


class LinkForm(CostForm):
    """What a send costs; infinite where there is no link."""

    per_unit: Annotated[float, Value(LINK)] = 0.0


def _no_link(value: Any) -> Any:
    """Let null stand for a link that there is not, as JSON has nothing infinite."""
    return math.inf if value is None else value


Link = Annotated[LinkForm, AS_COST, BeforeValidator(_no_link), NumberOrTable(LINK)]

Links = Annotated[
    Annotated[Link, Tag(f"{HIDDEN}one")] | Annotated[list[Link], Tag(f"{HIDDEN}each")],
    Discriminator(lambda value: HIDDEN + ("each" if isinstance(value, list) else "one")),
]


class SourceForm(Form):
    """A machine that holds load, and sends it to the workers."""

    name: str = ""
    load: Annotated[float, Value(HELD)] | None = None
    send: Links | None = None
    compute: Cost | None = None
    release: Annotated[float, Value(RULES["release"])] = 0.0


class SourcesForm(Form):
    """Several sources, and workers each of whom may receive from all of them."""

    topology: Literal["sources"]
    sources: list[SourceForm]
    workers: list[WorkerForm]

    def platform(self) -> Sources:
        return Sources(
            [machine_of(Source, form) for form in self.sources],
            [machine_of(Worker, form) for form in self.workers],
        )


def sources_entry(platform: Sources) -> dict[str, Any]:
    """Return several sources as they stand in files; what sends cost stands with the sources."""
    return {
        "topology": "sources",
        "sources": [
            entry_of(source, ("name",), ("send",)) | {"send": _links_entry(source.send)}
            for source in platform.sources
        ],
        "workers": [entry_of(worker, ("name", "compute")) for worker in platform.workers],
    }


def _links_entry(costs: Any) -> Any:
    """Return what sends cost: one cost where all are alike, else a list."""
    entries = [cost_entry(cost) for cost in costs]
    return entries[0] if len(set(costs)) == 1 else entries
