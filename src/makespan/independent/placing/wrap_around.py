"""McNaughton's rule as a loop: run as it is for few tasks, compiled for many."""

from __future__ import annotations

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.jit import loop


@loop(pays_from=100_000)  # tasks
def wrap_around(
    seconds: Floats,
    optimum: float,
    slack: float,
    last: int,
    machine: Integers,
    task: Integers,
    amount: Floats,
    start: Floats,
    end: Floats,
) -> int:
    """Fill the columns of McNaughton's schedule; return the number of rows.

    What does not fit before ``optimum`` starts the next machine at 0; a remainder within
    ``slack`` is not cut off. ``last`` is the last machine.
    """
    row, now, time = 0, 0, 0.0
    for index in range(len(seconds)):
        duration = seconds[index]
        if duration == 0.0:
            continue
        if now < last and optimum - time <= slack:
            now, time = now + 1, 0.0
        whole = now == last or time + duration <= optimum + slack
        machine[row], task[row], start[row] = now, index, time
        amount[row] = duration if whole else optimum - time
        end[row] = time + duration if whole else optimum
        time += duration
        row += 1
        if not whole:
            rest = duration - amount[row - 1]
            now += 1
            machine[row], task[row], start[row] = now, index, 0.0
            amount[row], end[row] = rest, rest
            time = rest
            row += 1
    return row
