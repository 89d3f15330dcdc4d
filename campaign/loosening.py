"""Problems made looser: whatever plan the tighter one has, the looser one has one as good.

Each function changes a document, and returns 1.0; None where it does not apply. A plan of the
tighter problem stays one, or stays one with a shorter activity in place of one of its own.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from campaign.relations import Document, Relation, tables

LONGER = (1.5, 2.0, 10.0)
SHORTER = (0.0, 0.5, 0.9)


def _scaled(table: Any, key: Any, rng: random.Random, factors: tuple[float, ...]) -> bool:
    """Multiply one number of a table or list; whether there is one that is not 0."""
    value = table[key]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value:
        return False
    table[key] = value * rng.choice(factors)
    return True


def _one_of(places: list[tuple[Any, Any]], rng: random.Random, factors: Any) -> float | None:
    """Multiply one of some numbers, given by their table or list and where they stand in it."""
    rng.shuffle(places)
    return 1.0 if any(_scaled(part, key, rng, factors) for part, key in places) else None


def _costs(document: Document, names: set[str], parts: tuple[str, ...]) -> list[tuple[Any, Any]]:
    """Return the places of costs of a divisible load, numbers or tables of their parts."""
    found: list[tuple[Any, Any]] = []
    for table in tables(document["platform"]):
        for name in names & table.keys():
            value = table[name]
            if isinstance(value, dict):
                found += [(value, part) for part in parts if part in value]
            elif "per_unit" in parts:
                found.append((table, name))
    return found


def less_latency(document: Document, rng: random.Random) -> float | None:
    """A start-up of a transfer or a computation becomes shorter, or is dropped."""
    if document["kind"] == "divisible":
        places = _costs(document, {"send", "compute", "return"}, ("fixed",))
        return _one_of(places, rng, SHORTER)
    if document["kind"] == "taskgraph":
        network = document.get("network", {})
        setups = [(each, key) for each, key in _numbers_of(network, "task_setup", "message_setup")]
        return _one_of(setups, rng, SHORTER)
    return None


def faster(document: Document, rng: random.Random) -> float | None:
    """A machine, a link or a task takes less time."""
    kind, factors = document["kind"], (0.5, 0.9)
    if kind == "divisible":
        places = _costs(document, {"send", "compute", "return"}, ("per_unit",))
        return None if "beyond" in str(document) else _one_of(places, rng, factors)
    if kind == "independent":
        rows = document["durations"]
        return _one_of(_cells(rows), rng, factors)
    if kind == "taskgraph":
        places = [(task, "work") for task in _list(document, "tasks") if "work" in task]
        for task in _list(document, "tasks"):
            places += _cells(task.get("durations"))
        return _one_of(places, rng, factors)
    if kind == "reduction" and document.get("order", "free") == "free":
        places = _numbers_of(document, "transfer", "reduce")
        return None if document.get("network") else _one_of(places, rng, factors)
    if kind == "partition" and _of_times(document):
        return _one_of(_costs_of_resources(document), rng, factors)
    return None


def _costs_of_resources(document: Document) -> list[tuple[Any, Any]]:
    """Return the places of the times of a partition: tables, single costs, and their parts."""
    found = []
    for each in _list(document, "resources"):
        found += [*_cells(each.get("costs")), *_cells(each.get("time"))]
        cost = each.get("cost")
        if isinstance(cost, dict):
            found += [(cost, part) for part in ("fixed", "per_unit") if part in cost]
        elif cost is not None:
            found.append((each, "cost"))
    return found


def no_release(document: Document, rng: random.Random) -> float | None:
    """Something may begin at once, or earlier."""
    if document["kind"] == "divisible":
        places = [(each, "release") for each in tables(document["platform"]) if "release" in each]
    elif document["kind"] == "taskgraph":
        places = [(each, "release") for each in _list(document, "tasks") if "release" in each]
    else:
        places = _cells(document.get("release"))
    return _one_of(places, rng, SHORTER)


def later_deadline(document: Document, rng: random.Random) -> float | None:
    """A deadline, of the whole or of a part, is later, or dropped."""
    if document["kind"] == "partition" and not _of_times(document):
        return None
    held = [each for each in tables(document) if each.get("deadline") is not None]
    if not held:
        return None
    chosen = rng.choice(held)
    if rng.random() < 0.3 and (chosen is not document or document.get("load") is not None):
        del chosen["deadline"]
        return 1.0
    return _one_of([(chosen, "deadline")], rng, LONGER)


def more_budget(document: Document, rng: random.Random) -> float | None:
    """There is more to spend, or as much as one likes."""
    if document.get("budget") is None:
        return None
    document["budget"] = rng.choice((2.0 * document["budget"], document["budget"] + 1.0, None))
    if document["budget"] is None:
        del document["budget"]
    return 1.0


def cheaper(document: Document, rng: random.Random) -> float | None:
    """A machine costs less: by itself, by the unit or by the second."""
    if document["kind"] == "divisible":
        places = _costs(document, {"price"}, ("fixed", "per_unit", "per_second"))
        return _one_of(places, rng, SHORTER)
    places = _numbers_of(document.get("network", {}), "price", "start_price")
    return _one_of(places, rng, SHORTER) if document["kind"] == "taskgraph" else None


def more_memory(document: Document, rng: random.Random) -> float | None:
    """A worker can hold more."""
    if document["kind"] != "divisible":
        return None
    places = [(each, "memory") for each in tables(document["platform"]) if "memory" in each]
    return _one_of(places, rng, LONGER)


def fewer_demands(document: Document, rng: random.Random) -> float | None:
    """An edge, a task, an order or a rule is dropped, or there are more ports or rounds."""
    kind = document["kind"]
    if kind == "divisible":
        return _looser_rules(document, rng)
    if kind == "independent" and ("counts" in document or "sizes" in document):
        for limit in ("counts", "sizes", "capacity"):
            document.pop(limit, None)
        return 1.0
    if kind == "independent" and document["durations"]:
        at = rng.randrange(len(document["durations"]))
        if isinstance(document.get("release"), list):
            del document["release"][at]
        del document["durations"][at]
        return 1.0
    if kind == "taskgraph" and _list(document, "edges"):
        if document.get("sequence") or document.get("duplication"):
            return None
        document["edges"].pop(rng.randrange(len(document["edges"])))
        return 1.0
    if kind == "reduction" and document.get("collective") == "custom" and document["segments"] > 1:
        if "segment_sizes" in document:
            return None
        at = rng.randrange(document["segments"])
        document["segments"] -= 1
        del document["before"][at], document["after"][at]
        return 1.0
    return None


def _looser_rules(document: Document, rng: random.Random) -> float | None:
    ways: list[tuple[str, Any]] = []
    if "order" in document:
        ways.append(("order", None))
    if document.get("discipline") is not None:
        ways.append(("discipline", None))
    if document.get("use") == "all":
        ways.append(("use", "any"))
    if document.get("integral"):
        ways.append(("integral", False))
    if isinstance(document.get("rounds", 1), int) and not document.keys() & GIVEN:
        ways.append(("rounds", document.get("rounds", 1) + 1))
    if document.get("ports", 1) == 1 and "transfers" not in document:
        ways.append(("ports", 2))
    if document["platform"].get("topology") not in ("star", "bus") or not ways:
        return None
    key, value = rng.choice(ways)
    document.pop(key, None)
    if value is not None:
        document[key] = value
    return 1.0


GIVEN = {"activation", "transfers"}


def _of_times(document: Document) -> bool:
    """Whether a partition has one goal that shorter times can't spoil."""
    goal = document.get("objective", "makespan")
    return goal in ("makespan", "total") and document.get("require", "all") == "all"


def _list(document: Document, key: str) -> list[Any]:
    found = document.get(key, [])
    listed = isinstance(found, list) and all(isinstance(each, dict) for each in found)
    return found if listed else []


def _cells(rows: Any) -> list[tuple[Any, Any]]:
    """Return the places of the numbers of a list, or of a list of lists."""
    if not isinstance(rows, list):
        return []
    return [
        place
        for index, each in enumerate(rows)
        for place in (_cells(each) if isinstance(each, list) else [(rows, index)])
    ]


def _numbers_of(table: Document, *keys: str) -> list[tuple[Any, Any]]:
    """Return the places of the numbers under some keys, single ones or lists of them."""
    found: list[tuple[Any, Any]] = []
    for key in keys:
        if isinstance(table.get(key), list):
            found += _cells(table[key])
        elif key in table:
            found.append((table, key))
        for machine in _list(table, "machines"):
            found += [(machine, key)] if key in machine else []
    return found


_LOOSER: tuple[tuple[str, Callable[[Document, random.Random], float | None]], ...] = (
    ("less latency", less_latency),
    ("faster", faster),
    ("no release", no_release),
    ("a later deadline", later_deadline),
    ("more budget", more_budget),
    ("cheaper", cheaper),
    ("more memory", more_memory),
    ("fewer demands", fewer_demands),
)
LOOSER = tuple(Relation(name, change, exact=False) for name, change in _LOOSER)
