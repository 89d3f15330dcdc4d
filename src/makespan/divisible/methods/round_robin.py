"""Many rounds with returns: round-robin sends, and all results in the same order."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.registry import Need, one_of, register
from makespan.core.schedule import Activity, Schedule
from makespan.core.solution import Solution
from makespan.divisible import needs
from makespan.divisible.methods.multi_round import multi_round
from makespan.divisible.model.plan import Plan, sends_then_returns
from makespan.divisible.one_round.plans import service_order
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.returns.transfer_programme import size_by_programme
from makespan.divisible.rounds.chain import Sized
from makespan.divisible.timing import timed

MAX_CHUNKS = 400
WORSE_ROUNDS = 2


def _partial_returns(problem: DivisibleLoad) -> str | None:
    without = np.flatnonzero(~problem.star.returns)
    return f"platform.workers[{without[0]}].return is 0" if len(without) else None


EVERYONE_RETURNS = (
    *needs.ROUNDS_WITH_RETURNS,
    needs.SOME_LOAD,
    needs.SEVERAL_ROUNDS,
    Need("returns from every worker", _partial_returns),
)


@register(
    needs=(*EVERYONE_RETURNS, needs.ONE_PORT),
    reach=(needs.at_most(2_000),),
    complexity="a sparse linear programme for each number of rounds and workers tried",
    source="linear programme for the order of Yang and Casanova 2003, section 5, that loses "
    "nothing on one port with room for all chunks: sends first, results last",
)
def sends_first(problem: DivisibleLoad, control: Control) -> Solution:
    """Round-robin sends, then all results in the same order; amounts by linear programme.

    On one port and with room for all chunks it loses nothing to send everything first: a result
    that comes between two sends can change places with the next send. The workers tried are the
    first few by send cost; the number of rounds is given or scanned.
    """
    return _best_rounds(problem, control)


@register(
    needs=(*EVERYONE_RETURNS, one_of("ports", 2, text="two ports")),
    reach=(needs.at_most(2_000),),
    complexity="a sparse linear programme for each number of rounds and workers tried",
    source="Yang and Casanova 2003, section 5.4, an open question there: linear programme for "
    "given orders",
)
def two_channels(problem: DivisibleLoad, control: Control) -> Solution:
    """Round-robin sends on one channel, results in the same order on the other.

    ``details["bottleneck"]`` says what limits the plan: ``input``, ``output`` or
    ``computation``, whichever is busy for the largest part of it; ``details["busy"]`` has the
    parts. On equal workers in many rounds the input is the limit where c > d and N c > w, the
    output where d > c and N d > w, and the computation where neither channel fills up.
    """
    found = _best_rounds(problem, control)
    if found.schedule is None:
        return found
    busy = _busy_parts(found.schedule)
    bottleneck = max(busy, key=lambda name: busy[name])
    note = f"the {bottleneck} is the bottleneck: busy {100 * busy[bottleneck]:.1f} % of the time"
    return replace(found, notes=(note,), details={"bottleneck": bottleneck, "busy": busy})


def _busy_parts(schedule: Schedule) -> dict[str, float]:
    """Return the part of the makespan in which sends, results and the workers used are busy."""
    lasting = schedule.end - schedule.start

    def total(kind: Activity) -> float:
        return float(lasting[schedule.kind == kind].sum()) / (schedule.makespan or 1.0)

    used = len(np.unique(schedule.machine[schedule.kind == Activity.COMPUTE])) or 1
    return {
        "input": total(Activity.SEND),
        "output": total(Activity.RETURN),
        "computation": total(Activity.COMPUTE) / used,
    }


def _best_rounds(problem: DivisibleLoad, control: Control) -> Solution:
    """Return the best plan over a few subsets of the workers and numbers of rounds."""
    plans = (
        sized
        for workers in _subsets(service_order(problem))
        for sized in _scanned(problem, workers, control)
    )
    best = min(plans, key=lambda sized: sized.makespan, default=None)
    return Solution(schedule=None if best is None else timed(problem, best.plan.without_empty()))


def _subsets(order: Integers) -> list[Integers]:
    counts = {len(order), *(max(1, len(order) - drop) for drop in (1, 2, len(order) // 2))}
    return [order[:count] for count in sorted(counts, reverse=True)]


def _scanned(problem: DivisibleLoad, workers: Integers, control: Control) -> Iterator[Sized]:
    """Yield the plans for more and more rounds, until more are worse a few times."""
    most = MAX_CHUNKS // len(workers) if problem.rounds == "auto" else int(problem.rounds)
    least, worse = np.inf, 0
    for rounds in range(1, most + 1):
        if worse >= WORSE_ROUNDS or control.expired():
            return
        sequence = np.tile(workers, rounds)
        transfers = sends_then_returns(len(sequence), np.arange(len(sequence)))
        sized, _ = size_by_programme(problem, sequence, control, transfers)
        if sized is None:
            return
        worse = 0 if sized.makespan < least * (1 - 1e-5) else worse + 1
        least = min(least, sized.makespan)
        yield sized


@register(
    needs=(
        *EVERYONE_RETURNS,
        Need("sends without any cost", needs.nonzero("send_fixed", "send_per_unit")),
        one_of("ports", 1, 2, text="one result at a time (ports 1 or 2)"),
        Need("no given order", lambda problem: problem.order and "order is given"),
    ),
    reach=(needs.at_most(10_000),),
    complexity="that of multi-round",
    source="Yang and Casanova 2003, section 5 and figure 4: the input-only schedule, flipped",
)
def output_only(problem: DivisibleLoad, control: Control, *, effort: float = 1.0) -> Solution:
    """Results only: plan the same star with sends in place of results, and reverse time."""
    star = problem.star
    flipped = star.changed(
        send_fixed=star.return_fixed,
        send_per_unit=star.return_per_unit,
        return_fixed=0.0,
        return_per_unit=0.0,
    )
    forward = replace(problem, platform=flipped, discipline=None, return_order=None)
    found = multi_round(forward, control, effort=effort)
    if found.schedule is None:
        return found
    sends = found.schedule.rows_of(Activity.SEND)[::-1]
    plan = Plan.of(
        found.schedule.peer[sends] - 1,
        found.schedule.amount[sends],
        transfers=sends_then_returns(len(sends), np.arange(len(sends))),
    )
    return replace(found, schedule=timed(problem, plan))
