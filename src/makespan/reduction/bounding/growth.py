"""How many copies there can be by when: counted exactly, whatever the plan.

A machine that starts a copy at time a has it arrive ``length`` later, and starts the next
``period`` later at the earliest (:mod:`makespan.reduction.bounds`). Times are whole units.
"""

import math
from bisect import bisect_left
from collections import deque
from functools import lru_cache
from typing import Any

import numpy as np

ROUNDING = 1e-12


@lru_cache(maxsize=8)
def arrivals(machines: int, length: int, period: int, first: int) -> tuple[int, ...]:
    """Return the earliest times at which machine 1, 2, … can have one segment, from 0 on.

    The k-th copy of a machine that has it since a arrives at a + length + (k - 1) period. Every
    arrival leads to one ``length`` later, the first copy of its receiver, and to one ``period``
    later, the next of its sender; either succession is in order. The root's own copies take
    ``first``, which is at least ``length``. Complexity: O(n); the last ones are remembered, as
    every method asks for bounds.

    >>> arrivals(5, 3, 1, 3)
    (0, 3, 4, 5, 6)
    """
    times = [0]
    fresh, again = deque([first]), deque[int]()
    while len(times) < machines:
        time = (again if again and again[0] < fresh[0] else fresh).popleft()
        times.append(time)
        fresh.append(time + length)
        again.append(time + period)
    return tuple(times)


def last_arrival(machines: int, length: int, period: int) -> int:
    """Return the last of :func:`arrivals`.

    By time t, i copies one after another and j waits fit for i length + j period <= t, in
    binomial(i - 1 + j, j) ways. Complexity: O(log⁴ n).

    >>> last_arrival(5, 3, 1)
    6
    """
    wanted = machines - 1
    if wanted <= 0 or period == 0:
        return length if wanted else 0

    def copies(end: int) -> int:
        count, steps = 0, 1
        while count < wanted and steps * length <= end:
            count += math.comb((end - steps * length) // period + steps, steps)
            steps += 1
        return count

    best, steps = length + wanted * period, 1
    while steps * length < best:
        ends = range(steps * length, best + 1, period)
        place = bisect_left(ends, wanted, key=copies)
        if place < len(ends):
            best = min(best, ends[place])
        steps += 1
    return best


def capacity(machines: int, length: int, period: int, segments: int) -> int:
    """Return the earliest time by which m(n - 1) copies can have arrived.

    All copies of a segment descend from the root's own. One of those that arrives at a has at most
    as many descendants by the end, itself included, as one segment has holders after growing that
    long among n - 1 machines.

    >>> capacity(12, 23, 2, 64)  # units of half a second: latency 10, transfer 1, reduction 0.5
    179
    """
    growing = arrivals(max(2, machines - 1), length, period, length)[: machines - 1]
    return _enough(np.array(growing), length, period, segments * (machines - 1))


def doubling(machines: int, length: int, port: int, segments: int) -> int:
    """Return by when a power of two of machines, from eight on, have segments at the earliest.

    Time is cut into rounds as long as a ``port`` is held. A machine starts at most one copy a
    round, takes at most one of those started in a round, and gives it on in later rounds only.
    Either some copy starts after round m - 1 + d, with d = log2 n, or all rounds are full: the root
    starts segment k in round k, all others that hold it do in each of the next d rounds, but for
    one of them in the last, and from round d on every machine takes one a round. Then the time
    since the round began never falls from one copy to the next at a port, and grows by e = length
    - port where one is given on in the next round: so it is greater by e at least in other copies
    of k than in the root's. Who takes k from the root took, a round before, another machine's copy
    of one of the d + 1 segments before k; had it been the root's of k - 1, it would have to start
    copies of both in round k + 1. So the root's time grows by e every d + 1 rounds, as long as the
    last segment has not begun, which takes d lengths.

    >>> doubling(16, 11, 10, 24)  # latency 0.1, transfer 1: not 23 + 4 * 1.1 = 27.4, but 27.8
    278
    """
    rounds = (machines - 1).bit_length()
    if machines < 8 or machines != 1 << rounds or port == 0:
        return 0
    later = max(0, segments - 2) // (rounds + 1) * (length - port)
    least = (segments - 1) * port + rounds * length + later
    return min(least, (segments - 1 + rounds) * port + length)


def copied_by(machines: int, holders: int, length: int, period: int, copies: int) -> int:
    """Return the earliest time by which so many copies can have arrived, of any segments.

    From each of those that hold something at first, others grow that do, no faster than with one
    segment; all of them copy as fast as they can.

    >>> copied_by(16, 3, 1, 1, 45)  # an all-gather of 3 segments: 3 + 6 + 12 + 16 + 16 copies
    5
    """
    if not copies:
        return 0
    growing = arrivals(max(2, -(-machines // holders)), length, period, length)
    return _enough(np.repeat(growing, holders)[:machines], length, period, copies)


def _enough(since: Any, length: int, period: int, wanted: int) -> int:
    """Return when so many copies can have arrived, by machines that start them ``since`` then."""
    if period == 0:
        return length
    most = int(since[0]) + length + period * wanted
    exact = most < 2**61
    times: Any = since.astype(np.int64 if exact else np.float64)

    def copies(end: int) -> int:
        room = end - times - length if exact else float(end) * (1 + ROUNDING) - times - length
        return int((room[room >= 0] // period + 1).sum())

    low, high = -1, most
    while high - low > (1 if exact else most >> 50):
        middle = (low + high) // 2
        low, high = (low, middle) if copies(middle) >= wanted else (middle, high)
    return high if exact else max(low, 0)


def in_order(machines: int, length: int, period: int, port: int, segments: int) -> int:
    """Return the least end where every port takes the segments in order.

    No machine sends segment k before it has sent those before it, ``port`` each; and the root
    takes r copies of k one after another, then those of the later segments, ``period`` each.
    What is left must do for a segment to grow from r copies. The fewest copies leave most to the
    segments before.

    >>> in_order(4, 3, 1, 1, 4)
    10
    """
    most = segments * (length + machines * period)
    if period == 0 or most >= 2**61:
        return length
    growing = np.array(arrivals(max(2, machines - 1), length, period, length)[: machines - 1])

    def fewest(room: int) -> int:
        """Return how many copies from the root a segment needs to be done in time, or 0."""
        slots = min(machines - 1, (room - length) // period + 1)
        later = room - length - period * np.arange(max(0, slots))
        done = np.cumsum(np.searchsorted(growing, later, side="right"))
        copies = int(np.searchsorted(done, machines - 1)) + 1
        return copies if copies <= len(done) else 0

    def fits(end: int) -> bool:
        room, left = end - (segments - 1) * port, segments
        while left:
            copies = fewest(room)
            if not copies:
                return False
            alike = left  # those that need but one copy, at once
            if copies > 1 or period > port:
                spare = max(0, room - length - int(growing[-1]))
                alike = min(left, spare // (period - port) + 1) if copies == 1 else 1
            room -= alike * (copies * period - port)
            left -= alike
        return True

    return bisect_left(range(most), True, key=fits)
