"""The loop of local search over machines and an order: the same text plain and compiled."""

from __future__ import annotations

from makespan.taskgraph.model.loops import graph_loop

NEVER = float("inf")
"""What a move counts that is given up, and a task takes where it can't be."""


@graph_loop
def improve(  # type: ignore[no-untyped-def]
    first_in, predecessors, size, first_out, successors, seconds, fixed, per_unit, first_core, held,
    release, due, charge, start_price, used,
    order, place, machine, end, cause, free, core_last, moved, best_order, best_machine,
    ends, kept, ranked, numbers,
    evaluations, all_evaluations, reach, machines, ranked_from, rigid,
):  # fmt: skip
    """Try ``evaluations`` moves of a task; write the best order and machines found.

    A move puts a task on another machine, or elsewhere between its predecessors and successors
    in the order, or both; or it takes all its predecessors or successors along to the machine.
    No task goes where it can't be. On its machine it takes as many cores as ``held`` says; where
    tasks are ``rigid``, ``free`` has the times of the cores of each machine in their order.
    Half of the tasks are drawn from the chain of causes that ends last. A plan is kept if it is
    no longer than the present one by more than a threshold (threshold accepting), which falls
    with the square of the moves that are left, from the share ``reach`` of the best to nothing.

    A plan in which a task ends after it is ``due``, or that costs more than the budget, counts its
    greatest lateness and what it costs too much, and more than any other plan. ``charge`` holds
    what tasks cost on machines; it is empty where nothing does.

    Times come in several scenarios, of which the first is the plan itself: it has to keep the
    limits. Where there are others, they give the value: the mean of their ends, from that of rank
    ``ranked_from`` on. A move is given up as soon as its ends in some scenarios, a random part of
    all, are worse by two standard errors than those ``kept`` of the present plan. The chain of
    causes is that of a random scenario.

    ``numbers`` holds the moves tried, the state of the generator, the best value, the present one,
    what a plan counts besides that misses a limit, and the value at the start; the budget, the
    seconds that an excess of 1 counts, and whether the value is the price, not the makespan.
    ``size`` is in the order of ``predecessors``; tables are flat, scenarios one after another.
    """
    count, scenarios = len(order), len(ends)
    budget, by_price = numbers[6], numbers[8] > 0.0
    tried, state, best, present = numbers[0], int(numbers[1]), numbers[2], numbers[3]
    late = 0.0
    for _ in range(evaluations):
        state = state * 48271 % 2147483647
        task = state % count
        if state // count % 2 == 0:  # a random one of the chain that ends last
            last = order[0]
            for other in range(count):
                if late > 0.0:
                    if end[other] - due[other] > end[last] - due[last]:
                        last = other
                elif end[other] > end[last]:
                    last = other
            seen = 0
            while last >= 0:
                seen += 1
                state = state * 48271 % 2147483647
                if state % seen == 0:
                    task = last
                last = cause[last]
        low, high = 0, count - 1
        for position in range(first_in[task], first_in[task + 1]):
            low = max(low, place[predecessors[position]] + 1)
        for position in range(first_out[task], first_out[task + 1]):
            high = min(high, place[successors[position]] - 1)
        old_place, old_machine = place[task], machine[task]
        state = state * 48271 % 2147483647
        kind = state % 5
        new_place, new_machine = old_place, old_machine
        if kind in (1, 2):
            state = state * 48271 % 2147483647
            new_place = low + state % (high - low + 1)
        if kind != 1 and machines > 1:
            state = state * 48271 % 2147483647
            new_machine = (old_machine + 1 + state % (machines - 1)) % machines
        near_from, near_to = first_in[task], first_in[task + 1]
        if kind < 3:
            near_to = near_from
        elif kind == 4:
            near_from, near_to = first_out[task], first_out[task + 1]
        tried += 1.0
        if new_place == old_place and new_machine == old_machine:
            continue
        possible = seconds[task * machines + new_machine] < NEVER
        for position in range(near_from, near_to):
            other = predecessors[position] if kind == 3 else successors[position]
            possible = possible and seconds[other * machines + new_machine] < NEVER
        if not possible:
            continue
        for position in range(near_from, near_to):
            other = predecessors[position] if kind == 3 else successors[position]
            moved[other] = machine[other]
            machine[other] = new_machine
        step = 1 if new_place > old_place else -1
        for position in range(old_place, new_place, step):
            order[position] = order[position + step]
            place[order[position]] = position
        order[new_place], place[task], machine[task] = task, new_place, new_machine
        paid = 0.0
        if len(charge) > 0:
            for each in range(machines):
                used[each] = False
            for each in range(count):
                here = machine[each]
                paid += charge[each * machines + here]
                if not used[here]:
                    used[here] = True
                    paid += start_price[here]
        left = 1.0 - tried / all_evaluations
        slack = min(best, numbers[5]) * reach * left * left
        late = worse = squares = 0.0
        judged = 0
        while judged < scenarios:
            scenario = 0 if judged == 0 else 1 + (state + judged) % (scenarios - 1)
            lengths, arrivals = scenario * count * machines, scenario * len(predecessors)
            pairs, total = scenario * machines * machines, 0.0
            for core in range(len(free)):
                free[core] = 0.0
                core_last[core] = -1
            for index in range(count):
                each = order[index]
                here = machine[each]
                core, behind, width = first_core[here], first_core[here + 1], held[each]
                if rigid:
                    core += width - 1
                else:
                    for other in range(core + 1, behind):
                        if free[other] < free[core]:
                            core = other
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
                if rigid:
                    core = first_core[here]
                    while core + width < behind and free[core + width] < end[each]:
                        free[core], core_last[core] = free[core + width], core_last[core + width]
                        core += 1
                    for other in range(core + 1, core + width):
                        free[other], core_last[other] = end[each], each
                free[core] = end[each]
                core_last[core] = each
                total = max(total, end[each])
                if judged == 0:
                    late = max(late, end[each] - due[each])
            ends[scenario] = total
            judged += 1
            if judged == 1:
                if late > 0.0 or paid > budget:
                    break
            elif present < numbers[4]:
                change = total - kept[scenario] - slack
                worse += change
                squares += change * change
                if (
                    judged % 4 == 1
                    and worse > 0.0
                    and worse**2 > 4.0 * (squares - worse**2 / (judged - 1))
                ):
                    break
        if late > 0.0 or paid > budget:
            total = numbers[4] + late + max(0.0, paid - budget) * numbers[7]
        elif by_price:
            total = paid
        elif judged < scenarios:
            total = NEVER
        elif scenarios > 1:
            for scenario in range(1, scenarios):
                ranked[scenario - 1] = ends[scenario]
            if ranked_from > 0:
                ranked.sort()
            total = 0.0
            for rank in range(ranked_from, scenarios - 1):
                total += ranked[rank]
            total /= scenarios - 1 - ranked_from
        if total <= present + slack:
            present = total
            for scenario in range(scenarios):
                kept[scenario] = ends[scenario]
            if total < best:
                best = total
                for index in range(count):
                    best_order[index] = order[index]
                    best_machine[index] = machine[index]
            continue
        for position in range(new_place, old_place, -step):
            order[position] = order[position - step]
            place[order[position]] = position
        order[old_place], place[task], machine[task] = task, old_place, old_machine
        for position in range(near_from, near_to):
            other = predecessors[position] if kind == 3 else successors[position]
            machine[other] = moved[other]
    numbers[0], numbers[1], numbers[2], numbers[3] = tried, float(state), best, present
