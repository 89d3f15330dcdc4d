"""The form of several sources in files."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Tag

from makespan.core.inputs.forms import (
    AS_COST,
    HIDDEN,
    Cost,
    CostForm,
    Form,
    NumberOrTable,
    Value,
    cost_entry,
)
from makespan.divisible.model.machine_forms import WorkerForm, entry_of, made
from makespan.divisible.model.machines import Worker
from makespan.divisible.model.platform import RULES
from makespan.divisible.model.sources import HELD, LINK, Source, Sources


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

    def source(self) -> Source:
        given = self.send
        one = [link.affine() for link in given] if isinstance(given, list) else given
        return Source(
            name=self.name,
            load=self.load,
            send=one.affine() if isinstance(one, LinkForm) else one,
            compute=None if self.compute is None else self.compute.affine(),
            release=self.release,
        )


class SourcesForm(Form):
    """Several sources, and workers each of whom may receive from all of them."""

    topology: Literal["sources"]
    sources: list[SourceForm]
    workers: list[WorkerForm]

    def platform(self) -> Sources:
        return Sources(
            [form.source() for form in self.sources],
            [made(Worker, form) for form in self.workers],
        )


def sources_entry(platform: Sources) -> dict[str, Any]:
    """Return several sources as they stand in files; what sends cost stands with the sources."""
    return {
        "topology": "sources",
        "sources": [
            entry_of(source, ("name",), ("send",)) | {"send": _links_entry(source)}
            for source in platform.sources
        ],
        "workers": [entry_of(worker, ("name", "compute")) for worker in platform.workers],
    }


def _links_entry(source: Source) -> Any:
    """Return what sends cost: one cost where all are alike, else a list."""
    costs: Any = source.send
    assert isinstance(costs, tuple)
    entries = [cost_entry(cost) for cost in costs]
    return entries[0] if len(set(costs)) == 1 else entries
