"""The search over ordered subsets: layer by layer, one worker more in each."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.binding import bind
from makespan.core.numeric.jit import loop, part
from makespan.divisible.one_round.ending_together import BEATS, AffineCosts, FoundSubset, Remainder

NEXT, COUNT, FIRST, BEST_PARENT, BEST_WORKER = range(5)
SAME = 1e-13


@part
def _rate(inside, room, by_send, start_up, send, total):  # type: ignore[no-untyped-def]
    """Return what the workers that are left do at most for each second more, quick links first."""
    rate, share = 0.0, 1.0
    for k in range(len(by_send)):
        j = int(by_send[k])
        if (inside >> j) & 1 == 0 and start_up[j] < room:
            rate += share / total[j]
            share *= 1.0 - send[j] / total[j]
    return rate


@part
def _gain(inside, cell, place, gain, keep, usable):  # type: ignore[no-untyped-def]
    """Return what the workers outside a set do at most in each second that is left."""
    value, share = 0.0, 1.0
    for k in range(usable[cell]):
        if (inside >> int(place[cell, k])) & 1 == 0:
            value += share * gain[cell, k]
            share *= keep[cell, k]
    return value


@part
def _row_for(  # type: ignore[no-untyped-def]
    inside, new_load, new_left, rate, room, count, table, members, load, left, chained
):
    """Return the row for a state: that of one that it beats, else a new one; -1 if it is beaten."""
    row = int(table[inside % len(table)])
    target_row = count
    while row >= 0:
        if members[row] == inside:
            ahead = load[row] - new_load - rate * max(0.0, new_left - left[row])
            if ahead >= 0.0:
                return -1
            ahead = new_load - load[row] - rate * max(0.0, left[row] - new_left)
            if ahead >= 0.0 and left[row] <= room:  # the rate holds up to ``room``
                if target_row == count:
                    target_row = row
                else:
                    members[row] = -1
        row = int(chained[row])
    return target_row


@loop(pays_from=200_000, loaded_from=50000)  # states expanded, times workers squared
def expand(
    send_fixed: Floats,
    start_up: Floats,
    send: Floats,
    total: Floats,
    by_send: Integers,
    twin: Integers,
    place: Integers,
    gain: Floats,
    keep: Floats,
    usable: Integers,
    horizon: float,
    members: Integers,
    left: Floats,
    load: Floats,
    upper: Floats,
    worker: Integers,
    parent: Integers,
    chained: Integers,
    table: Integers,
    numbers: Integers,
    target: Floats,
    stop: int,
) -> None:
    """Serve one more worker after each state of a layer, up to the state ``stop``.

    A state is a sequence of workers that all end at the horizon T: its set ``members`` (bits), the
    time ``left`` for the port, the ``load`` done. Of the sequences of one set only those are kept
    that no other one beats for every continuation: in the remaining time r the remaining workers do
    at most ``rate`` more for each second more, so (r, load) is beaten by (r', load') if load' >=
    load and r' >= r, or if load' - load >= rate (r - r').

    - ``send_fixed``, ``start_up``, ``send``, ``total``: C, C + W, c and c + w of each worker;
      ``total`` is positive.
    - ``by_send``: the workers by non-decreasing c.
    - ``twin``: the worker before with the same costs, or -1: twins are served in their order.
    - ``place``, ``gain``, ``keep``, ``usable``: the tables of
      :class:`~makespan.divisible.one_round.ending_together.Remainder`.
    - ``horizon``: T.
    - ``members``, ``left``, ``load``, ``upper``, ``worker``, ``parent``, ``chained``: the states,
      one row each; rows from ``numbers[FIRST]`` are the layer that is being made. A row that was
      beaten has ``members`` -1.
    - ``table``: heads of the hash chains, -1 where empty; ``chained`` holds the next row of a
      chain.
    - ``numbers``: the next state to expand, the number of states, the first of the new layer, and
      the state and worker that give the best load found, -1 if none beats the target. Updated.
    - ``target``: one entry: the load to beat. Updated.
    - ``stop``: the state at which to return; the loop also ends when the rows may not suffice.
    """
    count_workers = len(total)
    cells = len(usable)
    count = int(numbers[COUNT])
    current = int(numbers[NEXT])
    goal = float(target[0])
    while current < stop and count + count_workers <= len(members):
        inside = int(members[current])
        room = float(left[current])
        done = float(load[current])
        last = int(worker[current])
        before = int(parent[current])
        rate = _rate(inside, room, by_send, start_up, send, total)
        for j in range(count_workers):
            if (inside >> j) & 1 or start_up[j] >= room:
                continue
            if twin[j] >= 0 and (inside >> int(twin[j])) & 1 == 0:
                continue
            amount = (room - start_up[j]) / total[j]
            new_load = done + amount
            new_left = room - send_fixed[j] - send[j] * amount
            if before >= 0 and start_up[j] < left[before]:  # would last and j do more in turn?
                first = (left[before] - start_up[j]) / total[j]
                between = left[before] - send_fixed[j] - send[j] * first
                if start_up[last] < between:
                    second = (between - start_up[last]) / total[last]
                    other_load = load[before] + first + second
                    other_left = between - send_fixed[last] - send[last] * second
                    ahead = other_load - new_load - rate * max(0.0, new_left - other_left)
                    if ahead > SAME * new_load or (ahead >= 0.0 and j < last):
                        continue
            new_inside = inside | (1 << j)
            if new_load > goal:
                goal = new_load * BEATS
                numbers[BEST_PARENT] = current
                numbers[BEST_WORKER] = j
            cell = min(cells - 1, int(new_left * cells / horizon))
            most = new_load + new_left * _gain(new_inside, cell, place, gain, keep, usable)
            if most <= goal:
                continue
            target_row = _row_for(
                new_inside, new_load, new_left, rate, room, count, table, members, load, left,
                chained,
            )  # fmt: skip
            if target_row < 0:
                continue
            members[target_row] = new_inside
            left[target_row] = new_left
            load[target_row] = new_load
            upper[target_row] = most
            worker[target_row] = j
            parent[target_row] = current
            if target_row == count:
                bucket = new_inside % len(table)
                chained[count] = table[bucket]
                table[bucket] = count
                count += 1
        current += 1
    numbers[NEXT] = current
    numbers[COUNT] = count
    target[0] = goal


MAX_WORKERS = 62
MAX_STATES = 6_000_000
PLAIN_SLICE = 50
SLICE = 20_000
COLUMNS = {
    "members": np.int64,
    "left": np.float64,
    "load": np.float64,
    "upper": np.float64,
    "worker": np.int64,
    "parent": np.int64,
    "chained": np.int64,
}


@dataclass(slots=True)
class _StateColumns:
    columns: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, kind in COLUMNS.items():
            self.columns[name] = np.empty(1024, dtype=kind)

    def __len__(self) -> int:
        return len(self.columns["members"])

    def grow(self) -> None:
        size = min(2 * len(self), MAX_STATES)
        for name, column in self.columns.items():
            self.columns[name] = np.resize(column, size)

    def keep(self, first: int, rows: Integers) -> None:
        """Keep these rows, in this order, from ``first`` on."""
        for column in self.columns.values():
            column[first : first + len(rows)] = column[rows]


class Layers:
    """Seeks the ordered subset of workers that does the most load by a given time.

    ``costs``: the workers; c + w is positive for each. ``control``: asked between slices of the
    work whether to stop.
    """

    def __init__(self, costs: AffineCosts, control: Control) -> None:
        self.costs = costs
        self.control = control
        self.expanded = 0
        self._fixed: dict[str, Any] = {
            "send_fixed": costs.send_fixed,
            "start_up": costs.start_up,
            "send": costs.send,
            "total": costs.total,
            "by_send": np.argsort(costs.send, kind="stable"),
            "twin": _twins(costs),
        }

    def __call__(self, horizon: float, target: float, width: int) -> FoundSubset:
        """Search by layers of at most ``width`` states; see :class:`newton.SubsetSearch`."""
        remainder = Remainder.within(self.costs, horizon)
        states = _StateColumns()
        root = remainder.per_second(np.ones(len(self.costs), dtype=bool))[-1] * horizon
        for name, value in zip(COLUMNS, (0, horizon, 0.0, root, -1, -1, -1), strict=True):
            states.columns[name][0] = value
        numbers = np.array([0, 1, 0, -1, -1], dtype=np.int64)
        goal = np.array([target])
        lost = -np.inf
        made = 1
        while numbers[NEXT] < numbers[COUNT] and not self.control.expired():
            numbers[FIRST] = stop = int(numbers[COUNT])
            table = np.full(max(1021, 8 * (stop - int(numbers[NEXT])) + 1), -1, dtype=np.int64)
            self._layer(remainder, horizon, states, table, numbers, goal, stop)
            lost = max(lost, states.columns["upper"][numbers[NEXT] : stop].max(initial=-np.inf))
            lost = max(lost, _shrink(states, numbers, float(goal[0]), width))
            made += int(numbers[COUNT]) - stop
            if numbers[NEXT] < stop:  # stopped early: what was made is open
                break
            numbers[NEXT] = stop
        rows = slice(int(numbers[NEXT]), int(numbers[COUNT]))
        lost = max(lost, states.columns["upper"][rows].max(initial=-np.inf))
        load, sequence = 0.0, _sequence(states, numbers)
        if sequence:
            load = float(goal[0]) / BEATS
        return FoundSubset(
            load=load, sequence=sequence, upper=max(float(goal[0]), float(lost)), states=made
        )

    def _layer(
        self,
        remainder: Remainder,
        horizon: float,
        states: _StateColumns,
        table: Integers,
        numbers: Integers,
        goal: np.ndarray,
        stop: int,
    ) -> None:
        """Expand the states up to ``stop``, as far as time and memory allow."""
        while numbers[NEXT] < stop and not self.control.expired():
            if len(states) - numbers[COUNT] <= len(self.costs):
                if len(states) >= MAX_STATES:
                    return
                states.grow()
            current = int(numbers[NEXT])
            run, until = expand.plain, current + PLAIN_SLICE
            if expand.pays(self.expanded * len(self.costs) ** 2):
                run, until = expand.compiled, current + SLICE
            bind(run, remainder, **self._fixed, **states.columns)(
                horizon=horizon, table=table, numbers=numbers, target=goal, stop=min(stop, until)
            )
            self.expanded += int(numbers[NEXT]) - current


def _shrink(states: _StateColumns, numbers: Integers, goal: float, width: int) -> float:
    """Keep the ``width`` best unbeaten states, best first; return the best bound of the others."""
    first, count = int(numbers[FIRST]), int(numbers[COUNT])
    upper = states.columns["upper"][first:count]
    alive = np.flatnonzero((states.columns["members"][first:count] >= 0) & (upper > goal))
    ranked = alive[np.argsort(-upper[alive], kind="stable")]
    lost = float(upper[ranked[width:]].max(initial=-np.inf))
    states.keep(first, first + ranked[:width])
    numbers[COUNT] = first + len(ranked[:width])
    return lost


def _sequence(states: _StateColumns, numbers: Integers) -> list[int]:
    if numbers[BEST_WORKER] < 0:
        return []
    backwards = [int(numbers[BEST_WORKER])]
    row = int(numbers[BEST_PARENT])
    while row > 0:
        backwards.append(int(states.columns["worker"][row]))
        row = int(states.columns["parent"][row])
    return backwards[::-1]


def _twins(costs: AffineCosts) -> Integers:
    """Return for each worker the last one before it with the same costs, or -1."""
    seen: dict[tuple[float, ...], int] = {}
    twin = np.full(len(costs), -1, dtype=np.int64)
    rows = np.stack([costs.send_fixed, costs.send, costs.compute_fixed, costs.compute], axis=1)
    for index, row in enumerate(rows.tolist()):
        twin[index] = seen.get(tuple(row), -1)
        seen[tuple(row)] = index
    return twin
