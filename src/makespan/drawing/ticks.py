"""Round numbers on the time axis."""

from __future__ import annotations

import math
from dataclasses import dataclass

from makespan.drawing.text import short

STEPS = (1.0, 2.0, 5.0, 10.0)
MOST = 200


@dataclass(frozen=True, slots=True)
class Tick:
    """A number on the axis and how it is written."""

    time: float
    label: str


def ticks(end: float, wanted: float) -> tuple[Tick, ...]:
    """Return ticks from 0 to ``end`` at a step of 1, 2 or 5 times a power of ten.

    ``wanted`` is about how many there is room for; there are never more, except for two.

    >>> [tick.label for tick in ticks(28.0, 7)]
    ['0', '5', '10', '15', '20', '25']
    """
    if not (end > 0 and math.isfinite(end)):
        return (Tick(0.0, "0"),)
    raw = end / max(1.0, min(wanted, MOST))
    power = 10.0 ** math.floor(math.log10(raw))
    if power == 0.0:
        return (Tick(0.0, "0"),)
    step = next((power * step for step in STEPS if power * step >= raw * (1 - 1e-9)), power * 10)
    count = math.floor(end / step * (1 + 1e-9))
    return tuple(Tick(step * index, _written(step * index, step)) for index in range(count + 1))


def decades(low: float, high: float) -> tuple[Tick, ...]:
    """Return powers of ten from ``low`` to ``high``, or 1, 2 and 5 times them where these are few.

    >>> [tick.label for tick in decades(0.004, 3.0)], [tick.label for tick in decades(1.0, 20.0)]
    (['0.01', '0.1', '1'], ['1', '2', '5', '10', '20'])
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = STEPS[:1] if len(powers) > 4 else STEPS[:3]
    values = [step * 10.0**power for power in powers for step in steps]
    inside = [value for value in values if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
    return tuple(Tick(value, short(value)) for value in inside)


def _written(value: float, step: float) -> str:
    if value == 0:
        return "0"
    if step >= 1e-3 and value < 1e7:
        return f"{value:.{max(0, -math.floor(math.log10(step) + 1e-9))}f}"
    digits = 1 + max(0, math.floor(math.log10(value / step) + 1e-9))
    return short(value, digits + 1)
