"""Experts over devices: every number of replicas, and every place of every replica."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product


def least_load(loads: Sequence[float], *, devices: int, slots: int) -> float:
    """Return the least greatest load of a device; a device holds no expert twice."""
    experts = range(len(loads))
    best = float("inf")
    for held in product(combinations(experts, slots), repeat=devices):
        count = [sum(expert in device for device in held) for expert in experts]
        if all(count):
            tops = [sum(loads[expert] / count[expert] for expert in device) for device in held]
            best = min(best, max(tops))
    return best
