"""What is asked of a call by its arguments, or else by ``dask.annotate`` around it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from makespan.core.errors import InputError
from makespan.core.system.extras import optional
from makespan.execute.dask.cluster.crew import Only


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which workers may be used, how often a call is made again, and how much it hurries."""

    only: Only
    retries: int
    priority: float


def annotated(
    *,
    workers: str | Iterable[str] | None,
    resources: Mapping[str, float] | None,
    retries: int | None,
) -> Wanted:
    """Return what is wanted; an argument that is given wins.

    Raises
    ------
    InputError
        If an annotation is a function of keys: chunks have none that anybody knows.
    """
    found = optional("dask").get_annotations()
    for name in ("workers", "resources", "retries", "priority"):
        if callable(found.get(name)):
            raise InputError(
                f"dask.annotate: {name} is a function of keys, but here work has none; a value is"
                " needed"
            )
    workers = found.get("workers") if workers is None else workers
    named = [workers] if isinstance(workers, str) else workers or ()
    resources = found.get("resources") if resources is None else resources
    return Wanted(
        only=Only(frozenset(str(one) for one in named), resources or {}),
        retries=int(found.get("retries", 0) if retries is None else retries),
        priority=float(found.get("priority", 0.0)),
    )
