"""What two problems must have in common, one being the other scaled, shuffled, renamed or eased.

Each function changes a document and returns the factor by which times must change; None where the
relation says nothing about this problem.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

Document = dict[str, Any]

TIMES = {
    "divisible": {"send", "compute", "return", "release", "deadline"},
    "independent": {"durations", "release"},
    "partition": {"costs", "time", "cost", "deadline"},
    "pipeline": {"work", "durations", "data", "latency", "input", "output"}
    | {"period_limit", "latency_limit"},
    "reduction": {
        *("latency", "transfer", "reduce", "message_overhead", "transfer_per_byte"),
        *("reduce_per_byte", "reduce_overhead"),
    },
    "taskgraph": {"work", "durations", "size", "seconds", "task_setup", "message_setup"}
    | {"release", "deadline", "start_price", "budget"},
}
COLUMNS = ("send", "compute", "return")  # of a star: send_fixed, send_per_unit, …
SEQUENCES = ("order", "return_order", "activation", "transfers")


class Relation(NamedTuple):
    """A change of a problem; ``exact`` where the best makespan stays, else it may only fall."""

    name: str
    change: Callable[[Document, random.Random], float | None]
    exact: bool = True


def times_scaled(document: Document, rng: random.Random) -> float | None:
    """All times by a power of two."""
    if "uplink" in str(document) or "samples" in str(document):
        return None  # a rate, in another unit
    if document["kind"] == "reduction" and document.get("network") is not None:
        return None  # its rates would have to be divided
    factor = 2.0 ** rng.choice((-20, -3, -1, 1, 4, 20))
    _scale(document, TIMES[document["kind"]], factor)
    return factor


def _scale(part: Any, keys: set[str], factor: float) -> None:
    if isinstance(part, list):
        for each in part:
            _scale(each, keys, factor)
        return
    if not isinstance(part, dict):
        return
    for key, value in part.items():
        stem = key.removesuffix("_fixed").removesuffix("_per_unit")
        timed = key in keys or (stem in COLUMNS and stem in keys)
        if timed and not isinstance(value, str):
            part[key] = _multiplied(value, factor)
        elif key == "compute_beyond" and isinstance(value, list):
            part[key] = [_beyond(each, factor) for each in value]
        elif key != "options":
            _scale(value, keys, factor)


def _multiplied(value: Any, factor: float) -> Any:
    if isinstance(value, dict):
        return {
            key: _beyond(part, factor) if key == "beyond" else _multiplied(part, factor)
            for key, part in value.items()
        }
    if isinstance(value, list):
        return [_multiplied(part, factor) for part in value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    return value * factor


def _beyond(pairs: Any, factor: float) -> Any:
    """Return pairs of a size and a cost beyond it with other costs; the sizes are units."""
    if not isinstance(pairs, list):
        return pairs
    return [
        [pair[0], _multiplied(pair[1], factor)]
        if isinstance(pair, list) and len(pair) == 2
        else pair
        for pair in pairs
    ]


def shuffled(document: Document, rng: random.Random) -> float | None:
    """Machines, tasks and edges listed in another order."""
    platform, kind = document.get("platform", {}), document["kind"]
    lists = {
        "divisible": [platform.get("workers"), platform.get("machines")],
        "independent": [document.get("durations")],
        "partition": [document.get("resources")],
        "taskgraph": [document.get("tasks"), document.get("edges")],
    }.get(kind, [])
    found = [each for each in lists if isinstance(each, list) and len(each) > 1]
    if not found or (kind != "independent" and "name" not in str(found)):
        return None
    for each in found:
        order = rng.sample(range(len(each)), len(each))
        beside = [document.get("release"), document.get("sizes")] if kind == "independent" else []
        for column in (each, *beside):
            if isinstance(column, list) and len(column) == len(order):
                column[:] = [column[index] for index in order]
    return 1.0


def renamed(document: Document, rng: random.Random) -> float | None:
    """Every name by another one."""
    if "columns" in document or "columns" in document.get("platform", {}):
        return None
    names = {part["name"] for part in tables(document) if isinstance(part.get("name"), str)}
    if not names:
        return None
    numbers = rng.sample(range(1000), len(names))
    new = {name: f"x{number}" for name, number in zip(sorted(names), numbers, strict=True)}
    changed = replaced({key: part for key, part in document.items() if key != "kind"}, new)
    document.update(changed)
    return 1.0


def tables(part: Any) -> list[dict[str, Any]]:
    """Return every table of a document, itself among them."""
    inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    found = [table for each in inner for table in tables(each)]
    return [part, *found] if isinstance(part, dict) else found


def replaced(part: Any, new: dict[str, str]) -> Any:
    """Return a document with other names, wherever they stand as texts or keys."""
    if isinstance(part, str):
        return new.get(part, part)
    if isinstance(part, list):
        return [replaced(each, new) for each in part]
    if not isinstance(part, dict):
        return part
    return {
        new.get(key, key) if key not in _WORDS else key: (
            each if key in _WORDS and isinstance(each, str) else replaced(each, new)
        )
        for key, each in part.items()
    }


_WORDS = {"topology", "use", "discipline", "objective", "require", "prefer", "order_rule", "ports"}


def one_more_machine(document: Document, rng: random.Random) -> float | None:
    """A machine more, which need not be used."""
    kind = document["kind"]
    if kind == "independent":
        if any(isinstance(each, list) for each in document["durations"]):
            return None
        if "counts" in document or isinstance(document.get("capacity"), list):
            return None
        document["machines"] += 1
        if document.get("speeds") is not None:
            document["speeds"].append(rng.choice((0.5, 1.0, 4.0)))
        return 1.0
    if kind == "partition" and document.get("objective", "makespan") == "makespan":
        document["resources"].append({"name": "one more", "cost": rng.choice((0.5, 1.0, 4.0))})
        has_energy = "energy" in str(document["resources"])
        return None if has_energy or document.get("require") == "most" else 1.0
    if kind == "divisible":
        workers = document["platform"].get("workers")
        fixed = any(document.get(key) is not None for key in (*SEQUENCES, "loads", "budget"))
        if not isinstance(workers, list) or fixed or document.get("use") == "all":
            return None
        send = {} if document["platform"].get("topology") == "bus" else {"send": 1.0}
        workers.append({"name": "one more", **send, "compute": 1.0})
        return 1.0 if document.get("load") is not None else None
    network = document.get("network", {})
    plain = network.get("topology", "complete") == "complete" and not network.get("delays")
    given = document.get("assignment") or document.get("sequence")
    if kind != "taskgraph" or not plain or given or isinstance(network.get("rate"), list):
        return None
    if "durations" in str(document):
        return None
    network["machines"].append({"name": "one more"})
    return 1.0


RELATIONS = (
    Relation("times scaled", times_scaled),
    Relation("shuffled", shuffled),
    Relation("renamed", renamed),
    Relation("one more machine", one_more_machine, exact=False),
)
