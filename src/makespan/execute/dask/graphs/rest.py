"""What is left of a plan when a worker has died: planned again for those that are there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

from makespan.execute.dask.graphs.forecast import Forecast
from makespan.execute.dask.graphs.placement import Pins


def rest_planned(
    pins: Pins, states: Mapping[int, tuple[str, str]], there: Sequence[str]
) -> dict[int, str]:
    """Return the machine of each task that nobody has begun.

    Task after task in the order of the plan goes to the machine that ends it first, behind what
    that machine has, when its inputs have come: those that are there already from where they are.

    Parameters
    ----------
    pins
        The plan.
    states
        The state of each task that is known on the scheduler, and the machine that holds or
        computes it.
    there
        The machines that are there.

    Source: H. Topcuoglu, S. Hariri, M.-Y. Wu, Performance-effective and low-complexity task
    scheduling for heterogeneous computing, IEEE TPDS 13, 2002, section 5: the rule of HEFT.
    """
    forecast, names = Forecast(pins.problem), pins.problem.network.names
    place = {names.index(name): name for name in there}
    free = {machine: [0.0] * forecast.cores[machine] for machine in place}
    line = dict.fromkeys(place, 0.0)  # when what a machine sends has left
    begun, end, at, needed = {}, {}, {}, set()
    for task in range(forecast.count):
        state, name = states.get(task, ("forgotten", ""))
        if state == "memory" and name in there:
            begun[task] = names.index(name), 0.0
        elif state == "processing" and name in there:
            machine = names.index(name)
            begun[task] = machine, forecast.seconds[task][machine]
        elif state not in ("forgotten", "released"):
            needed.add(task)
    found = {}
    for task in (*begun, *(task for task in pins.order if task in needed)):
        if task in begun:
            at[task], seconds = begun[task]
            end[task] = min(free[at[task]]) + seconds if seconds else 0.0
        else:
            best, sent = (inf, -1), line
            for machine in place:
                ready, lines = _ready(forecast, task, machine, at, end, line)
                done = max(ready, min(free[machine])) + forecast.seconds[task][machine]
                if done < best[0]:
                    best, sent = (done, machine), lines
            (end[task], at[task]), line = best, sent
            found[task] = place[at[task]]
        cores = free[at[task]]
        cores[cores.index(min(cores))] = max(min(cores), end[task])
    return found


def _ready(
    forecast: Forecast,
    task: int,
    machine: int,
    at: Mapping[int, int],
    end: Mapping[int, float],
    line: Mapping[int, float],
) -> tuple[float, dict[int, float]]:
    """Return when a task's inputs are on a machine, and when what each sends has left then."""
    ready, lines = 0.0, dict(line)
    for edge in forecast.incoming[task]:
        before = forecast.source[edge]
        if before not in at:  # was forgotten: nobody knows where it will be
            continue
        arrival = end[before]
        for hop in forecast.routes[at[before]][machine]:
            length = forecast.size[edge] / hop.rate + hop.setup
            if length and hop.occupied and hop.tail == at[before]:
                arrival = max(arrival, lines[hop.tail])
                lines[hop.tail] = arrival + length
            arrival += length
        ready = max(ready, arrival)
    return ready, lines
