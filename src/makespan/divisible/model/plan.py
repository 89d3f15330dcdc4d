"""Decisions, before anything has a time: who gets how much, in which order; what plans cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.schedule import Activity, Schedule
from makespan.divisible.model.platform import Star

ROUNDING = 1e-13  # relative: amounts that are as near as that to a load add up to it
NO_CHUNKS: Integers = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plan:
    """Chunks in the order of sending, and the order of transfers where results return.

    >>> plan = Plan.of([1, 0], [2.0, 3.0], master=1.0)
    >>> plan.worker.tolist(), plan.total
    ([1, 0], 6.0)
    """

    worker: Integers  # the worker of each chunk, counted from 0 without the master
    amount: Floats  # units of load of each chunk
    master: float = 0.0  # what the master computes itself, units
    # the order of transfers on the port: ``k`` sends chunk k, ``-1 - k`` returns it. None where
    # nothing returns: all chunks are sent in their order.
    transfers: Integers | None = None

    @classmethod
    def of(
        cls,
        worker: ArrayLike,
        amount: ArrayLike,
        *,
        master: float = 0.0,
        transfers: ArrayLike | None = None,
    ) -> Plan:
        return cls(
            worker=np.asarray(worker, dtype=np.int64),
            amount=np.asarray(amount, dtype=np.float64),
            master=float(master),
            transfers=None if transfers is None else np.asarray(transfers, dtype=np.int64),
        )

    def __len__(self) -> int:
        return len(self.worker)

    @property
    def total(self) -> float:
        """The load that the plan distributes, units."""
        return float(self.amount.sum()) + self.master

    def fitted(self, load: float) -> Plan:
        """Return the plan with amounts that add up to a load, in the same proportions.

        For amounts from differences of long times, which rounding may leave with few digits. What
        is left without any load goes to the first chunk.

        >>> Plan.of([0, 1], [1.0, 2.0]).fitted(6.0).amount.tolist()
        [2.0, 4.0]
        """
        total = self.total
        if abs(total - load) <= ROUNDING * load:
            return self
        if total > 0.0:
            factor = load / total
            return replace(self, amount=self.amount * factor, master=self.master * factor)
        if not len(self):
            return self
        return replace(self, amount=np.where(np.arange(len(self)) == 0, load, 0.0))

    def trimmed(self, use: str, workers: int) -> Plan:
        """Return the plan as ``use`` wants it: with a chunk for everyone, or without empty ones.

        >>> Plan.of([1], [2.0]).trimmed("all", 3).worker.tolist()
        [1, 0, 2]
        """
        if use != "all":
            return self.without_empty()
        left_out = np.setdiff1d(np.arange(workers), self.worker)
        transfers = self.transfers
        if transfers is not None:
            new = np.arange(len(self), len(self) + len(left_out))
            transfers = np.concatenate([new, transfers, -1 - new])
        return replace(
            self,
            worker=np.concatenate([self.worker, left_out]),
            amount=np.concatenate([self.amount, np.zeros(len(left_out))]),
            transfers=transfers,
        )

    def without_empty(self) -> Plan:
        return self.keeping(self.amount > 0)

    def keeping(self, kept: NDArray[np.bool_]) -> Plan:
        if kept.all():
            return self
        transfers = self.transfers
        if transfers is not None:
            chunk = np.where(transfers >= 0, transfers, -1 - transfers)
            number = np.cumsum(kept) - 1
            chunk, returned = chunk[kept[chunk]], (transfers < 0)[kept[chunk]]
            transfers = np.where(returned, -1 - number[chunk], number[chunk])
        return replace(
            self, worker=self.worker[kept], amount=self.amount[kept], transfers=transfers
        )


def computed(schedule: Schedule) -> Floats:
    """Return the load that each machine computes in a schedule, units."""
    rows = schedule.kind == Activity.COMPUTE
    machine, amount = schedule.machine[rows], schedule.amount[rows]
    loads = np.bincount(machine, amount, minlength=len(schedule.machines))
    return np.asarray(loads, dtype=np.float64)


def sends_by_start(schedule: Schedule) -> Integers:
    """Return the rows of the sends in the order in which they start."""
    sends = schedule.rows_of(Activity.SEND)
    return sends[np.argsort(schedule.start[sends], kind="stable")]


def rounds_of(send: Sequence[int], place: Sequence[int] | None = None) -> list[int]:
    """Return the round of each chunk, from 0, each round as long as it can be.

    A round holds no worker twice; with ``place``, that of each worker in an order, it follows that.

    >>> rounds_of([1, 2, 1, 1])
    [0, 0, 1, 2]
    """
    if place is None and len(set(send)) == len(send):
        return [0] * len(send)
    number, numbers, last = 0, [], -1
    served: set[int] = set()
    for worker in send:
        if worker in served or (place is not None and place[worker] <= last):
            number += 1
            served.clear()
        served.add(worker)
        last = -1 if place is None else place[worker]
        numbers.append(number)
    return numbers


def sends_then_returns(count: int, returned: ArrayLike) -> Integers:
    """Return the transfers that send ``count`` chunks in order, then return some of them.

    >>> sends_then_returns(3, [2, 0]).tolist()
    [0, 1, 2, -3, -1]
    """
    back = -1 - np.asarray(returned, dtype=np.int64)
    return np.concatenate([np.arange(count, dtype=np.int64), back])


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


def entry_of(names: Sequence[str], plan: Plan, behind: Sequence[int]) -> dict[str, Any]:
    """Return a plan with its workers by name; what is not asked of it is left out.

    >>> entry_of(["A", "B"], Plan.of([1, 0], [2.0, 3.0], master=1.0), ())
    {'chunks': [['B', 2.0], ['A', 3.0]], 'master': 1.0}
    """
    chunks = zip(plan.worker.tolist(), plan.amount.tolist(), strict=True)
    data: dict[str, Any] = {"chunks": [[names[worker], amount] for worker, amount in chunks]}
    if plan.master:
        data["master"] = plan.master
    if plan.transfers is not None and (plan.transfers < 0).any():
        data["transfers"] = plan.transfers.tolist()
    return data | ({"behind": list(behind)} if behind else {})


def plan_of(names: Sequence[str], entry: Mapping[str, Any]) -> tuple[Plan, tuple[int, ...] | None]:
    """Return the plan of an entry, and behind whose receptions its chunks are computed.

    >>> plan_of(["A", "B"], {"chunks": [["B", 2.0]]})[0].worker.tolist()
    [1]
    """
    position = {name: index for index, name in enumerate(names)}
    chunks = entry["chunks"]
    plan = Plan.of(
        [position[name] for name, _ in chunks],
        [amount for _, amount in chunks],
        master=entry.get("master", 0.0),
        transfers=entry.get("transfers"),
    )
    return plan, tuple(entry["behind"]) if "behind" in entry else None
