"""The form of the networks of task graphs in files."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from pydantic import Field, model_validator

from makespan.core.inputs.forms import Form, Value, mistake, validated
from makespan.core.names import Numbered
from makespan.core.network.forms import LinksForm, links_entry
from makespan.taskgraph.model.network import CORES, DELAY, PRICE, SETUP, SPEED, Network

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


class DelayForm(Form):
    """Seconds that data of a pair of machines take after the last hop."""

    from_: str = Field(alias="from")
    to: str
    seconds: Annotated[float, Value(DELAY)]


class NetworkForm(LinksForm):
    """Machines and the links between them."""

    machines: list[MachineForm]
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
        return Network(
            np.array([machine.speed for machine in machines]),
            names=names if named else None,
            task_setup=[machine.task_setup for machine in machines],
            message_setup=[machine.message_setup for machine in machines],
            cores=[machine.cores for machine in machines],
            price=[machine.price for machine in machines],
            start_price=[machine.start_price for machine in machines],
            **self.fields(),
            delays={(delay.from_, delay.to): delay.seconds for delay in self.delays},
        )


def network_of(table: Any) -> Network:
    """Return the network that stands in a file as ``network``."""
    return validated(NetworkForm, table, place="network").network()


def network_entry(network: Network) -> dict[str, Any]:
    """Return a network as it stands in files; what has its default is left out."""
    entry = links_entry(network)
    links = entry.pop("links", None)
    entry["machines"] = _machines(network)
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
