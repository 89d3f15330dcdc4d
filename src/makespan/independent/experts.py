"""Experts of a mixture over devices: numbers of replicas and their places, with a proof."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from numpy.typing import ArrayLike

from makespan import balance
from makespan.core.control import Control
from makespan.core.errors import ProblemError
from makespan.core.inputs.rules import Mistakes, Rule, whole
from makespan.core.inputs.suggest import suggesting

SLOTS, DEVICES = whole("slots of a device are"), whole("devices are")
LIMIT = Rule("a limit is 0 or more seconds")
STEPS = 30
FEW, LARGEST = 16, 10**10
"""Devices up to which shares of whole loads have a common unit; units of the mean load where they
have none, and are rounded down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Which experts are on each device, the greatest load of one, and a bound on it.

    >>> found = place_experts([4, 2, 1], devices=2, slots=2)
    >>> len(found.devices), found.load, found.optimal
    (2, 4.0, True)
    """

    devices: tuple[tuple[int, ...], ...]
    load: float
    bound: float

    @property
    def optimal(self) -> bool:
        """Whether no placement has a smaller greatest load, to within 1e-9."""
        return self.load <= self.bound * (1 + 1e-9)


@suggesting
def place_experts(
    loads: ArrayLike, *, devices: int, slots: int, time_limit: float = 10.0
) -> Placement:
    """Choose how many replicas each expert has, and on which devices they are, all together.

    Every slot holds a replica, every expert has one or more, and a device none twice. Replicas
    share the load of their expert evenly.

    Parameters
    ----------
    loads
        The load of each expert, 0 or more.
    devices, slots
        How many devices there are, and how many slots each of them has.
    time_limit
        Seconds for the search that goes on from the plan of ``balance.rebalance_experts``.

    Raises
    ------
    ProblemError
        With every mistake found.
    MissingExtra
        Without OR-tools, for which the extra ``exact`` stands.

    Complexity: exponential. Source: CP-SAT on the model that has a variable for each expert, device
    and number of replicas.

    >>> found = place_experts([4, 2, 1], devices=2, slots=2)
    >>> found.load, found.optimal
    (4.0, True)
    """
    weights = _checked(loads, devices, slots, time_limit)
    start = balance.rebalance_experts([weights], devices * slots, 1, 1, devices)[0][0]
    best = _placement(weights, [start[at : at + slots] for at in range(0, len(start), slots)])
    bound = lower_bound(weights, devices, slots)
    if best.load > bound:
        found, proved = _searched(weights, best, slots, Control(time_limit=time_limit), bound)
        bound = max(bound, proved)
        best = min((best, found), key=lambda each: each.load)
    return Placement(devices=best.devices, load=best.load, bound=min(bound, best.load))


def _checked(loads: Any, devices: Any, slots: Any, time_limit: Any) -> balance.Floats:
    mistakes, weights = Mistakes(), balance.numbers("loads", ())
    mistakes.number("devices", devices, DEVICES)
    mistakes.number("slots", slots, SLOTS)
    mistakes.number("time_limit", time_limit, LIMIT)
    try:
        weights = balance.numbers("loads", loads)
    except (TypeError, ValueError) as error:
        mistakes.add("loads", str(error).removeprefix("loads").removeprefix(": "))
    mistakes.raise_if_any(ProblemError)
    if not len(weights) <= devices * slots <= devices * max(1, len(weights)):
        text = (
            f"{devices} devices of {slots} slots can't hold {len(weights)} experts, each in a slot"
        )
        mistakes.add("slots", f"{text}, none twice on a device")
    mistakes.raise_if_any(ProblemError)
    return weights


def _placement(weights: balance.Floats, devices: list[list[int]]) -> Placement:
    count = [sum(held.count(expert) for held in devices) for expert in range(len(weights))]
    load = max(math.fsum(weights[e] / count[e] for e in held) for held in devices)
    return Placement(devices=tuple(map(tuple, devices)), load=load, bound=0.0)


def lower_bound(weights: balance.Floats, devices: int, slots: int) -> float:
    """Return the mean load, or the least that the heaviest replica and its company can be.

    The heaviest is least where each replica more goes to what is heaviest. Where no device has more
    than T, each expert has as many replicas as its load over T at least; what is left of the slots
    makes one expert's replicas as light as can be, and none is lighter. O(n log n).
    """
    count = [1] * len(weights)
    heap = [(-weight, expert) for expert, weight in enumerate(weights)]
    heapq.heapify(heap)
    for _ in range(devices * slots - len(weights)):
        expert = heap[0][1]
        count[expert] += 1
        heapq.heapreplace(heap, (-weights[expert] / count[expert], expert))
    heaviest = -heap[0][0] if heap else 0.0

    def company(most: float) -> float:
        """Return what stands beside the heaviest replica, where no device has more than that."""
        least = [max(1, math.ceil(weight / most * (1 - balance.WITHIN))) for weight in weights]
        spare = max(0, devices * slots - sum(least))
        return (slots - 1) * min(w / (many + spare) for w, many in zip(weights, least, strict=True))

    low, high = heaviest, heaviest * slots
    for _ in range(STEPS if heaviest else 0):
        middle = (low + high) / 2
        if middle <= heaviest + company(middle):
            low = middle
        else:
            high = middle
    return max(math.fsum(weights) / devices, low) * (1 - balance.ROUNDING)


def _searched(
    weights: balance.Floats, best: Placement, slots: int, control: Control, bound: float
) -> tuple[Placement, float]:
    """Return the best placement that CP-SAT finds, and the bound that it proves."""
    from makespan.backends.cp_sat import library, search

    model, devices = library().CpModel(), range(len(best.devices))
    unit = _unit(weights, len(devices))
    load = model.new_int_var(
        math.floor(Fraction(bound) / unit), math.ceil(Fraction(best.load) / unit), "load"
    )
    places: list[tuple[int, int, list[Any]]] = []
    for expert, weight in enumerate(weights):
        least = max(1, math.ceil(weight / best.load * (1 - 1e-9)))
        chosen = []
        for number in range(least, len(devices) + 1):
            chosen.append(model.new_bool_var(""))
            here = [model.new_bool_var("") for _ in devices]
            model.add(sum(here) == number * chosen[-1])
            places.append((expert, math.floor(Fraction(weight) / number / unit), here))
        model.add_exactly_one(chosen)
    for device in devices:
        model.add(sum(here[device] for *_, here in places) == slots)
        model.add(sum(here[device] * share for _, share, here in places) <= load)
    model.minimize(load)
    found = search(model, control)
    proved = 0.0 if found.bound is None else float(found.bound * unit) * (1 - balance.ROUNDING)
    if not found.solved:
        return best, proved
    held = [[e for e, _, here in places if found.value(here[device])] for device in devices]
    return _placement(weights, held), proved


def _unit(weights: balance.Floats, devices: int) -> Fraction:
    """Return what shares are whole multiples of; where that is too small, a fine one."""
    parts = math.lcm(*range(1, devices + 1)) if devices <= FEW else LARGEST
    if parts < LARGEST and all(map(float.is_integer, weights)):
        return Fraction(1, parts)
    return Fraction(math.fsum(weights) / devices) / LARGEST
