"""Compiled search over sequences of chunks; :mod:`makespan.divisible.rounds.search` drives it.

Columns are arrays (4, n): C, c, W and 1/w of each worker. ``own`` is the master's start-up and
its units per second (0 if it does not compute).
"""

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.jit import kernel
from makespan.divisible.rounds.chain import MAX_CANCELLED

REPAIRS = 3  # negative chunks that are dropped from a trial before it is given up


@kernel
def end_of_chain(
    sequence: Integers,
    length: int,
    columns: Floats,
    own: Floats,
    load: float,
    until: Floats,
    chunk: Floats,
) -> tuple[float, int]:
    """Return when the chain of a sequence ends, and -1; or infinity and its most negative chunk.

    As ``chain`` in ``chain.py``. ``until`` (2, n) and ``chunk`` (2, at least length)
    are room to work in: every amount is ``chunk[0] + chunk[1] * tail``.
    """
    for worker in range(columns.shape[1]):
        until[0, worker] = 0.0
        until[1, worker] = -1.0
    after, after_slope, placed, placed_slope = 0.0, 0.0, 0.0, 0.0
    most = MAX_CANCELLED * load
    for position in range(length - 1, -1, -1):
        worker = sequence[position]
        rate = columns[3, worker]
        fixed = (after - until[0, worker] - columns[2, worker]) * rate
        per_tail = (after_slope - until[1, worker]) * rate
        if abs(fixed) > most:
            return np.inf, -1
        chunk[0, position] = fixed
        chunk[1, position] = per_tail
        until[0, worker] = after
        until[1, worker] = after_slope
        after += columns[0, worker] + columns[1, worker] * fixed
        after_slope += columns[1, worker] * per_tail
        placed += fixed
        placed_slope += per_tail
    placed += (after - own[0]) * own[1]
    placed_slope += (after_slope + 1.0) * own[1]
    if placed_slope <= 0.0:
        return np.inf, -1
    tail = (load - placed) / placed_slope
    if tail < 0.0:
        return np.inf, -1
    worst, least = -1, 0.0
    for position in range(length):
        amount = chunk[0, position] + chunk[1, position] * tail
        if amount < least:
            worst, least = position, amount
    if worst >= 0:
        return np.inf, worst
    end = after + (after_slope + 1.0) * tail
    if own[1] > 0.0 and end < own[0]:
        return np.inf, -1
    return end, -1


@kernel
def rounds_in(
    sequence: Integers, length: int, place: Integers, ordered: bool, seen: Integers
) -> int:
    """Return how many rounds a sequence makes, each as long as it can be.

    A round holds no worker twice; if ``ordered``, its workers come by their ``place``.
    """
    seen[:] = 0
    number, last = 0, len(place)
    for position in range(length):
        worker = sequence[position]
        new = place[worker] <= last if ordered else seen[worker] == number
        if number == 0 or new:
            number += 1
        seen[worker] = number
        last = place[worker]
    return number


@kernel
def moved(sequence: Integers, length: int, workers: int, draw: Floats, trial: Integers) -> int:
    """Write a neighbour of a sequence into ``trial`` and return its length.

    ``draw`` are four numbers in [0, 1): the move (delete, insert, replace, swap, move, repeat a
    stretch, drop a stretch), two positions and a worker.
    """
    np.positive(sequence[:length], trial[:length])
    first = int(draw[1] * length)
    second = int(draw[2] * length)
    worker = int(draw[3] * workers)
    if draw[0] < 0.2 and length > 1:
        np.positive(sequence[first + 1 : length], trial[first : length - 1])
        return length - 1
    if draw[0] < 0.45:
        first = int(draw[1] * (length + 1))
        np.positive(sequence[first:length], trial[first + 1 : length + 1])
        trial[first] = worker
        return length + 1
    if draw[0] < 0.6:
        trial[first] = worker
        return length
    if draw[0] < 0.75:
        if draw[3] < 0.5:
            second = (first + 1) % length
        trial[first] = sequence[second]
        trial[second] = sequence[first]
        return length
    if draw[0] < 0.9:
        taken = sequence[first]
        if first < second:
            np.positive(sequence[first + 1 : second + 1], trial[first:second])
        else:
            np.positive(sequence[second:first], trial[second + 1 : first + 1])
        trial[second] = taken
        return length
    stretch = min(1 + int(draw[3] * 2 * workers), length - first)
    if draw[0] < 0.95:
        np.positive(sequence[first:length], trial[first + stretch : length + stretch])
        return length + stretch
    if stretch == length:
        return length
    np.positive(sequence[first + stretch : length], trial[first : length - stretch])
    return length - stretch


@kernel
def improve(
    sequence: Integers,
    length: int,
    value: float,
    best: Integers,
    most_rounds: int,
    place: Integers,
    ordered: bool,
    draws: Floats,
    tolerance: float,
    columns: Floats,
    own: Floats,
    load: float,
) -> tuple[int, float, int, float]:
    """Try one neighbour for each row of ``draws``; change ``sequence`` and ``best`` in place.

    A neighbour is taken if it ends at most ``1 + tolerance`` times as late. Returns length and
    value of the sequence and of the best one seen; ``best`` starts as the sequence.
    """
    workers = columns.shape[1]
    capacity = len(sequence)
    trial = np.empty(capacity, dtype=np.int64)
    until, chunk = np.empty((2, workers)), np.empty((2, capacity))
    seen = np.empty(workers, dtype=np.int64)
    best_length, best_value = length, value
    for step in range(len(draws)):
        if length + 2 * workers + 1 > capacity:
            break
        count = moved(sequence, length, workers, draws[step], trial)
        if most_rounds > 0 and rounds_in(trial, count, place, ordered, seen) > most_rounds:
            continue
        end, worst = end_of_chain(trial, count, columns, own, load, until, chunk)
        for _ in range(REPAIRS):
            if worst < 0 or count == 1:
                break
            np.positive(trial[worst + 1 : count], trial[worst : count - 1])
            count -= 1
            end, worst = end_of_chain(trial, count, columns, own, load, until, chunk)
        if end <= value * (1.0 + tolerance):
            np.positive(trial[:count], sequence[:count])
            length, value = count, end
            if value < best_value * (1.0 - 1e-13):
                np.positive(trial[:count], best[:count])
                best_length, best_value = count, end
    return length, value, best_length, best_value
