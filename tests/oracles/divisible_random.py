"""Random small divisible load problems in which all fields meet."""

from __future__ import annotations

import random
from typing import Any

from makespan import Affine, Convex, DivisibleLoad, Master, ProblemError, Star, Tree, Worker

FIXED = (0, 0, 0, 0.5, 1, 3)
PER_UNIT = (0, 0.3, 0.5, 1, 1, 2, 3, 5)


def random_problem(rng: random.Random, *, four: bool = False) -> DivisibleLoad:
    """Return a problem of up to three workers, five tree nodes, or six units.

    Fields that contradict each other are drawn anew. ``four``: of up to four workers, and several
    rounds of three and four, too: more than can be enumerated.
    """
    while True:
        try:
            return random_tree_problem(rng) if rng.random() < 0.1 else _star(rng, four)
        except ProblemError:
            continue


def _cost(rng: random.Random, fixed: bool) -> Affine:
    return Affine(rng.choice(FIXED) if fixed else 0, rng.choice(PER_UNIT))


def _compute(rng: random.Random, fixed: bool, share: float) -> Affine:
    """Draw a computing cost, which by this chance becomes steeper beyond one size or two."""
    cost = _cost(rng, fixed)
    if rng.random() >= share:
        return cost
    sizes = rng.sample((0, 0.5, 1, 2, 3), rng.choice((1, 1, 2)))
    costs = [cost.per_unit + more for more in rng.sample((0.5, 1, 2, 4), len(sizes))]
    return Convex(cost.fixed, cost.per_unit, tuple(zip(sorted(sizes), sorted(costs), strict=True)))


def _maybe(rng: random.Random, share: float, *values: Any) -> Any:
    return rng.choice(values) if rng.random() < share else None


def random_tree_problem(rng: random.Random) -> DivisibleLoad:
    """Return a problem of up to five nodes of a tree."""
    fixed = rng.random() < 0.5
    nodes = []
    for index in range(rng.randint(1, 5)):
        compute = _cost(rng, fixed) if rng.random() < 0.8 else None
        parent = f"N{rng.randrange(index)}" if index else None
        nodes.append(Tree.Node(parent=parent, send=_cost(rng, fixed), compute=compute))
    return DivisibleLoad(platform=Tree(nodes), **_goal(rng))


def _goal(rng: random.Random) -> dict[str, Any]:
    """Draw a load, a deadline, or both."""
    drawn = rng.random()
    fields: dict[str, Any] = {}
    if drawn < 0.8:
        fields["load"] = rng.choice((0, 1, 2, 3, 4, 5.5, 6))
    if drawn > 0.65:
        fields["deadline"] = rng.choice((0, 1, 3, 7.5, 10, 20))
    return fields


def _star(rng: random.Random, four: bool) -> DivisibleLoad:
    count = rng.choice((1, 2, 2, 3, 3, 4, 4) if four else (0, 1, 2, 2, 2, 2, 3, 3, 3, 3))
    rich = rng.choice((0, 0, 0.5, 1, 1.5))  # how much more than costs there is
    fixed, back = rng.random() < 0.6, rng.choice((0, 0, 0.5, 1))
    chooses = count > 0 and rng.random() < 0.1
    bus = _cost(rng, fixed) if chooses or rng.random() < 0.15 else None
    workers = [_worker(rng, fixed, back, bus, rich) for _ in range(count)]
    names = [f"P{index + (not chooses)}" for index in range(count)]
    fields: dict[str, Any] = {"ports": rng.choice((1, 1, 1, 2, "many"))}
    master: Any = Master()
    if chooses:
        master = "choose"
    elif fields["ports"] == "many":
        uplink, sends = _maybe(rng, 0.2, 0.7, 2.0), _maybe(rng, 0.3, 1, 2)
        compute = _cost(rng, fixed) if rng.random() < 0.4 else None
        master = Master(compute=compute, uplink=uplink, sends=sends)
    elif rng.random() < 0.5:
        master = Master(compute=_cost(rng, fixed))
    if rng.random() < 0.12:
        fields |= _given_loads(rng, names)
    else:
        fields |= _goal(rng)
    fields |= _sequences(rng, names, workers, rich, several=four or count < 3)
    for share, name, values in (
        (0.15, "use", ("all",)),
        (0.1, "front_end", (False,)),
        (0.2, "integral", (True,)),
        (0.15, "budget", (0, 2, 5, 10)),
    ):
        drawn = _maybe(rng, share * rich, *values)
        if drawn is not None:
            fields[name] = drawn
    return DivisibleLoad(platform=Star(workers, master=master), **fields)


def _worker(
    rng: random.Random, fixed: bool, back: float, bus: Affine | None, rich: float
) -> Worker:
    fields: dict[str, Any] = {
        "send": _cost(rng, fixed) if bus is None else bus,
        "compute": _compute(rng, fixed, 0.15 * rich),
        "return_": _cost(rng, fixed) if rng.random() < back else None,
    }
    for share, name, values in (
        (0.15, "memory", (0, 0.5, 1, 2, 3.5)),
        (0.15, "release", (1, 4)),
        (0.15, "deadline", (2, 6, 15)),
        (0.2, "price", (Affine(1, 0), Affine(0, 1), Affine(2, 0.5))),
    ):
        if rng.random() < share * rich:
            fields[name] = rng.choice(values)
    return Worker(**fields)


def _given_loads(rng: random.Random, names: list[str]) -> dict[str, Any]:
    loads = {name: rng.choice((0, 1, 2, 2.5)) for name in ["P0", *names] if rng.random() < 0.7}
    fields: dict[str, Any] = {"loads": loads}
    if rng.random() < 0.3:
        fields["deadline"] = rng.choice((3, 10, 20))
    return fields


def _sequences(
    rng: random.Random, names: list[str], workers: list[Worker], rich: float, *, several: bool
) -> dict[str, Any]:
    """Draw rounds, orders, an activation or transfers."""
    fields: dict[str, Any] = {}
    drawn = rng.random()
    if names and drawn < 0.1 * rich:
        fields["activation"] = [rng.choice(names) for _ in range(rng.randint(1, 4))]
        if rng.random() < 0.3:
            fields["return_order"] = rng.sample(fields["activation"], len(fields["activation"]))
    elif names and drawn < 0.2 * rich:
        fields["transfers"] = _transfers(rng, names, workers)
        return fields
    else:
        fields["rounds"] = rng.choice((1, 1, 1, 2, "auto")) if several else 1
        if rng.random() < 0.2:
            fields["order"] = rng.sample(names, len(names))
        if rng.random() < 0.15 * rich:
            fields["return_order"] = rng.sample(names, len(names))
    if rng.random() < 0.15 * rich:
        fields["discipline"] = rng.choice(("fifo", "lifo"))
    return fields


def _transfers(
    rng: random.Random, names: list[str], workers: list[Worker]
) -> list[tuple[str, str]]:
    """Draw sends, each with its return somewhere behind it."""
    line: list[tuple[str, str]] = []
    for name in [rng.choice(names) for _ in range(rng.randint(1, 3))]:
        at = rng.randint(0, len(line))
        line.insert(at, ("send", name))
        if workers[names.index(name)].return_ is not None:
            line.insert(rng.randint(at + 1, len(line)), ("return", name))
    return line
