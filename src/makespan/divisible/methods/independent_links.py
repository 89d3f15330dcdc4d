"""Workers behind links of their own."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.sorting import sorted_by
from makespan.core.registry import Need, condition, one_of, register
from makespan.core.schedule import Activity, Schedule
from makespan.core.solution import Solution
from makespan.divisible import needs
from makespan.divisible.model.machines import Master
from makespan.divisible.model.plan import Plan
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.rounds.links import (
    MAX_ROUNDS,
    InTurn,
    LoneWorker,
    least_end,
    lone_worker,
    side_by_side,
)
from makespan.divisible.timing import timed

PASSES = 20
RATES = 5e-6  # seconds a worker for about ten looks at who gets how much of an uplink
Loads = Callable[[float], Floats]
MAX_SWAPPED = 40


def _limits(problem: DivisibleLoad) -> tuple[int | None, float | None]:
    """Return the sends at a time, where they are fewer than the workers, and the uplink."""
    master = problem.star.master
    if not isinstance(master, Master):
        return None, None
    few = master.sends if master.sends is not None and master.sends < len(problem.star) else None
    return few, master.uplink


def _shared_returns(problem: DivisibleLoad) -> str | None:
    if not problem.has_returns:
        return None
    if problem.discipline is not None or problem.return_order is not None:
        return "the order of returns is given"
    if problem.rounds != 1:
        return "results return and rounds is not 1"
    return "results return" if _limits(problem) != (None, None) else None


@register(
    needs=(
        needs.A_STAR,
        one_of("ports", "many", text="links of their own (ports = 'many')"),
        needs.A_MASTER,
        needs.A_LOAD,
        needs.DIVISIBLE,
        needs.ANY_WORKERS,
        needs.NO_GIVEN_LOADS,
        needs.NO_GIVEN_ORDER,
        *needs.NO_WINDOWS,
        needs.AFFINE_WORK,
        needs.A_FRONT_END,
        one_of("rounds", 1, "auto", text="one round, or rounds = 'auto'"),
        Need("results on free links in one round, or none", _shared_returns),
        needs.FINITE_RATES,
        condition(
            "a machine that computes",
            lambda problem: len(problem.star) or problem.master_computes,
            "there is no worker",
        ),
    ),
    proves="one round, nothing shared: every worker alone is busy for the whole time",
    complexity="O(n) a step of a bisection; a search over who sends where for few sends at a time",
    source="every worker is a star of its own; the least T at which their loads add up",
)
def independent_links(problem: DivisibleLoad, control: Control) -> Solution:
    """Every worker alone on its link, or the links shared out where the master limits them.

    Nothing shared: what a worker does by T is known, and T is the least at which it adds up to
    the load; several rounds let a worker compute while it receives. With few sends at a time the
    workers are dealt out to that many ports, by local search; one round. Under an uplink all
    sends go side by side, at rates that share it best, or one after another, whichever ends
    first; one round.
    """
    if problem.load == 0:
        return Solution(schedule=timed(problem, Plan.of([], [])), optimal=True)
    few, uplink = _limits(problem)
    if uplink is not None:
        schedule = _under_uplink(problem, uplink, few, control)
    elif few is not None:
        schedule = timed(problem, _few_at_a_time(problem, few, control))
    else:
        schedule = timed(problem, _each_alone(problem, control))
    proved = uplink is None and few is None and problem.rounds == 1
    return Solution(schedule=schedule, optimal=proved)


def _total(problem: DivisibleLoad, loads: Loads, end: float) -> float:
    return float(loads(end).sum()) + problem.own_by(end)


def _end_of(
    problem: DivisibleLoad, loads: Loads, expired: Callable[[], bool] = lambda: False
) -> float:
    """Return when workers who do ``loads(T)`` by T, and the master, have done the load."""
    return least_end(problem.total, lambda end: _total(problem, loads, end), expired)


def _each_alone(problem: DivisibleLoad, control: Control) -> Plan:
    star = problem.star
    if problem.rounds == 1:
        return _once_each(problem)
    ways: list[list[LoneWorker]] = []
    for worker in range(len(star)):
        ways.append(_ways(problem, worker, MAX_ROUNDS))
        if control.expired():
            return _once_each(problem)
    flat = [way for each in ways for way in each]
    start, rate, least = (
        np.array([getattr(way, part) for way in flat]) for part in ("start", "rate", "least")
    )
    able = [worker for worker, each in enumerate(ways) if each]
    first = np.cumsum([0, *(len(ways[worker]) for worker in able)])[:-1]

    def done(end: float) -> Floats:
        loads = np.where(end > least, (end - start) * rate, 0.0)
        return np.maximum.reduceat(loads, first) if len(first) else loads

    end = _end_of(problem, done)
    chunks: list[tuple[int, int, float]] = []
    for worker in able:
        way = max(ways[worker], key=lambda one: one.load(end))
        if way.load(end) > 0:
            chunks += [(k, worker, amount) for k, amount in enumerate(way.chunks(end))]
    chunks.sort()
    return _scaled(
        problem, [worker for _, worker, _ in chunks], [a for *_, a in chunks], problem.own_by(end)
    )


def _once_each(problem: DivisibleLoad) -> Plan:
    """Return the best plan with one chunk for each worker: C + W + D + (c + w + d) x <= T."""
    star = problem.star
    start = star.send_fixed + star.compute_fixed + star.return_fixed
    rate = 1.0 / (star.send_per_unit + star.compute_per_unit + star.return_per_unit)

    def loads(end: float) -> Floats:
        amount: Floats = np.maximum(0.0, (end - start) * rate)
        return amount

    end = _end_of(problem, loads)
    amount = loads(end)
    used = np.flatnonzero(amount > 0)
    return _scaled(problem, used, amount[used], problem.own_by(end))


def _ways(problem: DivisibleLoad, worker: int, most: int) -> list[LoneWorker]:
    """Return a worker's numbers of chunks, until more can't be without idle time."""
    ways: list[LoneWorker] = []
    for rounds in range(1, most + 1):
        way = lone_worker(problem.star, worker, rounds)
        if way is None:
            break
        ways.append(way)
        if rounds > 2 and way.start > ways[-2].start and way.rate <= ways[-2].rate * (1 + 1e-9):
            break
    return ways


def _scaled(problem: DivisibleLoad, workers: ArrayLike, amounts: ArrayLike, own: float) -> Plan:
    """Return a plan whose amounts add up to the load to the last digit."""
    amount = np.asarray(amounts, dtype=np.float64)
    factor = problem.total / (amount.sum() + own)
    return Plan.of(workers, amount * factor, master=own * factor).without_empty()


def _few_at_a_time(problem: DivisibleLoad, few: int, control: Control) -> Plan:
    """Deal the workers out to so many ports, then move single workers while that helps."""
    star = problem.star
    order = star.by_send_cost
    port = np.empty(len(star), dtype=np.int64)
    port[order] = np.arange(len(star)) % few
    loads = partial(InTurn(star, order).loads, port=port)
    best = _end_of(problem, loads)
    for _ in range(PASSES):
        before = best
        for trial in _neighbours(port, few):
            if control.expired():
                break
            kept = port.copy()
            port[:] = trial
            if _total(problem, loads, best) > problem.total * (1 + 1e-9):
                best = _end_of(problem, loads)
            else:
                port[:] = kept
        if best >= before * (1 - 1e-9) or control.expired():
            break
    done = loads(best)
    used = order[done[order] > 0]
    lasting = star.send_fixed[used] + star.send_per_unit[used] * done[used]
    start = np.zeros(len(used))
    for each in range(min(few, len(used))):
        on = np.flatnonzero(port[used] == each)
        start[on[1:]] = np.cumsum(lasting[on])[:-1]
    sent = used[np.lexsort((used, start))]
    return _scaled(problem, sent, done[sent], problem.own_by(best))


def _neighbours(port: Integers, few: int) -> Iterator[Integers]:
    """Yield the deals with one worker moved, or, for few workers, two swapped.

    ``port`` may change in between: each neighbour is of what it is then.
    """
    for worker in range(len(port)):
        for other in range(few):
            if other != port[worker]:
                moved = port.copy()
                moved[worker] = other
                yield moved
    if len(port) > MAX_SWAPPED:
        return
    for first in range(len(port)):
        for second in range(first):
            if port[first] != port[second]:
                swapped = port.copy()
                swapped[[first, second]] = port[[second, first]]
                yield swapped


def _under_uplink(
    problem: DivisibleLoad, uplink: float, few: int | None, control: Control
) -> Schedule:
    """Return the better of all sends side by side, where there is time, and one after another."""
    star = problem.star
    order = sorted_by(np.maximum(star.send_per_unit, 1.0 / uplink))
    in_turn = InTurn(star, order, uplink)
    last = _end_of(problem, in_turn.loads)
    beside, left = np.inf, control.remaining
    if few is None and (left is None or RATES * len(star) < left):
        beside = _end_of(
            problem, lambda end: side_by_side(star, end, uplink)[0], expired=control.expired
        )
    if beside < last:
        done, rate = side_by_side(star, beside, uplink)
        used = np.flatnonzero(done > 0)
        start = np.zeros(len(used))
        flow = 1.0 / rate[used]
    else:
        done = in_turn.loads(last)
        used = order[done[order] > 0]
        flow = np.maximum(star.send_per_unit[used], 1.0 / uplink)
    plan = _scaled(problem, used.tolist(), done[used].tolist(), problem.own_by(min(beside, last)))
    lasting = star.send_fixed[used] + flow * plan.amount
    if beside >= last:
        start = np.concatenate([[0.0], np.cumsum(lasting)[:-1]])
    return _placed(problem, plan, start, start + lasting)


def _placed(problem: DivisibleLoad, plan: Plan, start: Floats, end: Floats) -> Schedule:
    """Return the schedule of one chunk a worker whose sends have these times."""
    rows = timed(problem, plan)
    begin, stop = rows.start.copy(), rows.end.copy()
    sends = rows.kind == Activity.SEND
    computes = (rows.kind == Activity.COMPUTE) & (rows.machine > 0)
    lasting = (stop - begin)[computes]
    begin[sends], stop[sends] = start, end
    begin[computes], stop[computes] = end, end + lasting
    return rows.timed(begin, stop)
