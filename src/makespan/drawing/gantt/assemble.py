"""What a kind says of its schedule → rows and bars."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from makespan.core.numeric.arrays import Integers
from makespan.core.picture import Bars, OnDemand, Picture, Role, Row
from makespan.core.schedule import WORDS, Activity, Schedule
from makespan.drawing.text import percent, short

ROLE_OF = {
    Activity.SEND: Role.SEND,
    Activity.TRANSFER: Role.SEND,
    Activity.COMPUTE: Role.COMPUTE,
    Activity.REDUCE: Role.REDUCE,
    Activity.RETURN: Role.RETURN,
}

NO_BARS = Bars(
    row=np.empty(0, dtype=np.int64),
    lane=np.empty(0, dtype=np.int64),
    role=np.empty(0, dtype=np.int8),
    activity=np.empty(0, dtype=np.int64),
    start=np.empty(0),
    end=np.empty(0),
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lane:
    """Activities that go into one lane of their machines: ``machine`` is parallel to them."""

    label: str
    role: Role
    activities: Integers
    machine: Integers


def assembled(
    schedule: Schedule,
    lanes: Sequence[Lane],
    order: Integers,
    *,
    note: Callable[[int], str] | None = None,
    labels: Sequence[str] = (),
) -> Picture:
    """Return the picture with a row for each machine of ``order``, in it once, and the lanes that
    it uses.

    Lanes are those of all machines, from top to bottom. ``note`` is what is said of a machine, by
    its index; ``labels`` are the texts of the activities, as in :class:`Picture`.
    """
    count = len(schedule.machines)
    used = np.zeros((len(lanes), count), dtype=bool)
    for index, lane in enumerate(lanes):
        used[index, lane.machine] = True
    above = np.cumsum(used, axis=0) - used
    row_of = np.full(count, -1, dtype=np.int64)
    row_of[order] = np.arange(len(order))
    parts = []
    for index, lane in enumerate(lanes):
        bars = Bars.of(schedule, lane.activities, row=row_of[lane.machine], lane=0, role=lane.role)
        bars.lane[:] = above[index, lane.machine]
        parts.append(bars)

    def row(position: int) -> Row:
        machine = int(order[position])
        own = tuple(lanes[index].label for index in np.flatnonzero(used[:, machine]).tolist())
        said = note(machine) if note is not None else ""
        return Row(schedule.machines[machine], own or ("",), said if own else "idle")

    bars = Bars.concatenate(parts) if parts else NO_BARS
    return Picture(rows=OnDemand(len(order), row), bars=bars.take(bars.row >= 0), labels=labels)


def busy_first(schedule: Schedule, *, by_start: bool = False) -> Integers:
    """Return all machines, those that do or receive anything first, by index or ``by_start``."""
    first = np.full(len(schedule.machines), np.inf)
    np.minimum.at(first, schedule.machine, schedule.start)
    received = schedule.peer >= 0
    np.minimum.at(first, schedule.peer[received], schedule.start[received])
    key = first if by_start else np.isinf(first)
    return np.argsort(key, kind="stable").astype(np.int64)


def schedule_picture(schedule: Schedule) -> Picture:
    """Return the picture of a schedule whose problem is not known: a lane for each kind of row.

    A transfer is shown on the machine that sends; when the other's port is busy only the problem
    could say. Beside each machine stands the share of the makespan that it computes. Chunks of a
    load bear their amounts, as in the picture of a plan, and each machine what it computed in all.
    """
    lanes = []
    for activity, role in ROLE_OF.items():
        rows = schedule.rows_of(activity)
        if len(rows):
            lanes.append(
                Lane(
                    label=WORDS[activity],
                    role=role,
                    activities=rows,
                    machine=schedule.machine[rows],
                )
            )
    works = (schedule.kind == Activity.COMPUTE) | (schedule.kind == Activity.REDUCE)
    busy = np.bincount(
        schedule.machine[works],
        weights=(schedule.end - schedule.start)[works],
        minlength=len(schedule.machines),
    )
    end = schedule.makespan or 1.0
    chunks = bool(len(schedule.rows_of(Activity.SEND))) and not len(
        schedule.rows_of(Activity.REDUCE)
    )
    computed = schedule.kind == Activity.COMPUTE
    amount = np.bincount(
        schedule.machine[computed],
        weights=schedule.amount[computed],
        minlength=len(schedule.machines),
    )

    def label(activity: int) -> str:
        if chunks and computed[activity]:
            return short(float(schedule.amount[activity]))
        peer, item = int(schedule.peer[activity]), int(schedule.item[activity])
        if peer >= 0:
            return schedule.machines[peer]
        return str(item) if item >= 0 else ""

    def note(machine: int) -> str:
        said = f"busy {percent(float(busy[machine]) / end)}" if busy[machine] > 0 else ""
        return f"{short(float(amount[machine]))}, {said}" if chunks and said else said

    return assembled(
        schedule, lanes, busy_first(schedule), note=note, labels=OnDemand(len(schedule), label)
    )
