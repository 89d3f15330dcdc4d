"""The loop that prices machines and ports: what a segment can earn that grows from a machine.

Every machine pays a price for each segment that it gets, and every port takes one for each moment
that it is busy. Who has a segment waits, or sends a copy: then two can send on, the sender when its
port is free again and the taker when the copy is there. So what can be earned from a machine and a
moment on follows from what can be earned later (Bellman's recursion, in time instead of groups).
Nobody sends at once back to whom it has a segment from, nor twice in a row to the same machine: the
best way on that begins with another taker is kept, too.

Sources: Ford and Fulkerson 1958, "Constructing maximal dynamic flows from static flows", networks
over time; Christofides, Mingozzi and Toth 1981, no way back at once; Held and Karp 1971, "The
traveling-salesman problem and minimum spanning trees: part II", prices of what must be in a tree
once; Polyak 1969, "Minimization of unsmooth functionals", the length of a step; Barahona and Anbil
2000, "The volume algorithm", steps by averages of solutions.
"""

import numpy as np

from makespan.core.numeric.jit import loop, part

SURE = -1e-6  # what is below it isn't a matter of rounding; prices are about 1
AVERAGED, SHORTER, AIM = 0.1, 0.7, 0.5
NOBODY = -1


@part
def _rank(whom, half, machine, at, other):  # type: ignore[no-untyped-def]
    """Return which way on from a machine is the best that doesn't begin with a send to another."""
    return 1 if whom[half, 0, machine, at] == other else 0


@part
def _earn(half, lag, lasts, period, work, cover, spent, value, whom, soon):  # type: ignore[no-untyped-def]
    """Find what can be earned from each machine and moment on, and to whom it sends then.

    Of each there are two ways on, which begin with sends to different takers.
    """
    machines, horizon = cover.shape[1], value.shape[3] - 1
    for at in range(horizon, -1, -1):
        for giver in range(machines):
            best = second = 0.0
            one = two = NOBODY
            if at < horizon:
                best, one = value[half, 0, giver, at + 1], whom[half, 0, giver, at + 1]
                second, two = value[half, 1, giver, at + 1], whom[half, 1, giver, at + 1]
            now = then = False
            since = at + work[half, giver]
            for taker in range(machines):
                long = lasts[half, giver, taker]
                there = since + lag[half, giver, taker]
                if long <= 0 or there + long > horizon:
                    continue
                free = min(at + period[half, giver, taker], horizon)
                earned = value[half, _rank(whom, half, giver, free, taker), giver, free]
                got = there + long
                earned += value[half, _rank(whom, half, taker, got, giver), taker, got]
                earned += cover[half, taker]
                if earned <= second:  # before it pays for ports
                    continue
                earned -= spent[half, 0, giver, since + long] - spent[half, 0, giver, since]
                earned -= spent[half, 1, taker, got] - spent[half, 1, taker, there]
                if earned > best:
                    if taker != one:
                        second, two, then = best, one, now
                    best, one, now = earned, taker, True
                elif taker != one and earned > second:
                    second, two, then = earned, taker, True
            value[half, 0, giver, at], whom[half, 0, giver, at] = best, one
            value[half, 1, giver, at], whom[half, 1, giver, at] = second, two
            soon[half, 0, giver, at], soon[half, 1, giver, at] = now, then


@part
def _send(half, lag, lasts, period, work, whom, soon, tokens, covered, load):  # type: ignore[no-untyped-def]
    """Let all segments grow as they earn most; count who gets them, and when ports begin or end."""
    machines, horizon = whom.shape[2], whom.shape[3] - 1
    for at in range(horizon):
        for giver in range(machines):
            for rank in range(2):
                count, taker = tokens[half, rank, giver, at], whom[half, rank, giver, at]
                if count <= 0 or taker == NOBODY:
                    continue
                if not soon[half, rank, giver, at]:
                    same = 0 if whom[half, 0, giver, at + 1] == taker else 1
                    tokens[half, same, giver, at + 1] += count
                    continue
                long, since = lasts[half, giver, taker], at + work[half, giver]
                there = since + lag[half, giver, taker]
                free, got = min(at + period[half, giver, taker], horizon), there + long
                tokens[half, _rank(whom, half, giver, free, taker), giver, free] += count
                tokens[half, _rank(whom, half, taker, got, giver), taker, got] += count
                covered[half, taker] += count
                load[half, 0, giver, since] += count
                load[half, 0, giver, since + long] -= count
                load[half, 1, taker, there] += count
                load[half, 1, taker, got] -= count


@part
def _best_home(value, cover, window):  # type: ignore[no-untyped-def]
    """Return where and when a segment is best complete, and what it earns both ways."""
    horizon = value.shape[3] - 1
    home, when, best = NOBODY, 0, 0.0
    for machine in range(value.shape[2]):
        for at in range(window[0, machine], horizon - window[1, machine] + 1):
            earned = cover[0, machine] + cover[1, machine]
            earned += value[0, 0, machine, at] + value[1, 0, machine, horizon - at]
            if home == NOBODY or earned > best:
                home, when, best = machine, at, earned
    return home, when, best


@part
def _raise_least(value, cover, least):  # type: ignore[no-untyped-def]
    """Raise the least time of one segment from each machine, where it can't pay for all others."""
    horizon = value.shape[3] - 1
    for machine in range(len(least)):
        due = -cover[0, machine]
        for other in range(len(least)):
            due += cover[0, other]
        while least[machine] <= horizon:
            if value[0, 0, machine, horizon - least[machine]] - due >= SURE:
                break
            least[machine] += 1


@part
def _add_loads(load, prices, average):  # type: ignore[no-untyped-def]
    """Average what ports have left at each moment; return the squares of what may change prices."""
    machines, horizon = prices.shape[1], prices.shape[2]
    norm = 0.0
    for half in range(len(load)):
        for port in range(2):
            for machine in range(machines):
                busy = 0.0
                for at in range(horizon):
                    busy += load[half, port, machine, at]
                    load[half, port, machine, at] = busy
    for port in range(2):
        for machine in range(machines):
            for at in range(horizon):
                left = 1.0 - load[0, port, machine, at]
                if len(load) == 2:
                    left -= load[1, 1 - port, machine, horizon - 1 - at]
                average[port, machine, at] += AVERAGED * (left - average[port, machine, at])
                if left < 0 or prices[port, machine, at] > 0:
                    norm += left**2
    return norm


@part
def _change_prices(prices, average, length):  # type: ignore[no-untyped-def]
    """Lower the prices of ports that have room, but not below 0, and raise those of others."""
    ports, machines, horizon = prices.shape
    for port in range(ports):
        for machine in range(machines):
            for at in range(horizon):
                changed = prices[port, machine, at] - length * average[port, machine, at]
                prices[port, machine, at] = max(changed, 0.0)


@loop(pays_from=100_000)
def price(  # type: ignore[no-untyped-def]
    lag, lasts, period, work, wanted, starts, window, segments, cover, prices, pace, patience,
    tries, least,
):  # fmt: skip
    """Change prices until segments can't pay; return what they have left, and how many tries.

    What is left is below 0 where no plan ends by the horizon.

    A half is of copies, or of parts in reversed time; of two, the second is reversed.

    - ``lag``, ``lasts``, ``period``: (half, giver, taker) Latency; how long a send holds both
      ports, 0 for no link; until the giver can begin with the next. Whole numbers of time.
    - ``work``: (half, machine) What the giver spends before it.
    - ``wanted``: (half, machine) How many segments each machine must get or, of two halves, has.
    - ``starts``: (k, 2) Of one half, the machine and moment from which each segment grows.
    - ``window``: (2, machine) Of two halves, the first moment at which a segment can be complete on
      a machine, and for how long before the end at the latest.
    - ``segments``: Of two halves, their number.
    - ``cover``, ``prices``: (half, machine), (2, machine, moment) Prices of machines, and of ports
      for sending and for taking, in the time of the first half; they are changed.
    - ``pace``: How much prices of ports change beside those of machines; 0 keeps them.
    - ``patience``, ``tries``: Steps that don't help until they are made shorter, and in all.
    - ``least``: (machine) Of one half and segment without prices of ports: raised where proved.

    Complexity: O(n² T) a try, for T moments.
    """
    halves, machines = wanted.shape
    horizon = prices.shape[2]
    spent = np.zeros((halves, 2, machines, horizon + 1))
    load, load_average = np.zeros_like(spent), np.zeros_like(prices)
    value, tokens = np.zeros_like(spent), np.zeros_like(spent)
    whom, soon = np.zeros(spent.shape, np.int64), np.zeros(spent.shape, np.bool_)
    covered, cover_average = np.zeros((halves, machines)), np.zeros((halves, machines))
    kept_cover, kept_prices = cover.copy(), prices.copy()
    best, step, stale, some = np.inf, 1.0, 0, 0
    for half in range(halves):
        for machine in range(machines):
            some += wanted[half, machine] > 0
    for turn in range(tries):
        found = 0.0
        for half in range(halves):
            for machine in range(machines):
                found -= wanted[half, machine] * cover[half, machine]
                for port in range(2):
                    for at in range(horizon):
                        paid = prices[port, machine, at]
                        if half == 1:
                            paid = prices[1 - port, machine, horizon - 1 - at]
                        spent[half, port, machine, at + 1] = spent[half, port, machine, at] + paid
                    if half == 0:
                        found += spent[0, port, machine, horizon]
            _earn(half, lag, lasts, period, work, cover, spent, value, whom, soon)
        tokens[:] = 0.0
        covered[:] = 0.0
        load[:] = 0.0
        if halves == 2:
            home, when, earned = _best_home(value, cover, window)
            if home == NOBODY:
                return -np.inf, turn
            found += segments * earned
            for half in range(2):
                at = horizon - when if half else when
                tokens[half, 0, home, at] = covered[half, home] = segments
        for row in range(len(starts)):
            found += value[0, 0, starts[row, 0], starts[row, 1]]
            tokens[0, 0, starts[row, 0], starts[row, 1]] += 1.0
        if len(least) > 0:
            _raise_least(value, cover, least)
        if found < SURE:
            return found, turn + 1
        if found < best - 1e-3:
            best, stale = found, 0
            np.positive(cover, kept_cover)
            np.positive(prices, kept_prices)
        else:
            stale += 1
        if stale >= patience:
            step, stale = step * SHORTER, 0
            np.positive(kept_cover, cover)
            np.positive(kept_prices, prices)
            cover_average[:] = 0.0
            load_average[:] = 0.0
            continue
        norm = total = mean = 0.0
        for half in range(halves):
            _send(half, lag, lasts, period, work, whom, soon, tokens, covered, load)
            for machine in range(machines):
                more = covered[half, machine] - wanted[half, machine]
                cover_average[half, machine] += AVERAGED * (more - cover_average[half, machine])
                norm += more**2
                if wanted[half, machine] > 0:
                    total += more
                    mean += cover_average[half, machine] / some
        norm -= total**2 / some
        if pace > 0:
            norm += pace * _add_loads(load, prices, load_average)
        length = step * (found + AIM) / max(norm, 1e-9)
        for half in range(halves):
            for machine in range(machines):
                cover[half, machine] -= length * cover_average[half, machine]
                if wanted[half, machine] > 0:  # the sum of their prices stays
                    cover[half, machine] += length * mean
        if pace > 0:
            _change_prices(prices, load_average, length * pace)
    return best, tries
