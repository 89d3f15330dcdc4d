"""A public board with a bound: EPLB, experts over devices, of the ADRS benchmarks of SkyDiscover.

``python -m benchmarks.board_eplb [expert-load.json]``. The evaluator (benchmarks/ADRS of
skydiscover-ai's repository) adds up recorded loads by 100 steps. It places the experts by one sum,
and judges the placement by the next: the mean load of a slot over the greatest, where both are
added up over layers. So numbers of replicas count there, and places don't; by devices, which the
second column tells, both count.

No numbers of replicas score higher than those which one who knew the next loads would give: one
more to the expert whose replicas are heaviest, until all slots are used. The greatest load of a
replica is least then, since each step is needed by whoever stays below it.

The recorded loads are a file of 224 MB that the board's own script downloads. Without it, loads are
drawn: by Zipf's law over ranks at random, each with a lognormal factor from one sum to the next.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks.experts import LAYERS, by_eplb, rows_of
from benchmarks.table import Table
from makespan import balance

SLOTS, GROUPS, NODES, DEVICES = 288, 8, 4, 32
STEPS, EXPERTS, WINDOWS, DRIFT = 100, 256, 12, 0.1
Rows = list[list[int]]


def recorded(path: Path) -> Iterator[np.ndarray]:
    """Yield the sums of each 100 steps: a row for each layer, a column for each expert."""
    history = json.loads(path.read_text("utf-8"))["load_history"]
    for first in range(0, len(history), STEPS):
        steps = [step["logical_expert_load"] for step in history[first : first + STEPS]]
        yield np.sum(np.array(steps, dtype=float), axis=0)


def drawn(seed: int = 1) -> Iterator[np.ndarray]:
    """Yield loads that drift."""
    rng = np.random.default_rng(seed)
    loads = rng.integers(1, EXPERTS, (LAYERS, EXPERTS), endpoint=True) ** -0.8
    for _ in range(WINDOWS):
        yield loads
        loads = loads * rng.lognormal(0, DRIFT, loads.shape)


def by_nodes(loads: list[float]) -> list[int]:
    """Return the expert in each slot by EPLB's rule: groups over nodes, then each node."""
    size = len(loads) // GROUPS
    sums = [math.fsum(loads[at : at + size]) for at in range(0, len(loads), size)]
    even = [GROUPS // NODES] * NODES
    found: list[int] = []
    for groups in balance.longest_first(sums, (even, even)) or []:
        here = [group * size + each for group in sorted(groups) for each in range(size)]
        placed = by_eplb([loads[each] for each in here], SLOTS // NODES, DEVICES // NODES)
        found += [here[each] for device in placed for each in device]
    return found


def by_rule(loads: np.ndarray) -> Rows:
    """Return the expert in each slot of each layer by EPLB's rule."""
    return [by_nodes(row) for row in loads.tolist()]


def by_file(loads: np.ndarray) -> Rows:
    """Return the expert in each slot of each layer by ``makespan.balance``."""
    placed: Rows = balance.rebalance_experts(loads.tolist(), SLOTS, GROUPS, NODES, DEVICES)[0]
    return placed


def greatest(loads: np.ndarray, placed: Rows) -> tuple[float, float]:
    """Return the greatest loads of a slot and of a device, each added up over layers."""
    slots = devices = 0.0
    for row, experts in zip(loads, placed, strict=True):
        share = row / np.bincount(experts, minlength=len(row))
        slots += float(share[experts].max())
        devices += max(float(share[held].sum()) for held in rows_of(experts, DEVICES))
    return slots, devices


def least(loads: np.ndarray) -> tuple[float, float]:
    """Return what no placement can be below, slots and devices added up over layers."""
    slots = devices = 0.0
    for row in loads:
        count = np.ones(len(row))
        for _ in range(SLOTS - len(row)):
            count[np.argmax(row / count)] += 1
        slots += float((row / count).max())
        devices += max(float(row.sum()) / DEVICES, float((row / count).max()))
    return slots, devices


def scores(
    windows: list[np.ndarray], place: Callable[[np.ndarray], Rows] | None
) -> tuple[float, float, float]:
    """Return the board's score, that by devices, and the seconds a placement takes."""
    found, spent = [], 0.0
    for now, then in pairwise(windows):
        started = time.process_time()
        placed = place(now) if place else None
        spent += time.process_time() - started
        slots, devices = least(then) if placed is None else greatest(then, placed)
        total = float(then.sum())
        found.append((total / SLOTS / slots, total / DEVICES / devices))
    by_slot, by_device = np.mean(found, axis=0)
    return float(by_slot), float(by_device), spent / len(found)


def main(path: str | None = None) -> None:
    """Write the table of the board."""
    windows = list(recorded(Path(path)) if path else drawn())
    told = "Recorded loads" if path else f"Loads that are drawn, factors of {DRIFT:g} an interval"
    table = Table(
        "board_eplb",
        "EPLB, of SkyDiscover's ADRS benchmarks: experts placed for loads that come after",
        f"{told}: {len(windows) - 1} intervals, {len(windows[0])} layers, {windows[0].shape[1]} "
        f"experts in {SLOTS} slots of {DEVICES} devices on {NODES} nodes. The mean load over the "
        "greatest, of a slot, which the board counts, and of a device; 1 is even.",
        ("what", "slots", "devices", "time"),
    )
    for name, place in (("EPLB's rule", by_rule), ("the file", by_file), ("no placement", None)):
        by_slot, by_device, spent = scores(windows, place)
        label = name if place else "no placement can score above"
        table.add(label, f"{by_slot:.4f}", f"{by_device:.4f}", spent if place else "")
    table.write()


if __name__ == "__main__":
    main(*sys.argv[1:])
