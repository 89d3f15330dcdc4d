"""What a run is to do, and what is asked of it by arguments, or else by ``dask.annotate``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from numbers import Real
from typing import Any

from makespan.core.errors import InputError
from makespan.core.inputs.mistakes import quoted
from makespan.core.system.startup import optional
from makespan.execute.dask.cluster.crew import ANY, Member, Only
from makespan.execute.dask.cluster.inputs import Function
from makespan.execute.dask.cluster.items import Items
from makespan.execute.dask.maps.backlog import Chunk
from makespan.execute.dask.maps.costs import Costs
from makespan.execute.dask.maps.order import Order
from makespan.execute.outcome import Failure
from makespan.execute.progress import Tell
from makespan.flow.result import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What to run on what, and how.

    Parameters
    ----------
    function, items, batched
        The function as it is sent, the data, and whether it takes a whole chunk.
    tell
        Called with the share of the items that are done, and what was done last.
    recall, learn
        Give what is known of the costs on the workers that are there, and take what is known in the
        end.
    plan, chunks, order
        A plan, its chunks, and when they are sent and returned; None where there is no plan.
    only
        Which workers may be used.
    priority
        Among what else the cluster has to do; higher is sooner.
    batch_size
        The most items in a chunk.
    keep
        Called with the first item and the results of each chunk, once for every item; None: the run
        keeps them.
    taken
        Returns how many results are not held any more: a stream is read some seconds of work ahead
        of that. None: it is read as fast as it is needed.
    changed
        Set whenever there may be something to do.
    failures
        What failed, noted before :attr:`keep` is called with the results, None for it.
    """

    function: Function
    items: Items
    batched: bool
    tell: Tell
    recall: Callable[[Mapping[str, Member]], Costs]
    learn: Callable[[Mapping[str, Member], Costs], None] = lambda members, costs: None
    plan: Result | None = None
    chunks: Sequence[Chunk] = ()
    order: Order | None = None
    only: Only = ANY
    priority: float = 0.0
    batch_size: int | None = None
    keep: Callable[[int, Any], None] | None = None
    taken: Callable[[], int] | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    failures: list[Failure] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which workers may be used, how often a call is made again, and how much it hurries."""

    only: Only
    retries: int
    priority: float


def annotated(
    *,
    workers: str | int | Iterable[str | int] | None,
    resources: Mapping[str, float] | None,
    retries: int | None,
    priority: float | None = None,
) -> Wanted:
    """Return what is wanted; an argument that is given wins.

    Raises
    ------
    InputError
        If an annotation is a function of keys: chunks have none that anybody knows. If a priority
        or retries are not numbers.
    """
    found = optional("dask").get_annotations()
    for name in ("workers", "resources", "retries", "priority"):
        if callable(found.get(name)):
            raise InputError(
                f"dask.annotate: {name} is a function of keys, but here work has none; a value is"
                " needed"
            )
    workers = found.get("workers") if workers is None else workers
    named = [workers] if isinstance(workers, (str, int)) else workers or ()
    resources = found.get("resources") if resources is None else resources
    return Wanted(
        only=Only(frozenset(str(one) for one in named), resources or {}),
        retries=int(_number("retries", retries, found)),
        priority=_number("priority", priority, found),
    )


def _number(name: str, given: float | None, annotations: Mapping[str, Any]) -> float:
    """Return an argument, or else what is annotated, or 0."""
    value = annotations.get(name, 0.0) if given is None else given
    if isinstance(value, bool) or not isinstance(value, Real) or not isfinite(value):
        raise InputError(f"{name}: {quoted(value)} is not a number")
    return float(value)
