"""The form of divisible load problems in files."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Discriminator, Tag, model_validator

from makespan.core.costs import Affine
from makespan.core.errors import Mistake, ProblemError
from makespan.core.forms import (
    HIDDEN,
    PROBLEM_FORMAT,
    Column,
    Cost,
    CostForm,
    Field,
    Form,
    Number,
    ProblemForm,
    Whole,
    cost_entry,
    mistake,
    mistake_at,
    schema_of,
    validated,
)
from makespan.core.mistakes import shown
from makespan.core.names import Numbered
from makespan.core.suggest import did_you_mean
from makespan.divisible.platform import ALLOWED, DEFAULTS, NUMBERS, Master, Star, Worker
from makespan.divisible.problem import DivisibleLoad

LARGEST_LIST = 1000  # workers; more are written as columns

Amount = Annotated[float, Number("a load is 0 or more units")]
Memory = Annotated[float, Number(ALLOWED["memory"], infinite=True)]
Release = Annotated[float, Number(ALLOWED["release"])]
Deadline = Annotated[float, Number(ALLOWED["deadline"], infinite=True)]
Seconds = Annotated[Any, Column("entries are 0 or more seconds")]
Prices = Annotated[Any, Column("entries are 0 or more")]
Limits = Annotated[Any, Column("entries are 0 or more, or inf (null in JSON)", infinite=True)]


class BusWorkerForm(Form):
    """A worker whose link is the bus."""

    name: str = ""
    compute: Cost = CostForm()
    return_: Cost | None = Field(None, alias="return")
    memory: Memory = math.inf
    release: Release = 0.0
    deadline: Deadline = math.inf
    price: Cost = CostForm()

    def worker(self, send: CostForm) -> Worker:
        return Worker(
            name=self.name,
            send=send.affine(),
            compute=self.compute.affine(),
            return_=None if self.return_ is None else self.return_.affine(),
            memory=self.memory,
            release=self.release,
            deadline=self.deadline,
            price=self.price.affine(),
        )


class WorkerForm(BusWorkerForm):
    """A worker behind a link of its own."""

    send: Cost = CostForm()


class MasterForm(Form):
    """The machine that holds the load."""

    name: str = "P0"
    compute: Cost | None = None
    uplink: Annotated[
        float | None, Number("an uplink is above 0 units per second", strictly=True)
    ] = None
    sends: Annotated[int | None, Whole("the sends at a time are a whole number from 1", low=1)] = (
        None
    )

    def master(self) -> Master:
        compute = None if self.compute is None else self.compute.affine()
        return Master(name=self.name, compute=compute, uplink=self.uplink, sends=self.sends)


def _checked_master(value: Any) -> Any:
    if value == "choose" or isinstance(value, Mapping):
        return value
    raise mistake(f"{shown(value)} is not a master; it is 'choose', or a table with a name")


MasterChoice = Annotated[
    Annotated[Literal["choose"], Tag(f"{HIDDEN}word")]
    | Annotated[MasterForm, Tag(f"{HIDDEN}table")],
    Discriminator(lambda value: HIDDEN + ("word" if isinstance(value, str) else "table")),
    BeforeValidator(_checked_master),
]


class BusColumnsForm(Form):
    """Workers as columns: lists of one length, or single numbers for all workers."""

    names: list[str] | None = None
    compute_fixed: Seconds = 0.0
    compute_per_unit: Seconds = 0.0
    return_fixed: Seconds = 0.0
    return_per_unit: Seconds = 0.0
    memory: Limits = math.inf
    release: Seconds = 0.0
    deadline: Limits = math.inf
    price_fixed: Prices = 0.0
    price_per_unit: Prices = 0.0

    def star(self, master: Master | Literal["choose"] | None, **send: Any) -> Star:
        columns = {name: getattr(self, name) for name in NUMBERS if hasattr(self, name)}
        return Star.from_arrays(names=self.names, master=master, **{**columns, **send})


class ColumnsForm(BusColumnsForm):
    """Workers as columns, each behind a link of its own."""

    send_fixed: Seconds = 0.0
    send_per_unit: Seconds = 0.0


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

    def star(self) -> Star:
        master = _master(self.master)
        if self.columns is not None:
            return self.columns.star(master)
        return Star([form.worker(form.send) for form in self.workers or ()], master=master)


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

    def star(self) -> Star:
        master, send = _master(self.master), self.send.affine()
        if self.columns is not None:
            return self.columns.star(master, send_fixed=send.fixed, send_per_unit=send.per_unit)
        crew = self.machines if self.master == "choose" else self.workers
        return Star.bus(
            send=send, workers=[form.worker(self.send) for form in crew or ()], master=master
        )


def _master(form: MasterForm | Literal["choose"] | None) -> Master | Literal["choose"] | None:
    return form.master() if isinstance(form, MasterForm) else form


def _require_one(form: Form, names: tuple[str, str]) -> None:
    given = [name for name in names if getattr(form, name) is not None]
    if not given:
        raise mistake_at((names[0],), f"is missing; give {names[0]} or {names[1]}")
    if len(given) == 2:
        raise mistake_at((names[1],), f"can't stand beside {names[0]}")


TOPOLOGIES = ("star", "bus")


def _checked_topology(value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise mistake(f"{shown(value)} is not a platform; it is a table with a topology")
    if "topology" not in value:
        raise mistake_at(("topology",), f"is missing; it is {' or '.join(map(repr, TOPOLOGIES))}")
    found = value["topology"]
    if not isinstance(found, str) or found not in TOPOLOGIES:
        hint = did_you_mean(str(found), TOPOLOGIES)
        raise mistake_at(("topology",), f"{shown(found)} is no topology of divisible loads{hint}")
    return value


PlatformForm = Annotated[
    Annotated[StarForm, Tag(f"{HIDDEN}star")] | Annotated[BusForm, Tag(f"{HIDDEN}bus")],
    Discriminator(lambda value: f"{HIDDEN}{value['topology']}"),
    BeforeValidator(_checked_topology),
]


class TransferForm(Form):
    """One transfer on the port: a send to a worker, or the return of its results."""

    send: str | None = None
    return_: str | None = Field(None, alias="return")

    @model_validator(mode="after")
    def _either(self) -> TransferForm:
        if (self.send is None) == (self.return_ is None):
            raise mistake("a transfer is either { send = NAME } or { return = NAME }")
        return self

    def transfer(self) -> tuple[Literal["send", "return"], str]:
        return ("send", self.send) if self.send is not None else ("return", str(self.return_))


def _no_boolean(value: Any) -> Any:
    if isinstance(value, bool):  # true equals 1
        raise mistake(f"{value} is not allowed; ports are 1, 2 or 'many'")
    return value


class DivisibleForm(ProblemForm):
    """A divisible load problem."""

    kind: Literal["divisible"]
    platform: PlatformForm
    load: Amount | None = None
    rounds: Annotated[
        int | Literal["auto"], Whole("rounds are a number from 1 or 'auto'", 1, ("auto",))
    ] = 1
    ports: Annotated[Literal[1, 2, "many"], BeforeValidator(_no_boolean)] = 1
    order: list[str] | None = None
    activation: list[str] | None = None
    return_order: list[str] | None = None
    discipline: Literal["fifo", "lifo"] | None = None
    transfers: list[TransferForm] | None = None
    loads: dict[str, Amount] | None = None
    use: Literal["any", "all"] = "any"
    front_end: bool = True
    integral: bool = False
    deadline: Annotated[float, Number("a deadline is 0 or more seconds")] | None = None
    budget: Annotated[float, Number("a budget is 0 or more")] | None = None


PLAIN = (
    "load",
    "rounds",
    "ports",
    "order",
    "activation",
    "return_order",
    "discipline",
    "loads",
    "use",
    "front_end",
    "integral",
    "deadline",
    "budget",
)


def read(data: Mapping[str, Any]) -> DivisibleLoad:
    """Build the problem from the contents of a file.

    Raises
    ------
    ProblemError
        With every mistake found, each with its place in the file.

    >>> read({"kind": "divisible", "load": 1.0, "platform": {"topology": "star", "workers": [
    ...     {"send": 1.0, "compute": 3.0}]}}).machines
    ('P0', 'P1')
    """
    form = validated(DivisibleForm, data)
    transfers = form.transfers
    try:
        return DivisibleLoad(
            platform=form.platform.star(),
            transfers=None if transfers is None else tuple(t.transfer() for t in transfers),
            options=form.options,
            **{name: getattr(form, name) for name in PLAIN},
        )
    except ProblemError as error:
        raise ProblemError(
            [Mistake(_place_in_file(form, place), text) for place, text in error.mistakes]
        ) from None


def _place_in_file(form: DivisibleForm, place: str) -> str:
    """Return where in the file the problem's ``place`` stands."""
    if form.platform.columns is not None:
        place = re.sub(r"platform\.workers(\[\d+\])\.name", r"platform.columns.names\1", place)
        return re.sub(r"platform\.(names|\w+_fixed|\w+_per_unit)", r"platform.columns.\1", place)
    if form.platform.master == "choose":
        return place.replace("platform.workers[", "platform.machines[")
    return place


def write(problem: DivisibleLoad) -> dict[str, Any]:
    """Return the problem as the contents of a file; ``read`` gives an equal problem back.

    What has its default is left out. More than 1000 workers are written as columns.

    >>> from makespan import DivisibleLoad, Star, Worker
    >>> star = Star([Worker(send=1.0, compute=3.0)])
    >>> write(DivisibleLoad(load=1.0, platform=star))["platform"]["workers"]
    [{'name': 'P1', 'send': 1.0, 'compute': 3.0}]
    """
    data: dict[str, Any] = {"format": PROBLEM_FORMAT, "kind": "divisible"}
    for name in PLAIN:
        value = getattr(problem, name)
        if value != DivisibleForm.model_fields[name].default:
            data[name] = _plain(value)
    if problem.transfers is not None:
        data["transfers"] = [{what: name} for what, name in problem.transfers]
    data["platform"] = _platform_entry(problem.platform)
    if problem.options:
        data["options"] = dict(problem.options)
    return data


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return {name: float(amount) for name, amount in value.items()}
    return value if isinstance(value, (bool, int, str)) else float(value)


def _platform_entry(star: Star) -> dict[str, Any]:
    bus = star.is_bus and (len(star) > 1 or star.master == "choose")
    data: dict[str, Any] = {"topology": "bus" if bus else "star"}
    if bus:
        data["send"] = cost_entry(star.worker(0).send)  # type: ignore[arg-type]
    chosen = star.master == "choose"
    data["master"] = "choose" if chosen else _master_entry(star.master)  # type: ignore[arg-type]
    if len(star) > LARGEST_LIST:
        data["columns"] = _columns_entry(star, bus)
    else:
        workers = [_worker_entry(worker, bus) for worker in star.workers]
        data["machines" if chosen else "workers"] = workers
    return data


def _master_entry(master: Master) -> dict[str, Any]:
    data: dict[str, Any] = {"name": master.name}
    if isinstance(master.compute, Affine):
        data["compute"] = cost_entry(master.compute)
    if master.uplink is not None:
        data["uplink"] = float(master.uplink)
    if master.sends is not None:
        data["sends"] = int(master.sends)
    return data


def _worker_entry(worker: Worker, bus: bool) -> dict[str, Any]:
    data: dict[str, Any] = {"name": worker.name}
    if not bus:
        data["send"] = cost_entry(worker.send)  # type: ignore[arg-type]
    data["compute"] = cost_entry(worker.compute)  # type: ignore[arg-type]
    if isinstance(worker.return_, Affine):
        data["return"] = cost_entry(worker.return_)
    for name in ("memory", "release", "deadline"):
        value = getattr(worker, name)
        if value != DEFAULTS.get(name, 0.0):
            data[name] = value
    if worker.price != Affine():
        data["price"] = cost_entry(worker.price)  # type: ignore[arg-type]
    return data


def _columns_entry(star: Star, bus: bool) -> dict[str, Any]:
    """Return the columns: one that says how many workers there are, and what isn't default."""
    data: dict[str, Any] = {}
    first = 0 if star.master == "choose" else 1
    if star.names != Numbered("P", len(star), first=first):
        data["names"] = list(star.names)
    for name in NUMBERS:
        column = getattr(star, name)
        if bus and name.startswith("send"):
            continue
        if name == "compute_per_unit" or np.any(column != column[0]):
            data[name] = column.tolist()
        elif column[0] != DEFAULTS.get(name, 0.0):
            data[name] = float(column[0])
    return data


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the kind's files."""
    return schema_of(DivisibleForm, "A divisible load problem for makespan")
