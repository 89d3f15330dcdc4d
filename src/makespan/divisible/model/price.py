"""What a plan costs."""

from __future__ import annotations

import numpy as np

from makespan.core.schedule import Activity, Schedule
from makespan.divisible.model.platform import Star


def price_of(star: Star, schedule: Schedule) -> float:
    """Return the sum of the prices of the workers that are sent anything.

    Each costs its fixed price, that of its load, and that of the seconds of the whole plan. The
    schedule is over the machines of the star, its master first.
    """
    sends = schedule.rows_of(Activity.SEND)
    worker = schedule.peer[sends] - 1
    used = np.unique(worker)
    per_second = float(star.price_per_second[used].sum())
    paid = float(star.price_per_unit[worker] @ schedule.amount[sends])
    return paid + float(star.price_fixed[used].sum()) + per_second * schedule.makespan


def is_priced(star: Star) -> bool:
    """Whether using any worker costs anything."""
    return any(
        star.range_of(f"price_{part}")[1] > 0 for part in ("fixed", "per_unit", "per_second")
    )
