"""Divisible loads: by workers, chunks, rounds, units and nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.limit_problems.family import Family
from makespan import Affine, DivisibleLoad, Master, Source, Sources, Star, Tree, Worker

Build = Callable[[np.random.Generator, int], DivisibleLoad]

LINEAR = ("send_per_unit", "compute_per_unit")
SENDS = (*LINEAR, "send_fixed")
AFFINE = (*SENDS, "compute_fixed")
RETURNS = ("return_per_unit",)
ALL_RETURNS = ("return_per_unit", "return_fixed")
TYPICAL = {
    "send_per_unit": 0.02,
    "compute_per_unit": 1.0,
    "return_per_unit": 0.01,
    "send_fixed": 0.05,
    "compute_fixed": 0.2,
    "return_fixed": 0.05,
    "memory": 4.0,
    "release": 2.0,
    "deadline": 40.0,
    "price_fixed": 1.0,
    "price_per_unit": 0.1,
    "price_per_second": 0.01,
}
"""Around which the columns are drawn, for a load of 10 units a worker."""


def _columns(rng: np.random.Generator, count: int, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: TYPICAL[name] * rng.uniform(0.5, 2.0, count) for name in names}


def _star(
    *columns: str,
    computes: bool = False,
    workers: int = 0,
    alike: bool = False,
    master: dict[str, Any] | None = None,
    **fields: Any,
) -> Build:
    """Return a builder of stars with these columns; ``workers`` fixes how many there are."""
    holder = Master(compute=1.0 if computes else None, **(master or {}))

    def build(rng: np.random.Generator, size: int) -> DivisibleLoad:
        count = workers or size
        drawn = _columns(rng, count, columns)
        if alike:
            drawn = {name: np.full(count, TYPICAL[name]) for name in drawn}
        star = Star.from_arrays(master=holder, **{"send_per_unit": 0.0, **drawn})
        given = {
            name: value(star, size) if callable(value) else value for name, value in fields.items()
        }
        return DivisibleLoad(platform=star, **{"load": 10.0 * count, **given})

    return build


def _bus(fixed: bool, choose: bool = False) -> Build:
    def build(rng: np.random.Generator, size: int) -> DivisibleLoad:
        columns = _columns(rng, size, AFFINE if fixed else LINEAR)
        columns["send_per_unit"] = 0.02
        if choose:
            columns["send_fixed"] = 0.05 if fixed else 0.0
        star = Star.from_arrays(master="choose" if choose else None, **columns)
        return DivisibleLoad(load=10.0 * size, platform=star)

    return build


def _tree(shape: str, fixed: bool) -> Build:
    def build(rng: np.random.Generator, size: int) -> DivisibleLoad:
        nodes = np.arange(size)
        parent = {
            "random": (rng.random(size) * nodes).astype(np.int64),
            "deep": nodes - 1,
            "wide": np.zeros(size, dtype=np.int64),
        }[shape]
        parent[0] = -1
        columns = _columns(rng, size, SENDS if fixed else LINEAR)
        for name in columns:
            if name.startswith("send"):
                columns[name][0] = 0.0
        tree = Tree.from_arrays(parent=parent, **columns)
        return DivisibleLoad(load=10.0 * size, platform=tree)

    return build


def _sources(workers: int = 0, held: bool = True, fixed: bool = False, **fields: Any) -> Build:
    """Return a builder of sources and workers; with ``workers``, the sources are the size."""

    def build(rng: np.random.Generator, size: int) -> DivisibleLoad:
        count, crew = (size, workers) if workers else (3, size)
        latency = 0.05 if fixed else 0.0
        links = rng.uniform(0.01, 0.04, (count, crew)).tolist()
        load = 10.0 * crew
        platform = Sources(
            [
                Source(load=load / count if held else None, send=[Affine(latency, c) for c in row])
                for row in links
            ],
            [Worker(compute=cost) for cost in rng.uniform(0.5, 2.0, crew).tolist()],
        )
        most = {
            name: value(None, size) if callable(value) else value for name, value in fields.items()
        }
        return DivisibleLoad(load=load, platform=platform, **most)

    return build


def _order(star: Star, _size: int) -> tuple[str, ...]:
    return tuple(star.names)


def _backwards(star: Star, _size: int) -> tuple[str, ...]:
    return tuple(star.names)[::-1]


def _activation(star: Star, size: int) -> tuple[str, ...]:
    """Return an activation of every worker in turn."""
    return tuple(star.names[index % len(star)] for index in range(size))


def _by_size(_star: Star, size: int) -> float:
    return 2.5 * size


def _everyone_twice(star: Star, _size: int) -> tuple[str, ...]:
    return (*star.names, *star.names)


def _transfers(star: Star, _size: int) -> tuple[tuple[str, str], ...]:
    return (
        *(("send", name) for name in star.names),
        *(("return", name) for name in star.names),
    )


def _loads(star: Star, _size: int) -> dict[str, float]:
    return dict.fromkeys(star.names, 10.0)


def _size(_star: Star | None, size: int) -> int:
    return size


def _units(_star: Star, size: int) -> float:
    return float(size)


def _budget(star: Star, _size: int) -> float:
    return float(len(star))


MANY = 10**7
PRICES = ("price_fixed", "price_per_unit")
DEADLINE: dict[str, Any] = {"load": None, "deadline": 20.0}
FREE_SENDS = ("compute_per_unit", "return_per_unit")

FAMILIES = (
    # one round
    Family("star", "workers", _star(*LINEAR), MANY),
    Family("star-no-load", "workers", _star(*AFFINE, load=0.0), MANY),
    Family("star-use-all", "workers", _star(*AFFINE, use="all"), MANY),
    Family("bus", "workers", _bus(fixed=False), MANY),
    Family("bus-choose", "machines", _bus(fixed=False, choose=True), 10**5),
    Family("order", "workers", _star(*LINEAR, order=_order), 10**6),
    Family("deadline", "workers", _star(*LINEAR, **DEADLINE), MANY),
    Family("master-computes", "workers", _star(*LINEAR, computes=True), MANY),
    Family("no-front-end", "workers", _star(*LINEAR, front_end=False), MANY),
    Family("given-loads", "workers", _star(*AFFINE, load=None, loads=_loads), 10**6),
    # fixed costs
    Family("fixed", "workers", _star(*AFFINE), MANY),
    Family("fixed-order", "workers", _star(*AFFINE, order=_order), 10**6),
    Family("fixed-deadline", "workers", _star(*AFFINE, **DEADLINE), MANY),
    Family("fixed-bus", "workers", _bus(fixed=True), MANY),
    Family("fixed-bus-choose", "machines", _bus(fixed=True, choose=True), 10**5),
    Family("fixed-no-front-end", "workers", _star(*AFFINE, front_end=False), 10**6),
    # windows and limits of workers
    Family("memory", "workers", _star(*SENDS, "memory", load=_size), MANY),
    Family("release", "workers", _star(*SENDS, "release"), MANY),
    Family("windows", "workers", _star(*SENDS, "release", "deadline", load=None, deadline=40.0)),
    Family("budget", "workers", _star(*SENDS, "price_fixed", "price_per_unit", budget=_budget)),
    # results
    Family("returns", "workers", _star(*LINEAR, *RETURNS), 10**6),
    Family("returns-fixed", "workers", _star(*AFFINE, *ALL_RETURNS), 10**6),
    Family("returns-two-ports", "workers", _star(*LINEAR, *RETURNS, ports=2), 10**6),
    Family("returns-lifo", "workers", _star(*LINEAR, *RETURNS, discipline="lifo"), MANY),
    Family("returns-fifo", "workers", _star(*LINEAR, *RETURNS, discipline="fifo"), MANY),
    Family("returns-fixed-fifo", "workers", _star(*AFFINE, *ALL_RETURNS, discipline="fifo")),
    Family(
        "returns-orders",
        "workers",
        _star(*LINEAR, *RETURNS, order=_order, return_order=_backwards),
        10**6,
    ),
    Family("transfers", "workers", _star(*LINEAR, *RETURNS, transfers=_transfers), 10**5),
    Family("returns-deadline", "workers", _star(*LINEAR, *RETURNS, **DEADLINE), 10**6),
    # several rounds
    Family("rounds-auto", "workers", _star(*AFFINE, rounds="auto"), 10**6),
    Family("rounds-auto-linear", "workers", _star(*LINEAR, rounds="auto"), 10**6),
    Family("rounds-3", "workers", _star(*AFFINE, rounds=3), 10**6),
    Family("rounds-3-workers", "rounds", _star(*AFFINE, rounds=_size, workers=3), 10**9),
    Family("rounds-order", "rounds", _star(*AFFINE, rounds=_size, workers=3, order=_order), 10**9),
    Family("installments", "rounds", _star(*SENDS, rounds=_size, workers=4, alike=True), 10**9),
    Family("installments-wide", "workers", _star(*SENDS, rounds=4, alike=True), 10**6),
    Family("chunks", "entries", _star(*AFFINE, workers=10, activation=_activation), 10**6),
    Family("policy-load", "units", _star(*AFFINE, workers=10, rounds="auto", load=_units), 10**12),
    Family("rounds-memory", "workers", _star(*AFFINE, "memory", rounds="auto"), 10**6),
    Family(
        "rounds-memory-load",
        "units",
        _star(*AFFINE, "memory", workers=10, rounds="auto", load=_units),
        10**12,
    ),
    Family("results-rounds", "workers", _star(*FREE_SENDS, rounds=4), 10**6),
    Family("results-many", "rounds", _star(*FREE_SENDS, rounds=_size, workers=4), 10**9),
    Family("results-one-port", "rounds", _star(*LINEAR, *RETURNS, rounds=_size, workers=4), 10**9),
    Family(
        "results-two-ports",
        "rounds",
        _star(*LINEAR, *RETURNS, rounds=_size, workers=4, ports=2),
        10**9,
    ),
    Family(
        "results-alike",
        "rounds",
        _star(*LINEAR, *RETURNS, rounds=_size, workers=4, alike=True, discipline="fifo"),
        10**9,
    ),
    Family("results-wide", "workers", _star(*LINEAR, *RETURNS, rounds=3), 10**6),
    # whole units
    Family("units", "workers", _star(*AFFINE, integral=True), 10**6),
    Family("units-load", "units", _star(*AFFINE, workers=10, integral=True, load=_units), 10**12),
    Family("units-open", "workers", _star(*AFFINE, "memory", integral=True, **DEADLINE), 10**6),
    # links of their own
    Family("links", "workers", _star(*LINEAR, ports="many"), 10**6),
    Family("links-fixed", "workers", _star(*AFFINE, ports="many"), 10**6),
    Family("links-rounds", "workers", _star(*AFFINE, ports="many", rounds="auto"), 10**6),
    Family("links-returns", "workers", _star(*AFFINE, *ALL_RETURNS, ports="many"), 10**6),
    # given chunks
    *(
        Family(
            f"chunks-{name}",
            "entries",
            _star(*columns, workers=4, activation=_activation, **more),
            least=4,
        )
        for name, columns, more in (
            ("linear", LINEAR, {}),
            ("computes", SENDS, {"computes": True}),
            ("returns", (*LINEAR, *RETURNS), {}),
            ("returns-lifo", (*SENDS, *RETURNS), {"discipline": "lifo"}),
            ("returns-given", (*LINEAR, *RETURNS), {"return_order": _activation}),
            ("two-ports", (*LINEAR, *RETURNS), {"ports": 2}),
            ("all", LINEAR, {"use": "all"}),
            ("no-front-end", LINEAR, {"front_end": False}),
            ("memory", (*LINEAR, "memory"), {"load": _by_size}),
            ("units", LINEAR, {"integral": True}),
            ("deadline", LINEAR, DEADLINE),
            ("links", LINEAR, {"ports": "many"}),
            ("uplink", LINEAR, {"ports": "many", "master": {"uplink": 20.0}}),
            ("sends", LINEAR, {"ports": "many", "master": {"sends": 2}}),
        )
    ),
    Family("chunks-workers", "workers", _star(*LINEAR, activation=_everyone_twice)),
    Family("chunks-one", "entries", _star(*LINEAR, workers=1, activation=_activation)),
    # rounds, everyone to take part, or under prices
    Family("rounds-all", "rounds", _star(*LINEAR, workers=12, use="all", rounds=_size), 10**9),
    Family(
        "rounds-all-order",
        "rounds",
        _star(*LINEAR, workers=12, use="all", rounds=_size, order=_order),
        10**9,
    ),
    Family("rounds-release", "workers", _star(*SENDS, "release", rounds="auto")),
    Family("rounds-no-front-end", "workers", _star(*SENDS, front_end=False, rounds="auto")),
    Family("rounds-loads", "workers", _star(*AFFINE, load=None, loads=_loads, rounds="auto")),
    Family("rounds-units", "workers", _star(*AFFINE, integral=True, rounds="auto")),
    Family(
        "rounds-units-load",
        "units",
        _star(*SENDS, workers=4, integral=True, rounds="auto", load=_units),
        10**12,
    ),
    Family("rounds-deadline", "workers", _star(*AFFINE, rounds="auto", **DEADLINE)),
    # prices
    Family("price", "workers", _star(*SENDS, *PRICES, objective="price", deadline=40.0)),
    Family(
        "price-second",
        "workers",
        _star(*SENDS, "price_per_second", objective="price", deadline=40.0),
    ),
    Family(
        "price-rounds",
        "workers",
        _star(*SENDS, *PRICES, objective="price", deadline=40.0, rounds="auto"),
    ),
    Family("budget-second", "workers", _star(*LINEAR, *PRICES, "price_per_second", budget=_budget)),
    Family(
        "budget-open", "workers", _star(*LINEAR, "price_per_second", budget=_budget, **DEADLINE)
    ),
    Family("front", "workers", _star(*LINEAR, *PRICES, objective="pareto")),
    Family(
        "front-second", "workers", _star(*SENDS, *PRICES, "price_per_second", objective="pareto")
    ),
    Family("front-rounds", "workers", _star(*SENDS, *PRICES, objective="pareto", rounds="auto")),
    Family(
        "front-units",
        "units",
        _star(*LINEAR, *PRICES, workers=4, objective="pareto", integral=True, load=_units),
        10**12,
    ),
    # links with an uplink or few sends at a time
    Family("uplink", "workers", _star(*LINEAR, ports="many", master={"uplink": 20.0})),
    Family(
        "uplink-rounds", "workers", _star(*SENDS, ports="many", rounds=3, master={"uplink": 20.0})
    ),
    Family(
        "uplink-returns", "workers", _star(*LINEAR, *RETURNS, ports="many", master={"uplink": 20.0})
    ),
    Family("sends", "workers", _star(*LINEAR, ports="many", master={"sends": 2})),
    Family("sends-all", "workers", _star(*LINEAR, ports="many", use="all", master={"sends": 10})),
    Family(
        "no-front-end-transfers",
        "workers",
        _star(*LINEAR, *RETURNS, front_end=False, transfers=_transfers),
    ),
    # several sources
    Family("sources", "workers", _sources()),
    Family("sources-fixed", "workers", _sources(fixed=True)),
    Family("sources-copies", "workers", _sources(held=False)),
    Family("sources-links", "workers", _sources(ports="many")),
    Family("sources-many-rounds", "sources", _sources(workers=4, rounds=3)),
    Family("sources-many", "sources", _sources(workers=4)),
    Family("sources-many-copies", "sources", _sources(workers=4, held=False, fixed=True)),
    Family("sources-many-links", "sources", _sources(workers=4, ports="many")),
    Family("sources-deadline", "workers", _sources(deadline=1000.0)),
    # trees
    Family("tree", "nodes", _tree("random", fixed=False), 10**6),
    Family("tree-deep", "nodes", _tree("deep", fixed=False), 10**6),
    Family("tree-wide", "nodes", _tree("wide", fixed=False), 10**6),
    Family("tree-fixed", "nodes", _tree("random", fixed=True), 10**6),
    Family("tree-fixed-deep", "nodes", _tree("deep", fixed=True), 10**6),
    Family("tree-fixed-wide", "nodes", _tree("wide", fixed=True), 10**6),
)
