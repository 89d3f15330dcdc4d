"""The form of networks in files."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, Field, model_validator

from makespan.core.inputs.forms import Form, Table, Value, mistake
from makespan.core.names import Numbered
from makespan.taskgraph.model.network import CORES, Network
from makespan.taskgraph.model.network_checks import (
    DELAY,
    EXTENT,
    PRICE,
    RATE,
    RATE_OR_NONE,
    SETUP,
    SPEED,
)

Setup = Annotated[float, Value(SETUP)]


class MachineForm(Form):
    """A machine."""

    name: str | None = None
    speed: Annotated[float, Value(SPEED)] = 1.0
    task_setup: Setup = 0.0
    message_setup: Setup = 0.0
    cores: Annotated[int, Value(CORES)] = 1
    price: Annotated[float, Value(PRICE)] = 0.0
    start_price: Annotated[float, Value(PRICE)] = 0.0


class LinkForm(Form):
    """A link: between two nodes, or from one to the other only."""

    between: list[str] | None = None
    from_: str | None = Field(None, alias="from")
    to: str | None = None
    rate: Annotated[float, Value(RATE)] = 1.0

    @model_validator(mode="after")
    def _either(self) -> LinkForm:
        one_way = self.from_ is not None and self.to is not None
        if one_way == (self.between is not None) or (self.from_ is None) != (self.to is None):
            raise mistake("a link is either between = [A, B], or from = A, to = B")
        if self.between is not None and len(self.between) != 2:
            raise mistake(f"between holds {len(self.between)} names; a link has two ends")
        return self


class DelayForm(Form):
    """Seconds that data of a pair of machines take after the last hop."""

    from_: str = Field(alias="from")
    to: str
    seconds: Annotated[float, Value(DELAY)]


def _square(rates: Any) -> Any:
    if isinstance(rates, list) and len({len(row) for row in rates}) > 1:
        raise mistake("has rows of different lengths; a table of rates is square")
    return np.array(rates)


class NetworkForm(Form):
    """Machines and the links between them."""

    topology: Literal[
        "complete", "bus", "star", "ring", "mesh", "torus", "hypercube", "tree", "links"
    ] = "complete"
    machines: list[MachineForm]
    shape: list[Annotated[int, Value(EXTENT)]] = Field(default_factory=list)
    rate: Annotated[Any, Table(RATE, RATE_OR_NONE), AfterValidator(_square)] = Field(
        1.0, description="units of data per second: a number, or a table from row to column"
    )
    duplex: bool = True
    routers: list[str] = Field(default_factory=list)
    links: list[LinkForm] = Field(default_factory=list)
    delays: list[DelayForm] = Field(default_factory=list)

    @model_validator(mode="after")
    def _delays_differ(self) -> NetworkForm:
        pairs = [(delay.from_, delay.to) for delay in self.delays]
        for index, pair in enumerate(pairs):
            if pair in pairs[:index]:
                raise mistake(f"delays[{index}] is for {pair[0]!r} to {pair[1]!r} again")
        return self

    def network(self) -> Network:
        machines = self.machines
        named = any(machine.name is not None for machine in machines)
        names = [
            machine.name if machine.name is not None else f"M{index + 1}"
            for index, machine in enumerate(machines)
        ]
        two_way = [link for link in self.links if link.between is not None]
        one_way = [link for link in self.links if link.between is None]
        return Network(
            np.array([machine.speed for machine in machines]),
            names=names if named else None,
            task_setup=[machine.task_setup for machine in machines],
            message_setup=[machine.message_setup for machine in machines],
            cores=[machine.cores for machine in machines],
            price=[machine.price for machine in machines],
            start_price=[machine.start_price for machine in machines],
            topology=self.topology,
            shape=self.shape,
            rate=self.rate,
            duplex=self.duplex,
            routers=self.routers,
            links=[(a, b, link.rate) for link in two_way for a, b in [link.between or ("", "")]],
            one_way_links=[(str(link.from_), str(link.to), link.rate) for link in one_way],
            delays={(delay.from_, delay.to): delay.seconds for delay in self.delays},
        )


def network_entry(network: Network) -> dict[str, Any]:
    """Return a network as it stands in files; what has its default is left out."""
    entry: dict[str, Any] = {"topology": network.topology}
    rate = network.rate.tolist()
    if rate != 1.0:
        entry["rate"] = rate
    if network.shape:
        entry["shape"] = list(network.shape)
    if not network.duplex:
        entry["duplex"] = False
    if network.routers:
        entry["routers"] = list(network.routers)
    entry["machines"] = _machines(network)
    links = [{"between": [a, b], "rate": float(rate)} for a, b, rate in network.links]
    links += [{"from": a, "to": b, "rate": float(rate)} for a, b, rate in network.one_way_links]
    if links:
        entry["links"] = links
    if network.delays:
        entry["delays"] = [
            {"from": a, "to": b, "seconds": float(seconds)}
            for (a, b), seconds in network.delays.items()
        ]
    return entry


def _machines(network: Network) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = [
        {"speed": speed} if speed != 1.0 else {} for speed in network.speed.tolist()
    ]
    for name in ("task_setup", "message_setup", "cores", "price", "start_price"):
        default = 1 if name == "cores" else 0.0
        for entry, value in zip(entries, getattr(network, name).tolist(), strict=True):
            if value != default:
                entry[name] = value
    if network.names != Numbered("M", len(network), first=1) or not any(entries):
        entries = [
            {"name": name, **entry} for name, entry in zip(network.names, entries, strict=True)
        ]
    return entries
