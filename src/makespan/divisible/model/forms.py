"""The forms of platforms in files: machines and what they cost, stars, buses, trees, sources."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from makespan.core.costs import Affine, Convex, Price
from makespan.core.inputs.forms import (
    AS_COST,
    HIDDEN,
    NUMBER_OR_TABLE,
    Column,
    Cost,
    CostForm,
    Form,
    NumberOrTable,
    UnitCost,
    Value,
    cost_entry,
    mistake,
    mistake_at,
)
from makespan.core.inputs.rules import FIXED_COST, UNIT_COST, quoted
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.names import Numbered
from makespan.divisible.model.machines import PAIRS, PRICE, SENDS, SIZE, UPLINK, Master, Worker
from makespan.divisible.model.platform import NUMBERS, RULES, Star
from makespan.divisible.model.sources import HELD, LINK, Source, Sources
from makespan.divisible.model.tree import PARENT, RULES as NODE_RULES, Tree, TreeNode

LARGEST_LIST = 1000  # workers; more are written as columns

FixedCosts = Annotated[Any, Column(FIXED_COST)]
UnitCosts = Annotated[Any, Column(UNIT_COST)]
Prices = Annotated[Any, Column(PRICE)]
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
            data[field.name.rstrip("_")] = cost_entry(value) if isinstance(value, Affine) else value
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


def _checked_master(value: Any) -> Any:
    if value == "choose" or isinstance(value, Mapping):
        return value
    raise mistake(f"{quoted(value)} is not a master; it is 'choose', or a table with a name")


MasterChoice = Annotated[
    Annotated[Literal["choose"], Tag(f"{HIDDEN}word")]
    | Annotated[MasterForm, Tag(f"{HIDDEN}table")],
    Discriminator(lambda value: HIDDEN + ("word" if isinstance(value, str) else "table")),
    BeforeValidator(_checked_master),
]


class BusColumnsForm(Form):
    """Workers as columns: lists of one length, or single numbers for all workers."""

    names: list[str] | None = None
    compute_fixed: FixedCosts = 0.0
    compute_per_unit: UnitCosts = 0.0
    return_fixed: FixedCosts = 0.0
    return_per_unit: UnitCosts = 0.0
    memory: Annotated[Any, Column(RULES["memory"])] = math.inf
    release: Annotated[Any, Column(RULES["release"])] = 0.0
    deadline: Annotated[Any, Column(RULES["deadline"])] = math.inf
    price_fixed: Prices = 0.0
    price_per_unit: Prices = 0.0
    price_per_second: Prices = 0.0
    compute_beyond: list[list[Pair]] | None = None

    @model_validator(mode="after")
    def _countable(self) -> BusColumnsForm:
        columns = (getattr(self, name) for name in NUMBERS if hasattr(self, name))
        listed = self.names is not None or self.compute_beyond is not None
        if not listed and not any(np.ndim(column) for column in columns):
            raise mistake("don't say how many workers there are; one column has to be a list")
        return self

    def star(self, master: Master | Literal["choose"] | None, **send: Any) -> Star:
        columns = {name: getattr(self, name) for name in NUMBERS if hasattr(self, name)}
        if self.compute_beyond is not None:
            columns["compute_beyond"] = [tuple(pairs) for pairs in self.compute_beyond]
        return Star.from_arrays(names=self.names, master=master, **{**columns, **send})


class ColumnsForm(BusColumnsForm):
    """Workers as columns, each behind a link of its own."""

    send_fixed: FixedCosts = 0.0
    send_per_unit: UnitCosts = 0.0


class StarForm(Form):
    """A master and workers behind links of their own."""

    topology: Literal["star"]
    master: MasterChoice | None = None
    workers: list[WorkerForm] | None = None
    columns: ColumnsForm | None = None

    @model_validator(mode="after")
    def _one_list(self) -> StarForm:
        _require_one(self, ("workers", "columns"))
        return self

    def platform(self) -> Star:
        master = _master(self.master)
        if self.columns is not None:
            return self.columns.star(master)
        return Star([machine_of(Worker, form) for form in self.workers or ()], master=master)


class BusForm(Form):
    """A master and workers, or machines to choose the master from, on one bus."""

    topology: Literal["bus"]
    send: Cost
    master: MasterChoice | None = None
    workers: list[BusWorkerForm] | None = None
    machines: list[BusWorkerForm] | None = None
    columns: BusColumnsForm | None = None

    @model_validator(mode="after")
    def _one_list(self) -> BusForm:
        own, other = ("machines", "workers") if self.master == "choose" else ("workers", "machines")
        if getattr(self, other) is not None:
            text = (
                "can't stand beside master = 'choose'; that list is called machines"
                if own == "machines"
                else "needs master = 'choose'; beside a given master the list is called workers"
            )
            raise mistake_at((other,), text)
        _require_one(self, (own, "columns"))
        return self

    def platform(self) -> Star:
        master, send = _master(self.master), self.send.affine()
        if self.columns is not None:
            return self.columns.star(master, send_fixed=send.fixed, send_per_unit=send.per_unit)
        crew = self.machines if self.master == "choose" else self.workers
        workers = [machine_of(Worker, form) for form in crew or ()]
        return Star.bus(send=send, workers=workers, master=master)


class NodeForm(Form):
    """A node of a tree; the root has no parent."""

    name: str = ""
    parent: str | None = None
    send: Cost = CostForm()
    compute: Cost | None = None


class NodeColumnsForm(Form):
    """Nodes as columns; ``parent`` counts the nodes from 0 and is -1 for the root."""

    parent: list[Annotated[int, Value(PARENT)]]
    names: list[str] | None = None
    send_fixed: FixedCosts = 0.0
    send_per_unit: UnitCosts = 0.0
    compute_fixed: FixedCosts = 0.0
    compute_per_unit: Annotated[Any, Column(NODE_RULES["compute_per_unit"])] = math.inf


class TreeForm(Form):
    """Nodes that receive load from their parent, compute a part and forward the rest."""

    topology: Literal["tree"]
    nodes: list[NodeForm] | None = None
    columns: NodeColumnsForm | None = None

    @model_validator(mode="after")
    def _one_list(self) -> TreeForm:
        _require_one(self, ("nodes", "columns"))
        return self

    def platform(self) -> Tree:
        if self.columns is not None:
            return Tree.from_arrays(**dict(self.columns))
        return Tree([machine_of(TreeNode, form) for form in self.nodes or ()])


def _master(form: MasterForm | Literal["choose"] | None) -> Master | Literal["choose"] | None:
    return machine_of(Master, form) if isinstance(form, MasterForm) else form


def _require_one(form: Form, names: tuple[str, str]) -> None:
    given = [name for name in names if getattr(form, name) is not None]
    if not given:
        raise mistake_at((names[0],), f"is missing; give {names[0]} or {names[1]}")
    if len(given) == 2:
        raise mistake_at((names[1],), f"can't stand beside {names[0]}")


TOPOLOGIES = ("star", "bus", "tree", "sources")


def _checked_topology(value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise mistake(f"{quoted(value)} is not a platform; it is a table with a topology")
    if "topology" not in value:
        raise mistake_at(("topology",), f"is missing; it is {', '.join(map(repr, TOPOLOGIES))}")
    found = value["topology"]
    if not isinstance(found, str) or found not in TOPOLOGIES:
        hint = did_you_mean(found, TOPOLOGIES)
        raise mistake_at(
            ("topology",), f"{quoted(found)} is not a topology of divisible loads{hint}"
        )
    return value


PlatformForm = Annotated[
    Annotated[StarForm, Tag(f"{HIDDEN}star")]
    | Annotated[BusForm, Tag(f"{HIDDEN}bus")]
    | Annotated[TreeForm, Tag(f"{HIDDEN}tree")]
    | Annotated[SourcesForm, Tag(f"{HIDDEN}sources")],
    Discriminator(lambda value: f"{HIDDEN}{value['topology']}"),
    BeforeValidator(_checked_topology),
]


def place_in_file(form: StarForm | BusForm | TreeForm | SourcesForm, place: str) -> str:
    """Return where in the file, whose platform is ``form``, a problem's ``place`` stands."""
    if isinstance(form, SourcesForm):
        return place
    if form.columns is not None:
        place = re.sub(
            r"^platform\.(names|\w+_fixed|\w+_per_unit|\w+_per_second|compute_beyond)",
            r"platform.columns.\1",
            place,
        )
        entry = r"^platform\.(?:workers|nodes)(\[\d+\])\."
        place = re.sub(entry + r"compute\.beyond", r"platform.columns.compute_beyond\1", place)
        place = re.sub(entry + "name$", r"platform.columns.names\1", place)
        return re.sub(entry + "parent$", r"platform.columns.parent\1", place)
    if isinstance(form, BusForm) and form.master == "choose":
        return place.replace("platform.workers[", "platform.machines[")
    return place


def platform_entry(platform: Star | Tree | Sources) -> dict[str, Any]:
    if isinstance(platform, Sources):
        return sources_entry(platform)
    if isinstance(platform, Star):
        return _star_entry(platform)
    if len(platform) <= LARGEST_LIST:
        return {"topology": "tree", "nodes": [entry_of(node, ("name",)) for node in platform.nodes]}
    columns: dict[str, Any] = {"parent": platform.parent.tolist()}
    if platform.names != Numbered("N", len(platform)):
        columns["names"] = list(platform.names)
    columns.update((name, getattr(platform, name).tolist()) for name in platform.RULES)
    return {"topology": "tree", "columns": columns}


def _star_entry(star: Star) -> dict[str, Any]:
    bus = star.is_bus and (len(star) > 1 or star.master == "choose")
    data: dict[str, Any] = {"topology": "bus" if bus else "star"}
    if bus:
        data["send"] = cost_entry(star.worker(0).send)  # type: ignore[arg-type]
    chosen = star.master == "choose"
    data["master"] = "choose" if chosen else entry_of(star.master, ("name",))
    if len(star) > LARGEST_LIST:
        data["columns"] = _columns_entry(star, bus)
    else:
        always = ("name", "compute") if bus else ("name", "send", "compute")
        workers = [entry_of(worker, always, ("send",)) for worker in star.workers]
        data["machines" if chosen else "workers"] = workers
    return data


def _columns_entry(star: Star, bus: bool) -> dict[str, Any]:
    """Return the columns: one that says how many workers there are, and what isn't default."""
    data: dict[str, Any] = {}
    if star.names != Numbered("P", len(star), first=0 if star.master == "choose" else 1):
        data["names"] = list(star.names)
    for name in NUMBERS:
        column = getattr(star, name)
        if bus and name.startswith("send"):
            continue
        if name == "compute_per_unit" or np.any(column != column[0]):
            data[name] = column.tolist()
        elif column[0] != (math.inf if RULES[name].infinite else 0.0):
            data[name] = float(column[0])
    if star.beyond:
        data["compute_beyond"] = [list(map(list, pairs)) for pairs in star.beyond.pairs]
    return data
