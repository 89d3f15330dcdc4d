"""The loops over plans in which tasks have copies: the same text plain and compiled.

Tables by task and machine are flat, and so are those by core and gap; a time of -1 is none.
"""

from makespan.core.numeric.jit import part
from makespan.taskgraph.model.loops import graph_loop

FOREVER = float("inf")
IN_TIME, HELPED, LEFT = range(
    3
)  # of a goal: can it be in time at all? When does it start now? Done


@part
def _first_gap(core, until, width, gaps, closes):  # type: ignore[no-untyped-def]
    """Return the first free time of a core that closes at ``until`` or later."""
    low, high = core * width, core * width + gaps[core] - 1
    while low < high:
        middle = (low + high) // 2
        if closes[middle] < until:
            low = middle + 1
        else:
            high = middle
    return low


@part
def _start(  # type: ignore[no-untyped-def]
    here, ready, lasts, width, first_core, opens, closes, gaps
):
    """Return when a task can start on a machine, in the first gap that is long enough."""
    start = FOREVER
    for core in range(first_core[here], first_core[here + 1]):
        low = _first_gap(core, ready, width, gaps, closes)
        while max(opens[low], ready) + lasts > closes[low]:
            low += 1
        start = min(start, max(opens[low], ready))
    return start


@part
def _ready(  # type: ignore[no-untyped-def]
    task, here, machines, release, first_in, predecessors, size, fixed, per_unit, copies, count,
    ends,
):  # fmt: skip
    """Return when a task has all its data on a machine, and whose come last, -1 if from there."""
    ready, latest = release[task], -1
    for position in range(first_in[task], first_in[task + 1]):
        row = predecessors[position] * machines
        there = FOREVER
        for each in range(row, row + count[predecessors[position]]):
            origin, pair = copies[each], copies[each] * machines + here
            time = ends[row + origin]
            if origin != here:
                time = time + fixed[pair] + per_unit[pair] * size[position]
            there = min(there, time)
        if there > ready:
            ready, latest = there, -1
            if ends[row + here] < 0.0:
                latest = predecessors[position]
    return ready, latest


@part
def _move_gaps(place, last, more, opens, closes):  # type: ignore[no-untyped-def]
    """Make room for a free time more behind a place, or close that of one that is gone."""
    if more > 0:
        for each in range(last, place, -1):
            opens[each], closes[each] = opens[each - 1], closes[each - 1]
    elif more < 0:
        for each in range(place, last - 1):
            opens[each], closes[each] = opens[each + 1], closes[each + 1]


@part
def _take_back(  # type: ignore[no-untyped-def]
    trail, here, machines, width, opens, closes, gaps, count, ends, placed, core_of, place_of,
    opened, closed, pieces,
):  # fmt: skip
    """Undo a placement: its gap is as it was."""
    place, core = place_of[trail], core_of[trail]
    last = core * width + gaps[core]
    more = pieces[trail] - 1
    if more < 0:
        _move_gaps(place, last, 1, opens, closes)
    elif more > 0:
        _move_gaps(place + 1, last, -1, opens, closes)
    opens[place], closes[place] = opened[trail], closed[trail]
    gaps[core] -= more
    count[placed[trail]] -= 1
    ends[placed[trail] * machines + here] = -1.0


@part
def _place(  # type: ignore[no-untyped-def]
    task, here, start, end, trail, width, first_core, opens, closes, gaps, placed, core_of,
    place_of, opened, closed, pieces,
):  # fmt: skip
    """Place a task in the gap in which it can start then, and note how to undo that."""
    core, place = first_core[here] - 1, -1
    while place < 0:
        core += 1
        low = _first_gap(core, end, width, gaps, closes)
        if opens[low] <= start:
            place = low
    last = core * width + gaps[core]
    opened[trail], closed[trail] = opens[place], closes[place]
    before, behind = opens[place] < start, end < closes[place]
    more = int(before) + int(behind) - 1
    if start == end and more <= 0:
        more = 0  # what takes no time splits its gap, or leaves it as it is
    elif more > 0:
        _move_gaps(place, last, 1, opens, closes)
        closes[place], opens[place + 1] = start, end
    elif more < 0:
        _move_gaps(place, last, -1, opens, closes)
    elif before:
        closes[place] = start
    else:
        opens[place] = end
    gaps[core] += more
    placed[trail], core_of[trail], place_of[trail] = task, core, place
    pieces[trail] = more + 1


@graph_loop
def insert_copies(  # type: ignore[no-untyped-def]
    order, seconds, release, earliest, first_in, predecessors, size, fixed, per_unit, first_core,
    copies, count, starts, ends, opens, closes, gaps, tried_ends, tried_copies,
    goal, phase, best, kept, since, arrival, placed, core_of, place_of, opened, closed, pieces,
    first, after, most, machines, width,
):  # fmt: skip
    """Place ``order[first:after]`` with copies of predecessors; return the first that has no room.

    Each task is tried on every machine where it can end as soon as on the best so far, and placed
    where it ends first; ties go to the fewest copies, then to the lowest machine. On a machine, the
    predecessor whose data come last is copied there, itself after what helps it, as long as its
    data come sooner then: a stack of goals, each with the ``best`` start so far, what it has
    ``kept`` of the placements, how many there were ``since``, and the ``arrival`` it has to beat.

    ``copies`` are the machines of a task's copies, ``count`` of them; ``opens`` and ``closes`` the
    free times of cores, ``width`` for each, in their order, the last without an end. ``placed``
    holds the goals that were placed and what undoes that. ``tried_ends`` and ``tried_copies`` are
    those of the last task on the machines.
    """
    for index in range(first, after):
        for core in range(len(gaps)):
            if gaps[core] + most + 2 > width:
                return index
        chosen = -1
        for turn in range(machines + 1):
            trying = turn < machines
            here = turn if trying else chosen
            if trying:
                tried_ends[here] = -1.0
            goal[0], phase[0], best[0] = order[index], IN_TIME if trying else HELPED, FOREVER
            kept[0] = since[0] = 0
            arrival[0] = tried_ends[chosen] if trying and chosen >= 0 else FOREVER
            depth, trail, left = 0, 0, most
            while depth >= 0:
                task = goal[depth]
                lasts = seconds[task * machines + here]
                if phase[depth] != LEFT:
                    ready, latest = earliest[task], -1
                    if phase[depth] == HELPED:
                        ready, latest = _ready(
                            task, here, machines, release, first_in, predecessors, size, fixed,
                            per_unit, copies, count, ends,
                        )  # fmt: skip
                    start = _start(here, ready, lasts, width, first_core, opens, closes, gaps)
                    if phase[depth] == IN_TIME:
                        end = start + lasts
                        if end > arrival[depth] or (depth > 0 and end == arrival[depth]):
                            depth -= 1
                            if depth >= 0:
                                phase[depth] = LEFT
                            continue
                        phase[depth] = HELPED
                        left -= depth > 0
                        continue
                    if start < best[depth]:
                        best[depth], kept[depth] = start, trail
                    if latest >= 0 and left > 0:
                        depth += 1
                        goal[depth], phase[depth], best[depth] = latest, IN_TIME, FOREVER
                        kept[depth] = since[depth] = trail
                        arrival[depth] = ready
                        continue
                end = best[depth] + lasts  # nothing more helps: it is placed, or given up
                stays = not trying if depth == 0 else end < arrival[depth]
                if depth == 0 and trying:
                    tried_ends[here], tried_copies[here] = end, kept[0]
                    if chosen < 0 or end < tried_ends[chosen] or (
                        end == tried_ends[chosen] and tried_copies[here] < tried_copies[chosen]
                    ):  # fmt: skip
                        chosen = here
                while trail > (kept[depth] if stays else since[depth]):
                    trail -= 1
                    _take_back(
                        trail, here, machines, width, opens, closes, gaps, count, ends, placed,
                        core_of, place_of, opened, closed, pieces,
                    )  # fmt: skip
                if stays:
                    start = best[depth]
                    _place(
                        task, here, start, end, trail, width, first_core, opens, closes, gaps,
                        placed, core_of, place_of, opened, closed, pieces,
                    )  # fmt: skip
                    trail += 1
                    copies[task * machines + count[task]] = here
                    count[task] += 1
                    starts[task * machines + here], ends[task * machines + here] = start, end
                depth -= 1
                if depth >= 0:
                    phase[depth] = HELPED if stays else LEFT
    return after


@graph_loop
def needed_copies(  # type: ignore[no-untyped-def]
    order, first_in, in_edges, source, first_out, size, ends, fixed, per_unit,
    needed, edge, origin, machine,
    machines,
):  # fmt: skip
    """Write which copies are needed, and where each has its inputs from; return how many these are.

    Needed is the copy of an exit task that ends first, and of each input of a needed copy the one
    whose data are there first: that on the same machine before others, then on the lowest.
    """
    found = 0
    for index in range(len(order) - 1, -1, -1):
        task = order[index]
        row = task * machines
        if first_out[task] == first_out[task + 1]:
            best = -1
            for each in range(machines):
                ended = ends[row + each]
                if ended >= 0.0 and (best < 0 or ended < ends[row + best]):
                    best = each
            needed[row + best] = True
        for here in range(machines):
            if not needed[row + here]:
                continue
            for position in range(first_in[task], first_in[task + 1]):
                each = in_edges[position]
                inputs = source[each] * machines
                best, there = here, ends[inputs + here]
                for other in range(machines):
                    ended = ends[inputs + other]
                    if ended >= 0.0 and other != here:
                        pair = other * machines + here
                        arrival = ended + fixed[pair] + per_unit[pair] * size[each]
                        if there < 0.0 or arrival < there:
                            best, there = other, arrival
                needed[inputs + best] = True
                edge[found], origin[found], machine[found] = each, best, here
                found += 1
    return found
