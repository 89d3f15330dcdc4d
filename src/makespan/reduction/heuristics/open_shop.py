"""Loops for segments from one machine to one other each: prices of ports, ways, and their order.

Ways between machines are those of ``occupation_of``, sorted by giver: ``first`` (machine) is the
first of each and of one more, ``holds`` (way, place) the ports and shared links, then -1, that each
holds for ``lasts`` a unit of size.
"""

import numpy as np

from makespan.core.numeric.jit import loop, part

FAR = 1e300  # no way leads there
NOTHING = -1  # instead of a way, a segment or a link
AHEAD = 0.5  # of the work that is left at the next port counts beside that of this one
STEEPEST = 60.0  # the exponent of a price at most
SHARPNESS = 2.0  # of prices in the first round


@part
def _cost(way, more, holds, lasts, price):  # type: ignore[no-untyped-def]
    """Return what a way costs, whose ports get dearer by ``more`` while they are held."""
    dear = 0.0
    for place in range(holds.shape[1]):
        if holds[way, place] >= 0:
            dear += price[holds[way, place]]
    return lasts[way] * dear * (1.0 + more * lasts[way])


@part
def _reach(source, wanted, left, first, taker, cost, distance, above, order):  # type: ignore[no-untyped-def]
    """Find the cheapest ways from a machine until all that are wanted are reached.

    ``above`` gets the last way to each, ``order`` the machines as they are reached; returns how
    many.
    """
    machines = len(distance)
    for machine in range(machines):
        distance[machine] = FAR
        above[machine] = NOTHING
        order[machine] = machine
    distance[source] = 0.0
    for reached in range(machines):
        place = reached
        for other in range(reached + 1, machines):
            if distance[order[other]] < distance[order[place]]:
                place = other
        near = order[place]
        if distance[near] == FAR:
            return reached
        order[place] = order[reached]
        order[reached] = near
        if wanted[near] > 0.0:
            left -= 1
            if left == 0:
                return reached + 1
        for way in range(first[near], first[near + 1]):
            later = distance[near] + cost[way]
            if later < distance[taker[way]]:
                distance[taker[way]] = later
                above[taker[way]] = way
    return machines


@loop(pays_from=20_000)  # machines squared, for each source in each round
def find_prices(  # type: ignore[no-untyped-def]
    first, giver, taker, lasts, holds, sources, demand, load, price, rounds,
):  # fmt: skip
    """Find ``price`` at which what is wanted costs much; return its cost by the sum of prices.

    ``demand`` (source, machine) is how much each of the ``sources`` has for whom, ``load`` (port)
    where prices begin, and what the ways of all rounds hold on average.
    """
    ports, machines = len(load), len(first) - 1
    now, held = np.empty(ports), np.empty(ports)
    cost, distance, flow = np.empty(len(lasts)), np.empty(machines), np.empty(machines)
    above, order = np.empty(machines, dtype=np.int64), np.empty(machines, dtype=np.int64)
    best = 0.0
    for turn in range(rounds):
        goal = 0.0
        for port in range(ports):
            goal = max(goal, load[port])
        total = dear = 0.0
        for port in range(ports):
            above_goal = load[port] / goal - 1.0 if goal > 0.0 else 0.0
            now[port] = np.exp(SHARPNESS * (1.0 + turn) ** 0.5 * above_goal)
            total += now[port]
            held[port] = 0.0
        for way in range(len(lasts)):
            cost[way] = _cost(way, 0.0, holds, lasts, now)
        for row in range(len(sources)):
            left = 0
            for machine in range(machines):
                flow[machine] = demand[row, machine]
                left += flow[machine] > 0.0
            reached = _reach(sources[row], flow, left, first, taker, cost, distance, above, order)
            for step in range(reached - 1, 0, -1):
                machine = order[step]
                dear += demand[row, machine] * distance[machine]
                if flow[machine] > 0.0:
                    way = above[machine]
                    flow[giver[way]] += flow[machine]
                    for place in range(holds.shape[1]):
                        if holds[way, place] >= 0:
                            held[holds[way, place]] += flow[machine] * lasts[way]
        if dear > best * total:
            best = dear / total
            for port in range(ports):
                price[port] = now[port]
        for port in range(ports):
            load[port] += (held[port] - load[port]) / (1 + turn)
    return best


@part
def _hold(sign, legs, size, goal, steep, holds, lasts, load, price):  # type: ignore[no-untyped-def]
    """Let a segment hold what is on its way, or with ``sign`` -1 no longer; renew the prices."""
    for way in legs:
        if way < 0:
            break
        for place in range(holds.shape[1]):
            port = holds[way, place]
            if port >= 0:
                load[port] += sign * size * lasts[way]
                price[port] = np.exp(min(steep * (load[port] / goal - 1.0), STEEPEST))


@loop(pays_from=20_000)  # machines, for each segment; squared, for each block of several
def route(  # type: ignore[no-untyped-def]
    first, giver, taker, between, lasts, holds, source, target, size, begin, blocks, alone, goal,
    steep, load, legs, stop,
):  # fmt: skip
    """Lead segments, a block at a time, over the cheapest ways at the prices of all others.

    ``source``, ``target``, ``size`` (segment); ``begin`` (block) is the first of each and of one
    more: those of a block have one source. ``between`` (machine, machine) are the ways. Where
    segments are ``alone``, only ways over at most one machine more are looked at. ``legs``
    (segment, place) are the ways of each, then -1, and ``load`` (port) what all hold; both are
    renewed. Returns how many ``blocks`` were done before a stop.
    """
    ports, machines, most = len(load), len(first) - 1, legs.shape[1]
    price, cost = np.empty(ports), np.empty(len(lasts))
    distance, wanted = np.empty(machines), np.empty(machines)
    above, order = np.empty(machines, dtype=np.int64), np.empty(machines, dtype=np.int64)
    for port in range(ports):
        price[port] = np.exp(min(steep * (load[port] / goal - 1.0), STEEPEST))
    for turn in range(len(blocks)):
        if stop[0]:
            return turn
        since, until = begin[blocks[turn]], begin[blocks[turn] + 1]
        start, more = source[since], 0.5 * steep * size[since] / goal
        for segment in range(since, until):
            _hold(-1.0, legs[segment], size[segment], goal, steep, holds, lasts, load, price)
        if alone:
            end, best, over = target[since], FAR, NOTHING
            for way in legs[since]:
                if way >= 0:
                    best = _cost(way, more, holds, lasts, price) + (best if best < FAR else 0.0)
            for way in range(first[start], first[start + 1]):
                near, dear = taker[way], _cost(way, more, holds, lasts, price)
                if dear >= best or (near != end and between[near, end] < 0):
                    continue
                if near != end:
                    dear += _cost(between[near, end], more, holds, lasts, price)
                if dear < best:
                    best, over = dear, near
            if over >= 0:
                for place in range(most):
                    legs[since, place] = NOTHING
                legs[since, 0] = between[start, over]
                if over != end:
                    legs[since, 1] = between[over, end]
        else:
            left = 0
            for machine in range(machines):
                wanted[machine] = 0.0
            for segment in range(since, until):
                left += wanted[target[segment]] == 0.0
                wanted[target[segment]] = 1.0
            for way in range(len(lasts)):
                cost[way] = _cost(way, more, holds, lasts, price)
            _reach(start, wanted, left, first, taker, cost, distance, above, order)
            for segment in range(since, until):
                machine, count = target[segment], 0
                while machine != start:
                    machine = giver[above[machine]]
                    count += 1
                if count > most:
                    continue
                machine = target[segment]
                for place in range(most - 1, -1, -1):
                    legs[segment, place] = NOTHING
                    if place < count:
                        legs[segment, place] = above[machine]
                        machine = giver[above[machine]]
        for segment in range(since, until):
            _hold(1.0, legs[segment], size[segment], goal, steep, holds, lasts, load, price)
    return len(blocks)


@loop(pays_from=2_000)  # sends
def dispatch(  # type: ignore[no-untyped-def]
    latency, lasts, holds, after, leaving, start_of_exit, begin, legs, size, weight, remaining,
    starts, huge, stop,
):  # fmt: skip
    """Let whatever can start first do so; of several, over the ports that have most left to do.

    ``leaving`` are ways by exit, from ``start_of_exit`` (exit) on; ``legs`` the ways of each
    segment one after another, from ``begin`` (segment) on. ``remaining`` (port) is what each has to
    do, which counts ``weight`` (port) times. Writes the ``starts`` of legs; returns the end, or
    ``huge`` where it is stopped.
    """
    exits, segments = len(start_of_exit) - 1, len(size)
    free, soonest = np.zeros(len(remaining), dtype=lasts.dtype), np.full(exits, huge)
    head, tail = np.full(len(lasts), NOTHING), np.full(len(lasts), NOTHING)
    following, at = np.full(segments, NOTHING), begin[:-1].copy()
    ready = np.zeros(segments, dtype=lasts.dtype)
    left, end = len(legs), huge - huge
    fresh = 0
    while left > 0:
        if stop[0]:
            return huge
        leaver, now = NOTHING, huge
        if fresh < segments:  # all are there at the beginning
            segment = fresh
            fresh += 1
            if at[segment] == begin[segment + 1]:
                continue
        else:
            most = 0.0
            for other in range(exits):
                worth = remaining[other] * weight[other]
                if soonest[other] < now or (soonest[other] == now and worth > most):
                    leaver, now, most = other, soonest[other], worth
            chosen, begun, most = NOTHING, huge, 0.0
            for row in range(start_of_exit[leaver], start_of_exit[leaver + 1]):
                way = leaving[row]
                segment = head[way]
                if segment < 0:
                    continue
                since = ready[segment]
                for place in range(holds.shape[1]):
                    if holds[way, place] >= 0:
                        since = max(since, free[holds[way, place]] - after[way, place])
                if since > begun:
                    continue
                worth = remaining[holds[way, 1]] * weight[holds[way, 1]]
                if at[segment] + 1 < begin[segment + 1]:
                    worth += AHEAD * remaining[holds[legs[at[segment] + 1], 0]]
                if since < begun or worth > most:
                    chosen, begun, most = way, since, worth
            soonest[leaver] = begun
            if begun > now or chosen < 0:
                continue
            segment = head[chosen]
            long = lasts[chosen] * size[segment]
            for place in range(holds.shape[1]):
                port = holds[chosen, place]
                if port >= 0:
                    free[port] = begun + after[chosen, place] + long
                    remaining[port] -= long
            head[chosen] = following[segment]
            starts[at[segment]] = begun
            ready[segment] = begun + latency[chosen] + long
            end = max(end, ready[segment])
            at[segment] += 1
            left -= 1
            if at[segment] == begin[segment + 1]:
                continue
        way = legs[at[segment]]
        following[segment] = NOTHING
        if head[way] < 0:
            head[way] = segment
        else:
            following[tail[way]] = segment
        tail[way] = segment
        soonest[holds[way, 0]] = min(soonest[holds[way, 0]], ready[segment])
    return end
