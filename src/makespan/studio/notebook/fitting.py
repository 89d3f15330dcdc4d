"""Which problems fit a board, on which transfers follow from where and when things compute."""

from collections.abc import Iterator, Mapping
from typing import Any

MOST = 200  # tasks, machines or segments that a person can place
LISTS = ("tasks", "durations", "resources", "workers", "machines")


def misfits(stated: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield why a problem, as files have it, does not fit a board: the place, and what is there.

    >>> list(misfits({"kind": "independent", "machines": 2, "durations": [1.0]}))
    []
    """
    kind, platform = stated["kind"], stated.get("platform") or {}
    if kind == "pipeline":
        yield "kind", "pipelines are not placed by hand"
    for name in LISTS:
        many = stated.get(name, platform.get(name, 0))
        count = len(many) if isinstance(many, list) else int(many or 0)
        if count > MOST and not (kind == "partition" and name == "tasks"):
            yield name, f"{count:,} are more than {MOST}, the most that are placed by hand"
    yield from REASONS.get(kind, lambda _: iter(()))(stated)


def _of_graphs(stated: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    network = stated["network"]
    if "columns" in stated:
        yield "columns", f"more than {MOST} tasks are not placed by hand"
    if network.get("topology", "complete") != "complete" or network.get("delays"):
        yield "network", "transfers are filled in on complete networks alone"
    elif not isinstance(network.get("rate", 1.0), (int, float)):
        yield "network.rate", "transfers are filled in where all links have one rate"
    if stated.get("contention", "none") != "none":
        yield "contention", "transfers are filled in where they don't wait for one another"


def _of_loads(stated: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    platform = stated["platform"]
    if platform["topology"] not in ("star", "bus") or "workers" not in platform:
        yield "platform", "loads are placed on the workers of a star or a bus"
    elif any("return" in worker for worker in platform["workers"]):
        yield "platform.workers", "loads whose results are sent back are not placed by hand"
    if stated.get("rounds", 1) != 1:
        yield "rounds", "loads are placed in one round"
    if "load" not in stated:
        yield "load", "is missing; what is placed has an amount"


def _of_collectives(stated: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "network" in stated:
        yield "network", "messages are placed where each pair of machines has a link"
    if not isinstance(stated.get("segments"), int):
        yield "segments", "how many there are is to be found; those that are given are placed"
    if "transfer" not in stated:
        yield "transfer", "is missing; messages are placed by the seconds of a segment"


REASONS = {"taskgraph": _of_graphs, "divisible": _of_loads, "reduction": _of_collectives}
