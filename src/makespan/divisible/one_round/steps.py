"""Steps of the rules that order workers by an exchange of neighbours."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.core.schedule import Activity
from makespan.core.solution import Solution
from makespan.core.steps import MAX_ROWS, Slot, Step, Table, listed, number
from makespan.divisible.model.plan import sends_by_start
from makespan.divisible.problem import DivisibleLoad

MOST = 6
"""Workers that are named as left out."""


def logged(
    problem: DivisibleLoad, control: Control, solution: Solution, key: Floats, word: str
) -> Solution:
    """Log who is served when, and why, and return the solution.

    Workers are served by rising ``key``, of each worker of the platform, which ``word`` names: no
    exchange of two neighbours then ends earlier.
    """
    schedule = solution.schedule
    if not control.log_steps or schedule is None:
        return solution
    names, keys = schedule.machines, dict(zip(problem.star.names, key.tolist(), strict=True))
    sends = sends_by_start(schedule)
    served = [names[machine] for machine in schedule.peer[sends].tolist()]
    computes = schedule.rows_of(Activity.COMPUTE)
    computing = {names[schedule.machine[row]]: row for row in computes.tolist()}
    own = [int(schedule.item[row]) for name, row in computing.items() if name not in served]
    for place, row in enumerate(sends.tolist()):
        name, amount = served[place], float(schedule.amount[row])
        start, end = float(schedule.start[row]), float(schedule.end[row])
        done = float(schedule.end[computing[name]]) if name in computing else end
        following = served[place + 1 : place + 2]
        why = (
            f" before {following[0]} ({number(keys[following[0]])})" if following else ", the last"
        )
        item = int(schedule.item[row])
        queue = tuple((each, keys[each]) for each in served[place : place + MAX_ROWS])
        slots = [Slot(names[schedule.machine[row]], start, end, "chosen")]
        if name in computing:
            slots.append(Slot(name, float(schedule.start[computing[name]]), done, "chosen"))
        control.step(
            Step(
                text=f"{name} ({word} {number(keys[name])}){why}: gets {number(amount)}, "
                f"sent {number(start)} to {number(end)}, computed until {number(done)}",
                cells={
                    "worker": name, word: keys[name], "gets": amount,
                    "sent from": start, "to": end, "computed until": done,
                },
                items={"chosen": (item,), "placed": (item, *(own if place == 0 else ()))},
                slots=slots,
                tables=(Table("still to serve", ("worker", word), queue, 0),),
                values={"sent so far": float(schedule.amount[sends[: place + 1]].sum())},
            )
        )  # fmt: skip
    left = [name for name in problem.star.names if name not in set(served)]
    if left:
        control.step(Step(text=f"not served: {listed(left, MOST)}"))
    return solution
