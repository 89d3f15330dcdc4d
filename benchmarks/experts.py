"""Experts over devices: beside EPLB's rule, from hour to hour, and FlashLB's example with a proof.

``python -m benchmarks.experts``. EPLB (DeepSeek 2025) gives one more replica to the expert whose
replicas are heaviest, then packs replicas longest first, equally many on each device. That rule is
written here anew, in floats of 64 bits. Loads are drawn: lognormal(0, 1), exponential, or by Zipf's
law with exponent 0.8 over ranks at random.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.table import Table
from makespan import balance
from makespan.independent import place_experts
from makespan.independent.experts import lower_bound

FLASHLB = [600, 560, 120, 120, 20, 10, 10, 10]
LAYERS, HOURS = 58, 8
SHAPES = ((256, 288, 32), (256, 320, 64), (256, 288, 144), (64, 128, 64), (128, 256, 128))
DRAWS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "lognormal": lambda rng, n: rng.lognormal(0, 1, n),
    "exponential": lambda rng, n: rng.exponential(1, n),
    "Zipf": lambda rng, n: rng.integers(1, n, n, endpoint=True) ** -0.8,
}
Devices = list[list[int]]


def by_eplb(loads: Sequence[float], slots: int, devices: int) -> Devices:
    """Return the experts on each device by EPLB's rule."""
    count = [1] * len(loads)
    heap = [(-load, expert) for expert, load in enumerate(loads)]
    heapq.heapify(heap)
    labels = list(range(len(loads)))
    for _ in range(slots - len(loads)):
        expert = heap[0][1]
        labels.append(expert)
        count[expert] += 1
        heapq.heapreplace(heap, (-loads[expert] / count[expert], expert))
    weights = [loads[expert] / count[expert] for expert in labels]
    even = [slots // devices] * devices
    groups = balance.longest_first(weights, (even, even)) or []
    return [[labels[item] for item in group] for group in groups]


def by_file(loads: Sequence[float], slots: int, devices: int) -> Devices:
    """Return the experts on each device by the file."""
    row = balance.rebalance_experts([loads], slots, 1, 1, devices)[0][0]
    return rows_of(row, devices)


def rows_of(row: list[int], devices: int) -> Devices:
    slots = len(row) // devices
    return [row[at : at + slots] for at in range(0, len(row), slots)]


def greatest(loads: Sequence[float], placed: Devices) -> float:
    """Return the greatest load of a device."""
    count = np.bincount([expert for held in placed for expert in held], minlength=len(loads))
    return max(math.fsum(loads[expert] / count[expert] for expert in held) for held in placed)


def layers() -> None:
    """Write the table beside EPLB's rule."""
    table = Table(
        "experts",
        f"Experts over devices: {LAYERS} layers",
        "Above the bound: the greatest load of a device over the mean load, or over the heaviest "
        "replica with its company where that is more; median of the layers. Worse: layers where "
        "ours is above EPLB's. Time: a layer, the median.",
        ("experts, slots, devices", "loads", "EPLB's rule", "the file", "worse", "time", "longest"),
    )
    for (experts, slots, devices), (name, draw) in ((s, d) for s in SHAPES for d in DRAWS.items()):
        rng = np.random.default_rng([experts, slots, list(DRAWS).index(name)])
        theirs, ours, times, worse = [], [], [], 0
        for _ in range(LAYERS):
            loads = draw(rng, experts).tolist()
            least = lower_bound(loads, devices, slots // devices)
            started = time.process_time()
            placed = by_file(loads, slots, devices)
            times.append(time.process_time() - started)
            assert all(len(set(held)) == len(held) for held in placed)
            mine = greatest(loads, placed)
            other = greatest(loads, by_eplb(loads, slots, devices))
            worse += mine > other * (1 + 1e-9)
            theirs.append(other / least - 1)
            ours.append(mine / least - 1)
        medians = (f"{100 * float(np.median(each)):.3f} %" for each in (theirs, ours))
        shape = f"{experts}, {slots}, {devices}"
        table.add(shape, name, *medians, worse, float(np.median(times)), max(times))
    table.write()


def hours() -> None:
    """Write the table of placements that follow drifting loads."""
    experts, slots, devices = SHAPES[0]
    table = Table(
        "experts_moves",
        "Experts over devices from one hour to the next",
        f"{experts} experts in {slots} slots of {devices} devices; each load changes by a "
        f"lognormal factor an hour, {HOURS} hours, 8 layers. Moves: replicas new to a device, "
        "an hour. Ours stops at the greatest load of EPLB's rule in that hour. Time: the median.",
        (
            "deviation of the factor",
            "EPLB's rule",
            "the file",
            "share",
            "above EPLB's load",
            "time",
        ),
    )
    for deviation in (0.01, 0.02, 0.05, 0.1):
        theirs = ours = above = 0
        times = []
        for layer in range(8):
            rng = np.random.default_rng([layer, round(100 * deviation)])
            loads = rng.lognormal(0, 1, experts)
            other = by_eplb(loads.tolist(), slots, devices)
            row = balance.rebalance_experts([loads.tolist()], slots, 1, 1, devices)[0][0]
            for _ in range(HOURS):
                loads = loads * rng.lognormal(0, deviation, experts)
                anew = by_eplb(loads.tolist(), slots, devices)
                theirs += moves(other, anew)
                other, now = anew, loads.tolist()
                within = greatest(now, other) / (math.fsum(now) / devices) - 1
                started = time.process_time()
                new = balance.rebalance_experts(
                    [now], slots, 1, 1, devices, current=[row], within=within
                )[0][0]
                times.append(time.process_time() - started)
                ours += moves(rows_of(row, devices), rows_of(new, devices))
                row = new
                above += greatest(now, rows_of(row, devices)) > greatest(now, other) * (1 + 1e-9)
        each = 8 * HOURS
        cells = (f"{theirs / each:.1f}", f"{ours / each:.1f}", f"{100 * ours / theirs:.1f} %")
        table.add(f"{deviation:g}", *cells, f"{above} of {each}", float(np.median(times)))
    table.write()


def moves(before: Devices, after: Devices) -> int:
    """Return how many replicas come to devices that had none of their expert."""
    return sum(len(set(new) - set(old)) for old, new in zip(before, after, strict=True))


def example() -> None:
    """Write the table of FlashLB's example."""
    table = Table(
        "experts_example",
        "FlashLB's example: eight experts in two slots on each of eight devices",
        f"Loads {', '.join(map(str, FLASHLB))}; FlashLB itself ends at 205, as its page says.",
        ("by", "greatest load", "proved", "time"),
    )
    table.add("EPLB's rule", f"{greatest(FLASHLB, by_eplb(FLASHLB, 16, 8)):.2f}", "", "")
    started = time.process_time()
    placed = by_file(FLASHLB, 16, 8)
    spent = time.process_time() - started
    table.add("the file", f"{greatest(FLASHLB, placed):.2f}", "", spent)
    started = time.perf_counter()
    found = place_experts(FLASHLB, devices=8, slots=2, time_limit=60.0)
    spent = time.perf_counter() - started
    table.add("`place_experts`", f"{found.load:.2f}", "yes" if found.optimal else "no", spent)
    table.write()


if __name__ == "__main__":
    example()
    layers()
    hours()
