"""Reductions, broadcasts and all-reduces: by machines and by segments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.limit_problems.family import Family
from makespan import Reduction
from makespan.reduction.generate import generate

Build = Callable[[np.random.Generator, int], Reduction]


def _times(rng: np.random.Generator, machines: int, *, spread: bool) -> dict[str, Any]:
    if not spread:
        return {"latency": 1.0, "transfer": 1.0, "reduce": 1.0}
    tables = np.round(rng.uniform(0.5, 2.0, (2, machines, machines)), 1)
    return {
        "latency": tables[0],
        "transfer": tables[1],
        "reduce": np.round(rng.uniform(0.5, 2.0, machines), 1),
    }


def _machines(segments: int, *, spread: bool = False, **fields: Any) -> Build:
    def build(rng: np.random.Generator, size: int) -> Reduction:
        times = _times(rng, size, spread=spread)
        return Reduction(machines=size, segments=segments, **{**times, **fields})

    return build


def _segments(machines: int, *, spread: bool = False, **fields: Any) -> Build:
    def build(rng: np.random.Generator, size: int) -> Reduction:
        times = _times(rng, machines, spread=spread)
        return Reduction(machines=machines, segments=size, **{**times, **fields})

    return build


def _square(**fields: Any) -> Build:
    """Return a builder with as many segments as machines."""

    def build(rng: np.random.Generator, size: int) -> Reduction:
        times = _times(rng, size, spread=True)
        return Reduction(machines=size, segments=size, **times, **fields)

    return build


def _sized(rng: np.random.Generator, size: int) -> Reduction:
    sizes = rng.uniform(0.5, 2.0, size)
    return Reduction(machines=8, segments=size, segment_sizes=sizes, **_times(rng, 8, spread=False))


def _open_count(rng: np.random.Generator, size: int) -> Reduction:
    return Reduction(
        machines=size,
        segments="auto",
        latency=1.0,
        bytes=1e6,
        message_overhead=0.1,
        transfer_per_byte=1e-5,
        reduce_per_byte=1e-5,
        reduce_overhead=0.1,
    )


def _open_bytes(rng: np.random.Generator, size: int) -> Reduction:
    return Reduction(
        machines=8,
        segments="auto",
        latency=1e-3,
        bytes=float(size),
        message_overhead=1e-6,
        transfer_per_byte=1e-3,
        reduce_per_byte=1e-3,
        reduce_overhead=1e-6,
    )


def _network(topology: str, *, machines: int = 0, **options: Any) -> Build:
    """Return a builder of collectives on links; with ``machines``, the segments are the size."""
    return lambda rng, size: generate(
        rng,
        machines=machines or max(4, size - size % 4),
        segments=size if machines else 4,
        network=topology,
        spread=0.5,
        **options,
    )


def _custom(*, machines: int = 0) -> Build:
    """Return a builder of copies from anywhere to anywhere."""
    return lambda rng, size: generate(
        rng, machines=machines or size, segments=size if machines else 4, collective="custom"
    )


def _given(rng: np.random.Generator, size: int) -> Reduction:
    rows = tuple((max(1, machine // 2),) * 4 for machine in range(1, size + 1))
    return Reduction(
        machines=size, segments=4, destinations=rows, **_times(rng, size, spread=False)
    )


COPIES = ("all-gather", "reduce-scatter", "all-to-all", "gather", "scatter")
MACHINES, SEGMENTS, TABLE, SQUARE = 10**5, 10**6, 3000, 1000

FAMILIES = (
    Family("machines", "machines", _machines(4), MACHINES),
    Family("segments", "segments", _segments(8), SEGMENTS),
    Family("one-segment", "machines", _machines(1), MACHINES),
    Family("no-latency", "machines", _machines(4, latency=0.0, reduce=0.0), MACHINES),
    Family("no-latency-segments", "segments", _segments(8, latency=0.0, reduce=0.0), SEGMENTS),
    Family("spread", "machines", _machines(4, spread=True), TABLE),
    Family("spread-segments", "segments", _segments(8, spread=True), SEGMENTS),
    Family("square", "machines", _square(), SQUARE),
    Family("sizes", "segments", _sized, SEGMENTS),
    Family("broadcast", "machines", _machines(4, collective="broadcast"), MACHINES),
    Family(
        "broadcast-spread", "machines", _machines(4, spread=True, collective="broadcast"), TABLE
    ),
    Family("all-reduce", "machines", _machines(4, collective="all-reduce"), MACHINES),
    Family("all-reduce-segments", "segments", _segments(8, collective="all-reduce"), SEGMENTS),
    Family("all-reduce-square", "machines", _square(collective="all-reduce"), SQUARE),
    Family("greedy", "machines", _machines(4, order="greedy"), MACHINES),
    Family("greedy-spread", "machines", _machines(4, spread=True, order="greedy"), TABLE),
    Family("greedy-segments", "segments", _segments(5, spread=True, order="greedy"), SEGMENTS),
    Family("backfilling", "machines", _machines(4, order="backfilling"), MACHINES),
    Family("backfilling-segments", "segments", _segments(8, order="backfilling"), SEGMENTS),
    Family("backfilling-square", "machines", _square(order="backfilling"), SQUARE),
    Family("open-count", "machines", _open_count, MACHINES),
    Family("open-bytes", "bytes", _open_bytes, 10**12),
    Family("given", "machines", _given, MACHINES),
    *(
        Family(
            f"{word}{'-spread' * spread}",
            "machines",
            _machines(4, spread=spread, collective=word),
            TABLE if spread else MACHINES,
        )
        for word in COPIES
        for spread in (False, True)
    ),
    *(
        Family(f"{word}-segments", "segments", _segments(8, collective=word), SEGMENTS)
        for word in COPIES
    ),
    *(
        Family(
            f"network-{topology}{'-ports' * (ports == 'links')}",
            "machines",
            _network(topology, ports=ports),
            1000,
        )
        for topology in ("switch", "ring", "mesh", "nodes")
        for ports in ("machines", "links")
    ),
    Family("network-segments", "segments", _network("ring", machines=8), SEGMENTS),
    Family("network-all-reduce", "machines", _network("nodes", collective="all-reduce"), 1000),
    Family(
        "network-all-reduce-segments",
        "segments",
        _network("nodes", machines=8, collective="all-reduce"),
        SEGMENTS,
    ),
    Family("custom", "machines", _custom(), 1000),
    Family("custom-segments", "segments", _custom(machines=8), 10**5),
)
