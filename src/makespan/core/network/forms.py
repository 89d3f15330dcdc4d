"""The form of networks in files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, Field, model_validator

from makespan.core.inputs.forms import Form, Table, Value, mistake
from makespan.core.network.checks import EXTENT, LATENCY, RATE, RATE_OR_NONE
from makespan.core.network.interconnect import Interconnect, Link


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

    def link(self) -> Link:
        ends = self.between or (self.from_, self.to)
        return (*map(str, ends), self.rate)


class TimedLinkForm(LinkForm):
    """A link with a latency of its own."""

    latency: Annotated[float, Value(LATENCY)] | None = None

    def link(self) -> Link:
        return (*super().link(), *([] if self.latency is None else [self.latency]))


def _square(rates: Any) -> Any:
    if isinstance(rates, list) and len({len(row) for row in rates}) > 1:
        raise mistake("has rows of different lengths; a table of rates is square")
    return np.array(rates)


class LinksForm(Form):
    """The links between machines and routers."""

    topology: Literal[
        "complete", "bus", "star", "ring", "mesh", "torus", "hypercube", "tree", "nodes", "links"
    ] = "complete"
    shape: list[Annotated[int, Value(EXTENT)]] = Field(default_factory=list)
    rate: Annotated[Any, Table(RATE, RATE_OR_NONE), AfterValidator(_square)] = Field(
        1.0, description="units of data per second: a number, or a table from row to column"
    )
    duplex: bool = True
    routers: list[str] = Field(default_factory=list)
    links: list[LinkForm] = Field(default_factory=list)

    def fields(self) -> dict[str, Any]:
        """Return what :class:`~makespan.core.network.interconnect.Interconnect` takes."""
        return {
            **{name: getattr(self, name) for name in LinksForm.model_fields},
            "links": [link.link() for link in self.links if link.between is not None],
            "one_way_links": [link.link() for link in self.links if link.between is None],
        }


class InterconnectForm(LinksForm):
    """The links between the machines of a problem, and the routers."""

    latency: Annotated[float, Value(LATENCY)] = 0.0
    ports: Literal["machines", "links"] = "machines"
    links: list[TimedLinkForm] = Field(default_factory=list)  # type: ignore[assignment]

    def network(self, machines: int | Sequence[str]) -> Interconnect:
        fields = self.fields() | {"latency": self.latency, "ports": self.ports}
        return Interconnect(machines, **fields)


def links_entry(network: Interconnect) -> dict[str, Any]:
    """Return the links as they stand in files; what has its default is left out."""
    entry: dict[str, Any] = {"topology": network.topology}
    for name, value in (
        ("rate", network.rate.tolist()),
        ("latency", float(network.latency)),
        ("shape", list(network.shape)),
        ("duplex", network.duplex),
        ("ports", network.ports),
        ("routers", list(network.routers) if network.topology != "nodes" else []),
    ):
        if value != InterconnectForm.model_fields[name].get_default(call_default_factory=True):
            entry[name] = value
    links = [{"between": list(link[:2]), **_costs(link)} for link in network.links]
    links += [{"from": link[0], "to": link[1], **_costs(link)} for link in network.one_way_links]
    if links:
        entry["links"] = links
    return entry


def _costs(link: Link) -> dict[str, Any]:
    names = ("rate", "latency")
    return {name: float(cost) for name, cost in zip(names, link[2:], strict=False)}
