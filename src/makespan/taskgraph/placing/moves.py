"""The loop of local search over machines and an order: the same text plain and compiled."""

from __future__ import annotations

from makespan.taskgraph.model.loops import graph_loop


@graph_loop
def improve(  # type: ignore[no-untyped-def]
    first_in, predecessors, size, first_out, successors, seconds, fixed, per_unit, first_core,
    release, due, charge, start_price, used,
    order, place, machine, end, cause, free, core_last, moved, best_order, best_machine,
    numbers,
    evaluations, all_evaluations, reach, machines,
):  # fmt: skip
    """Try ``evaluations`` moves of a task; write the best order and machines found.

    A move puts a task on another machine, or elsewhere between its predecessors and successors
    in the order, or both; or it takes all its predecessors or successors along to the machine.
    Half of the tasks are drawn from the chain of causes that ends last. A plan is kept if it is
    no longer than the present one by more than a threshold (threshold accepting), which falls
    with the square of the moves that are left, from the share ``reach`` of the best to nothing.

    A plan in which a task ends after it is ``due``, or that costs more than the budget, counts its
    greatest lateness and what it costs too much, and more than any other plan. ``charge`` holds
    what tasks cost on machines; it is empty where nothing does.

    ``numbers`` holds the moves tried, the state of the generator, the best value, the present one,
    what a plan counts besides that misses a limit, and the value at the start; the budget, the
    seconds that an excess of 1 counts, and whether the value is the price, not the makespan.
    ``size`` is in the order of ``predecessors``; tables are flat.
    """
    count = len(order)
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
        for position in range(near_from, near_to):
            other = predecessors[position] if kind == 3 else successors[position]
            moved[other] = machine[other]
            machine[other] = new_machine
        step = 1 if new_place > old_place else -1
        for position in range(old_place, new_place, step):
            order[position] = order[position + step]
            place[order[position]] = position
        order[new_place], place[task], machine[task] = task, new_place, new_machine
        for core in range(len(free)):
            free[core] = 0.0
            core_last[core] = -1
        total = late = paid = 0.0
        if len(charge) > 0:
            for each in range(machines):
                used[each] = False
            for each in range(count):
                here = machine[each]
                paid += charge[each * machines + here]
                if not used[here]:
                    used[here] = True
                    paid += start_price[here]
        for index in range(count):
            each = order[index]
            here = machine[each]
            core = first_core[here]
            for other in range(core + 1, first_core[here + 1]):
                if free[other] < free[core]:
                    core = other
            begin, because = free[core], core_last[core]
            if release[each] > begin:
                begin, because = release[each], -1
            for position in range(first_in[each], first_in[each + 1]):
                source = predecessors[position]
                arrival = end[source]
                if machine[source] != here:
                    pair = machine[source] * machines + here
                    arrival += fixed[pair] + per_unit[pair] * size[position]
                if arrival > begin:
                    begin, because = arrival, source
            end[each] = begin + seconds[each * machines + here]
            cause[each] = because
            free[core] = end[each]
            core_last[core] = each
            total = max(total, end[each])
            late = max(late, end[each] - due[each])
        if by_price:
            total = paid
        if late > 0.0 or paid > budget:
            total = numbers[4] + late + max(0.0, paid - budget) * numbers[7]
        left = 1.0 - tried / all_evaluations
        if total <= present + min(best, numbers[5]) * reach * left * left:
            present = total
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
