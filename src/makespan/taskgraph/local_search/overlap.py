"""Moves of tasks where transfers overlap: what is drawn, and the loop that tries them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from makespan.core.control import PLAIN, Control
from makespan.core.numeric.arrays import Integers
from makespan.core.numeric.binding import bind, is_plain
from makespan.core.numeric.jit import Loop, next_minimal, part
from makespan.core.numeric.sorting import inverse
from makespan.taskgraph.limits import latest_ends
from makespan.taskgraph.model.loops import first_free, graph_loop, hold
from makespan.taskgraph.problem import TaskGraph

MOMENT = 1e-3  # seconds that say nothing about how long moves take


def search_columns(problem: TaskGraph, machine: Integers, order: Integers) -> dict[str, Any]:
    """Return what both loops of local search hold of a problem and a plan, by their parameters."""
    dag, count, cores = problem.dag, len(problem.dag), int(problem.cores.sum())
    return {
        "first_in": dag.first_in, "first_out": dag.first_out, "successors": dag.successors,
        "seconds": problem.durations.ravel(), "first_core": problem.first_core,
        "held": dag.cores, "release": dag.release, "due": latest_ends(problem),
        "order": order, "place": inverse(order), "machine": machine, "best_machine": machine,
        "end": np.zeros(count), "cause": np.full(count, -1), "free": np.zeros(cores),
        "core_last": np.full(cores, -1),
    }  # fmt: skip


def searched(
    loop: Loop, given: dict[str, Any], moves: int, steps: int, at_once: int, control: Control, *,
    reach: Callable[[int], float], **numbers: Any,
) -> dict[str, Any]:  # fmt: skip
    """Try moves of so many steps each, until the time is up; return the columns then.

    There are ``at_once`` steps, or one move, between two looks at the clock; of a plain loop, a
    hundredth. Thresholds fall, and begin at ``reach``, by as many moves as the time is enough for:
    a search whose limit ends it while it is still warm finds nothing.
    """
    form, column = loop.chosen(moves * steps)
    at_once = int(at_once * PLAIN) if is_plain(form) else at_once
    columns = {name: column(each) for name, each in given.items()}
    run = bind(form, **columns, **numbers)
    tried, begun = 0, control.elapsed
    while tried < moves:
        now = min(max(1, at_once // steps), moves - tried)
        run(evaluations=now, all_evaluations=moves, reach=reach(moves))
        tried += now
        if control.expired():
            break
        if (left := control.remaining) is not None:
            spent = max(control.elapsed - begun, MOMENT)
            moves = min(moves, tried + max(1, int(tried * left / spent)))
    return columns


@part
def draw_task(state, order, end, due, cause, late):  # type: ignore[no-untyped-def]
    """Return a task and the state: any, or half of the time one that the last end waits for.

    ``cause`` (task) is the task that it waits for, -1 for none. Where the plan is ``late``, the
    chain is that of the task that is latest.
    """
    count = len(order)
    state = next_minimal(state)
    task = state % count
    if state // count % 2 == 0:
        last = order[0]
        for other in range(count):
            if late > 0.0:
                if end[other] - due[other] > end[last] - due[last]:
                    last = other
            elif end[other] > end[last]:
                last = other
        seen = 0
        while last >= 0:  # each of the chain with the same chance
            seen += 1
            state = next_minimal(state)
            if state % seen == 0:
                task = last
            last = cause[last]
    return task, state


@part
def room_in_order(  # type: ignore[no-untyped-def]
    task, first_in, predecessors, first_out, successors, place
):
    """Return the first and the last place between the predecessors and successors of a task."""
    low, high = 0, len(place) - 1
    for position in range(first_in[task], first_in[task + 1]):
        low = max(low, place[predecessors[position]] + 1)
    for position in range(first_out[task], first_out[task + 1]):
        high = min(high, place[successors[position]] - 1)
    return low, high


NEVER = float("inf")  # what a move counts that is given up, and a task takes where it can't be
ALONE, WITH_PREDECESSORS, WITH_SUCCESSORS = 2, 3, 4  # kinds of moves; up to 2 the task moves alone


@part
def shift(task, goal, order, place):  # type: ignore[no-untyped-def]
    """Put a task at a place of the order; those between go on by one."""
    step = 1 if goal > place[task] else -1
    for position in range(place[task], goal, step):
        order[position] = order[position + step]
        place[order[position]] = position
    order[goal], place[task] = task, goal


@part
def _price(machine, machines, charge, start_price, used):  # type: ignore[no-untyped-def]
    """Return what all tasks cost, and the machines that are used."""
    paid = 0.0
    if len(charge) > 0:
        for each in range(machines):
            used[each] = False
        for each in range(len(machine)):
            here = machine[each]
            paid += charge[each * machines + here]
            if not used[here]:
                used[here] = True
                paid += start_price[here]
    return paid


@part
def _time_in_order(  # type: ignore[no-untyped-def]
    scenario, order, machine, machines, first_in, predecessors, size, seconds, fixed, per_unit,
    first_core, held, rigid, release, end, cause, free, core_last,
):  # fmt: skip
    """Start all tasks in their order, each as early as it can; return when the last one ends."""
    lengths, arrivals = scenario * len(order) * machines, scenario * len(predecessors)
    pairs, total = scenario * machines * machines, 0.0
    for core in range(len(free)):
        free[core] = 0.0
        core_last[core] = -1
    for index in range(len(order)):
        each = order[index]
        here = machine[each]
        core = first_free(here, held[each], rigid, first_core, free)
        begin, because = free[core], core_last[core]
        if release[each] > begin:
            begin, because = release[each], -1
        for position in range(first_in[each], first_in[each + 1]):
            source = predecessors[position]
            arrival = end[source]
            if machine[source] != here:
                pair = pairs + machine[source] * machines + here
                arrival += fixed[pair] + per_unit[pair] * size[arrivals + position]
            if arrival > begin:
                begin, because = arrival, source
        end[each] = begin + seconds[lengths + each * machines + here]
        cause[each] = because
        hold(each, here, core, held[each], end[each], rigid, first_core, free, core_last)
        total = max(total, end[each])
    return total


@part
def _mean_from(ranked_from, ends, ranked):  # type: ignore[no-untyped-def]
    """Return the mean of the ends in all scenarios but the first, from a rank on."""
    scenarios = len(ends)
    for scenario in range(1, scenarios):
        ranked[scenario - 1] = ends[scenario]
    if ranked_from > 0:
        ranked.sort()
    total = 0.0
    for rank in range(ranked_from, scenarios - 1):
        total += ranked[rank]
    return total / (scenarios - 1 - ranked_from)


@graph_loop
def accept_moves(  # type: ignore[no-untyped-def]
    first_in, predecessors, size, first_out, successors, seconds, fixed, per_unit, first_core, held,
    release, due, charge, start_price, used,
    order, place, machine, end, cause, free, core_last, moved, best_order, best_machine,
    ends, kept, ranked, numbers,
    evaluations, all_evaluations, reach, machines, ranked_from, rigid,
):  # fmt: skip
    """Try ``evaluations`` moves of a task; write the best order and machines found.

    A move puts a task on another machine, or elsewhere between its predecessors and successors
    in the order, or both; or it takes all its predecessors or successors along to the machine.
    No task goes where it can't be. A plan is kept if it is no longer than the present one by more
    than a threshold (threshold accepting), which falls with the square of the moves that are left,
    from the share ``reach`` of the best to nothing. A plan in which a task ends after it is
    ``due``, or that costs more than the budget, counts its greatest lateness and what it costs too
    much, and more than any other plan.

    Times come in several scenarios, of which the first is the plan itself: it has to keep the
    limits. Where there are others, they give the value: the mean of their ends, from that of rank
    ``ranked_from`` on. A move is given up as soon as its ends in some scenarios, a random part of
    all, are worse by two standard errors than those ``kept`` of the present plan.

    ``numbers`` holds the moves tried, the state of the generator, the best value, the present one,
    what a plan counts besides that misses a limit, and the value at the start; the budget, the
    seconds that an excess of 1 counts, and whether the value is the price, not the makespan.
    ``size`` is in the order of ``predecessors``; ``charge`` (task, machine) is empty where nothing
    costs anything; tables are flat, scenarios one after another. Cores are those of
    :mod:`~makespan.taskgraph.model.loops`.
    """
    scenarios = len(ends)
    budget, by_price = numbers[6], numbers[8] > 0.0
    tried, state, best, present = numbers[0], int(numbers[1]), numbers[2], numbers[3]
    late = 0.0
    for _ in range(evaluations):
        # propose: a task, its place, its machine, and who goes along
        task, state = draw_task(state, order, end, due, cause, late)
        low, high = room_in_order(task, first_in, predecessors, first_out, successors, place)
        old_place, old_machine = place[task], machine[task]
        state = next_minimal(state)
        kind = state % 5
        new_place, new_machine = old_place, old_machine
        if kind in (1, ALONE):
            state = next_minimal(state)
            new_place = low + state % (high - low + 1)
        if kind != 1 and machines > 1:
            state = next_minimal(state)
            new_machine = (old_machine + 1 + state % (machines - 1)) % machines
        near_from, near_to = first_in[task], first_in[task + 1]
        if kind <= ALONE:
            near_to = near_from
        elif kind == WITH_SUCCESSORS:
            near_from, near_to = first_out[task], first_out[task + 1]
        tried += 1.0
        if new_place == old_place and new_machine == old_machine:
            continue
        possible = seconds[task * machines + new_machine] < NEVER
        for position in range(near_from, near_to):
            other = predecessors[position] if kind == WITH_PREDECESSORS else successors[position]
            possible = possible and seconds[other * machines + new_machine] < NEVER
        if not possible:
            continue
        for position in range(near_from, near_to):
            other = predecessors[position] if kind == WITH_PREDECESSORS else successors[position]
            moved[other] = machine[other]
            machine[other] = new_machine
        shift(task, new_place, order, place)
        machine[task] = new_machine
        # judge: in one scenario after another, until it is worse for sure
        paid = _price(machine, machines, charge, start_price, used)
        left = 1.0 - tried / all_evaluations
        slack = min(best, numbers[5]) * reach * left * left
        late = worse = squares = total = 0.0
        judged = 0
        while judged < scenarios:
            scenario = 0 if judged == 0 else 1 + (state + judged) % (scenarios - 1)
            total = _time_in_order(
                scenario, order, machine, machines, first_in, predecessors, size, seconds, fixed,
                per_unit, first_core, held, rigid, release, end, cause, free, core_last,
            )  # fmt: skip
            ends[scenario] = total
            judged += 1
            if judged == 1:
                for each in range(len(order)):
                    late = max(late, end[each] - due[each])
                if late > 0.0 or paid > budget:
                    break
            elif present < numbers[4]:
                change = total - kept[scenario] - slack
                worse += change
                squares += change * change
                variance = 4.0 * (squares - worse**2 / (judged - 1))
                if judged % 4 == 1 and worse > 0.0 and worse**2 > variance:
                    break
        if late > 0.0 or paid > budget:
            total = numbers[4] + late + max(0.0, paid - budget) * numbers[7]
        elif by_price:
            total = paid
        elif judged < scenarios:
            total = NEVER
        elif scenarios > 1:
            total = _mean_from(ranked_from, ends, ranked)
        if total <= present + slack:  # accept
            present = total
            for scenario in range(scenarios):
                kept[scenario] = ends[scenario]
            if total < best:
                best = total
                for index in range(len(order)):
                    best_order[index] = order[index]
                    best_machine[index] = machine[index]
            continue
        shift(task, old_place, order, place)  # take it back
        machine[task] = old_machine
        for position in range(near_from, near_to):
            other = predecessors[position] if kind == WITH_PREDECESSORS else successors[position]
            machine[other] = moved[other]
    numbers[0], numbers[1], numbers[2], numbers[3] = tried, float(state), best, present
