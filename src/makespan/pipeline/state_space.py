"""Labels: what mappings of the first stages have come to, and bounds on what is still to come.

A state is a stage up to which all are mapped, and the machine of the last interval. A label of a
state holds the machines visited, the period and latency so far, and the price; a label that visits
no fewer machines than another of its state, and is nowhere better, is dropped (Feillet et al.
2004). Mappings that visit machines several times bound what is still to come, with a Lagrange
multiplier for each visit (Christofides, Mingozzi and Toth 1981).
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers, readonly
from makespan.core.numeric.jit import loop, part
from makespan.pipeline.problem import Pipeline

FULL, STOPPED, DONE = -2, -1, 0  # how a search of labels ended
PARTIAL = 1 << 62  # the bit of a machine that is filled in part, behind those of all machines


@dataclass(frozen=True, slots=True, eq=False)
class Costs:
    """A problem as the loops take it; all in seconds."""

    sums: Floats  # (stages + 1, machines): the first stages on each machine
    far: Integers  # (same shape): behind the last stage of the longest interval from a stage on
    moved: Floats  # as of the problem, like ``per_unit`` and ``delay``
    per_unit: Floats
    delay: Floats
    enter: Floats  # to receive from outside, on each machine
    leave: Floats  # to send there

    @classmethod
    def of(cls, problem: Pipeline, most: float | Floats = np.inf) -> Costs:
        """Return the costs of a problem, of intervals that compute for ``most`` seconds at most.

        That is a number, or one for each machine.
        """
        table, count = problem.table, len(problem.stages)
        runs = np.isfinite(table)
        zero = np.zeros((1, len(problem.machines)))
        sums = np.concatenate([zero, np.cumsum(np.where(runs, table, 0.0), axis=0)])
        held = np.concatenate([[0.0], np.cumsum(problem.held)])
        far = np.empty(sums.shape, dtype=np.int64)
        limits = np.broadcast_to(most, len(problem.machines)).tolist()
        for machine in range(len(problem.machines)):
            room = held + problem.memory[machine] * (1 + 1e-12)
            far[:, machine] = np.searchsorted(held, room, side="right") - 1
            if np.isfinite(limit := limits[machine]):
                until = np.searchsorted(sums[:, machine], sums[:, machine] + limit, side="right")
                np.minimum(far[:, machine], until - 1, out=far[:, machine])
            if not runs[:, machine].all():
                blocked = np.append(np.where(runs[:, machine], count, np.arange(count)), count)
                stop = np.minimum.accumulate(blocked[::-1])[::-1]
                np.minimum(far[:, machine], stop, out=far[:, machine])
        return cls(
            *readonly(
                sums, far, problem.moved, problem.per_unit, problem.delay,
                problem.moved[0] / problem.outside, problem.moved[-1] / problem.outside,
            )
        )  # fmt: skip

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """The columns by name, as the loops take them."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


@loop(pays_from=20_000)  # stages × machines × machines
def completions(  # type: ignore[no-untyped-def]
    sums, far, moved, per_unit, delay, enter, leave, visit, seconds, longest, given, rest, begun,
    machine_after, stage_after,
):  # fmt: skip
    """Write what mappings of the later stages cost at least, machines visited any number of times.

    The cost is ``seconds`` times the latency and ``visit`` of each machine, with ``longest`` the
    longest computation or transfer. ``rest`` is the least cost behind a stage that a machine has
    ended; ``begun`` that with the machine that begins there. ``machine_after`` and ``stage_after``
    hold the choices. Returns the least cost of all, and its first machine.
    """
    stages, machines = sums.shape[0] - 1, sums.shape[1]
    for machine in range(machines):
        rest[stages, machine] = leave[machine] if longest else seconds * leave[machine]
    for stage in range(stages - 1, -1, -1):
        for machine in range(machines):
            best, chosen = np.inf, -1
            before = sums[stage, machine]
            for end in range(stage + 1, far[stage, machine] + 1):
                own = sums[end, machine] - before
                if longest:
                    cost = max(own, rest[end, machine])
                else:
                    cost = seconds * own + rest[end, machine]
                if cost < best:
                    best, chosen = cost, end
            begun[stage, machine] = best + visit[machine]
            stage_after[stage, machine] = chosen
        for machine in range(machines):
            best, chosen = np.inf, -1
            for other in range(machine + 1 if given else 0, machines):
                if other != machine:
                    send = moved[stage] * per_unit[machine, other]
                    if longest:
                        cost = max(send, begun[stage, other])
                    else:
                        cost = seconds * (send + delay[machine, other]) + begun[stage, other]
                    if cost < best:
                        best, chosen = cost, other
            rest[stage, machine] = best
            machine_after[stage, machine] = chosen
    best, chosen = np.inf, -1
    for machine in range(machines):
        if longest:
            cost = max(enter[machine], begun[0, machine])
        else:
            cost = seconds * enter[machine] + begun[0, machine]
        if cost < best:
            best, chosen = cost, machine
    return best, chosen


@part
def dominated(head, following, mask, numbers, held, values):  # type: ignore[no-untyped-def]
    """Whether a label in a list visits no other machines and is nowhere worse than ``values``."""
    at = head
    while at >= 0:
        if mask[at] & held == mask[at]:
            worse = False
            for place in range(4):
                if numbers[at, place] > values[place]:
                    worse = True
                    break
            if not worse:
                return True
        at = following[at]
    return False


@part
def without_worse(head, following, mask, numbers, held, values):  # type: ignore[no-untyped-def]
    """Return a list without the labels that ``values`` dominate."""
    at, before = head, -1
    while at >= 0:
        worse = held & mask[at] == held
        if worse:
            for place in range(4):
                if numbers[at, place] < values[place]:
                    worse = False
                    break
        if worse:
            if before < 0:
                head = following[at]
            else:
                following[before] = following[at]
        else:
            before = at
        at = following[at]
    return head


@part
def inserted(head, count, following, mask, numbers, parent, place, held, values, origin, at):  # type: ignore[no-untyped-def]
    """Put label ``count`` into a list in place of those that it dominates; return its head."""
    following[count] = without_worse(head, following, mask, numbers, held, values)
    for each in range(5):
        numbers[count, each] = values[each]
    mask[count] = held
    parent[count] = origin
    place[count] = at
    return count


@part
def arrive(  # type: ignore[no-untyped-def]
    stage, count, moved, per_unit, delay, enter, price, bit, given, overlap, used, limits,
    multipliers, heads, begun, following, mask, numbers, parent, place, values,
):  # fmt: skip
    """List the labels of a stage anew by the machine that goes on; return how many there are."""
    machines = len(enter)
    for goal in range(machines):
        begun[goal] = -1
        for origin in range(-1 if stage == 0 else 0, 0 if stage == 0 else machines):
            if origin == goal or (given and origin > goal):
                continue
            label = -1 if stage == 0 else heads[stage, origin]
            if stage > 0 and label < 0:
                continue
            send, wait = enter[goal], 0.0
            if stage > 0:
                send, wait = moved[stage] * per_unit[origin, goal], delay[origin, goal]
            while True:
                held = 0 if label < 0 else mask[label]
                if held & bit[goal] == 0:
                    for each in range(5):
                        values[each] = 0.0 if label < 0 else numbers[label, each]
                    period = max(values[0], send if overlap else values[1] + send)
                    values[0] = used[0] * period
                    values[1] = used[1] * send
                    values[2] += used[2] * (send + wait)
                    values[3] += used[3] * price[goal]
                    values[4] += multipliers[goal]
                    held |= bit[goal]
                    if period <= limits[0] and not dominated(
                        begun[goal], following, mask, numbers, held, values
                    ):
                        if count == len(mask):
                            return FULL
                        begun[goal] = inserted(
                            begun[goal], count, following, mask, numbers, parent, place,
                            held, values, label, goal,
                        )  # fmt: skip
                        count += 1
                if label >= 0:
                    label = following[label]
                if label < 0:
                    break
    return count


@loop(pays_from=20_000)  # stages × machines × machines
def search(  # type: ignore[no-untyped-def]
    sums, far, moved, per_unit, delay, enter, leave, price, bit, given, overlap, used, weights,
    limits, best, periods, latencies, prices, costs, multipliers, slack, heads, begun, following,
    mask, numbers, parent, place, fill, flag,
):  # fmt: skip
    """Write all labels that may lead to better mappings; return how it ended, and how many.

    - ``bit``: of each machine a bit of ``mask``; 0 where the order is given.
    - ``used``: which of period, open load, latency and price tell labels apart (1, else 0).
    - ``weights``, ``limits``: of period, latency and price: the objective's weights, and what may
      not be exceeded. All weights 0: the first mapping found ends the search, unless ``best`` is
      infinite.
    - ``best``: the value of the best mapping known, in an array of one; better ones are searched.
    - ``periods``, ``latencies``, ``prices``, ``costs``: what is still to come at least from a stage
      that a machine has ended; ``costs`` are weighted, with ``multipliers`` for visits.
    - ``slack``: the sum of the multipliers.
    - ``heads``, ``begun``: lists of labels by state, and of those that begin on a machine: -1
      everywhere.
    - ``following``, ``mask``, ``numbers``, ``parent``, ``place``: the labels: next in a list;
      machines visited; period, open load, latency, price, and multipliers of machines visited;
      label before; stage and machine.
    - ``fill``: whether stages are alike and only one machine needs neither one stage nor all that
      it can hold: a stage may go from a slower to a faster machine.
    - ``flag``: stops the search when it is no longer 0.

    Phases: arrive at each machine from all labels of a stage; extend over all intervals from there.
    """
    stages, machines = sums.shape[0] - 1, sums.shape[1]
    count = 0
    values = np.zeros(5)
    only_period = weights[1] == 0.0 and weights[2] == 0.0
    for stage in range(stages):
        count = arrive(
            stage, count, moved, per_unit, delay, enter, price, bit, given, overlap, used, limits,
            multipliers, heads, begun, following, mask, numbers, parent, place, values,
        )  # fmt: skip
        if count < 0:
            return FULL, len(mask)
        for goal in range(machines):  # extend
            origin = begun[goal]
            while origin >= 0:
                if flag[0] != 0:
                    return STOPPED, count
                for end in range(stage + 1, far[stage, goal] + 1):
                    if periods[end, goal] == np.inf:
                        continue
                    own = sums[end, goal] - sums[stage, goal]
                    for each in range(5):
                        values[each] = numbers[origin, each]
                    values[2] += used[2] * own
                    if overlap:
                        period = max(values[0], own)
                        if period > limits[0]:
                            break
                        period = max(period, periods[end, goal])
                        values[0] = used[0] * max(values[0], own)
                    else:
                        values[1] = used[1] * (values[1] + own)
                        if values[1] > limits[0]:
                            break
                        out = leave[goal] if end == stages else 0.0
                        period = max(values[0], values[1] + out, periods[end, goal])
                    latency = values[2] + used[2] * latencies[end, goal]
                    paid = values[3] + used[3] * prices[end, goal]
                    if period > limits[0] or latency > limits[1] or paid > limits[2]:
                        continue
                    extra = costs[end, goal] - (slack - values[4])
                    if only_period and extra > 1e-9 * slack:
                        continue
                    rest = weights[1] * values[2] + weights[2] * values[3] + extra
                    rest = max(rest, weights[1] * latency + weights[2] * paid)
                    if weights[0] * period + rest >= best[0]:
                        continue
                    held, at = mask[origin], goal
                    if fill and end > stage + 1 and end < far[stage, goal]:
                        if held & PARTIAL != 0:
                            continue
                        held |= PARTIAL
                    if end == stages:
                        held, at = 0, 0
                        values[0], values[1], values[2] = used[0] * period, 0.0, latency
                    if dominated(heads[end, at], following, mask, numbers, held, values):
                        continue
                    if count == len(mask):
                        return FULL, count
                    heads[end, at] = inserted(
                        heads[end, at], count, following, mask, numbers, parent, place,
                        held, values, origin, end * machines + goal,
                    )  # fmt: skip
                    count += 1
                    if end == stages and best[0] < np.inf:
                        if only_period and weights[0] == 0.0:
                            return DONE, count
                        best[0] = weights[0] * period + weights[1] * latency + weights[2] * paid
                origin = following[origin]
    return DONE, count
