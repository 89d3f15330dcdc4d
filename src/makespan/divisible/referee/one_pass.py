"""Large schedules of one chunk a worker: most rules at once, where nothing is wrong.

The pass knows one form, that in which chunks are numbered and listed as they are sent, and says
only whether a schedule of that form keeps the rules. All else is left to the rules themselves,
one by one: other forms, and whatever has a fault, to be told which.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from makespan.core.costs import Affine
from makespan.core.numeric.arrays import condensed, readonly
from makespan.core.numeric.binding import bind
from makespan.core.numeric.jit import loop
from makespan.core.report import Violation
from makespan.core.schedule import COLUMNS, Activity, Schedule
from makespan.divisible.model.platform import NUMBERS
from makespan.divisible.problem import MASTER, DivisibleLoad
from makespan.divisible.referee import chunks, resources, times, turns
from makespan.divisible.referee.reading import NONE, RELATIVE_TOLERANCE, Reading

MANY = 100_000  # from so many rows on, the compiled loop is worth loading


@loop(pays_from=MANY)
def faultless(  # type: ignore[no-untyped-def]
    peer, item, amount, start, end,
    machine, computed, work, begin, done,
    source, returned, data, leave, back, rank,
    send_fixed, send, compute_fixed, compute, return_fixed, return_, memory, release, deadline,
    fixed, limited, results, one_port, lifo, fifo, may_be_empty, seconds, units,
):  # fmt: skip
    """Whether nothing is wrong with sends, as many computations, and returns, a line for each.

    Chunk k is that of row k; each has a worker of its own. ``rank``: the place of each worker in
    the given order, empty where none is given; ``fixed``, ``limited``, ``results``: whether any
    worker has fixed costs; memory, a release or a deadline; results to return. False says that
    the rows have another form, or some fault.
    """
    sent = len(peer)
    served = np.zeros(len(send), dtype=np.bool_)
    waiting, place = 0, -1  # chunks whose results are to return; the rank of the last worker
    counted = results and len(returned) != sent  # where all return, each is looked at below
    began, port, ended = -np.inf, -np.inf, -np.inf
    for chunk in range(sent):
        worker, x = peer[chunk] - 1, amount[chunk]
        if worker < 0 or worker >= len(send):
            return False
        if item[chunk] != chunk or served[worker] or (x == 0.0 and not may_be_empty):
            return False
        if machine[chunk] != worker + 1 or computed[chunk] != chunk:
            return False
        if abs(work[chunk] - x) > units or (work[chunk] == 0.0 and not may_be_empty):
            return False
        served[worker] = True
        if len(rank):
            if rank[worker] < place:
                return False
            place = rank[worker]
        if counted:
            waiting += return_[worker] > 0.0 or return_fixed[worker] > 0.0
        first, last = start[chunk], end[chunk]
        if first < began or last < ended or port - first > seconds:
            return False
        lasts, works = send[worker] * x, compute[worker] * work[chunk]
        if fixed:
            lasts += send_fixed[worker]
            works += compute_fixed[worker]
        if abs(lasts - (last - first)) > seconds:
            return False
        began, port, ended = first, max(port, last), last
        first, last = begin[chunk], done[chunk]
        if ended - first > seconds or abs(works - (last - first)) > seconds:
            return False
        if limited and (
            x - memory[worker] > units
            or release[worker] - first > seconds
            or last - deadline[worker] > seconds
        ):
            return False
    if len(returned) != sent and waiting != len(returned):
        return False
    if not one_port:
        began, port = -np.inf, -np.inf
    ended = -np.inf
    met = np.zeros(sent if len(returned) else 0, dtype=np.bool_)
    before = -1
    for row in range(len(returned)):
        chunk, x, first, last = returned[row], data[row], leave[row], back[row]
        if chunk < 0 or chunk >= sent or met[chunk]:
            return False
        met[chunk] = True
        worker = peer[chunk] - 1
        if source[row] != worker + 1 or abs(x - amount[chunk]) > units:
            return False
        if not (return_[worker] > 0.0 or return_fixed[worker] > 0.0):
            return False
        if x == 0.0 and not may_be_empty:
            return False
        if first < began or last < ended or max(port, done[chunk]) - first > seconds:
            return False
        lasts = return_[worker] * x
        if fixed:
            lasts += return_fixed[worker]
        if abs(lasts - (last - first)) > seconds:
            return False
        if row > 0 and ((fifo and chunk < before) or (lifo and chunk > before)):
            return False
        began, port, ended, before = first, max(port, last), last, chunk
    return True


Rule = Callable[[Reading], Iterator[Violation]]

OF_EACH = ("item", "amount", "start", "end")
SENT = ("peer", "item", "amount", "start", "end")
COMPUTED = ("machine", "computed", "work", "begin", "done")
RETURNED = ("source", "returned", "data", "leave", "back")
COSTS = (
    *("send_fixed", "send", "compute_fixed", "compute", "return_fixed", "return_"),
    *("memory", "release", "deadline"),
)
"""The parameters of :func:`faultless` for columns of sends, computations, returns, and stars."""

WITHIN = (
    *chunks.RULES,
    *resources.RULES,
    *times.RULES,
    *(chunks.conservation, chunks.memory),
    *(turns.rounds, turns.discipline, turns.use),
)
"""The rules that a schedule keeps in which the pass finds no fault."""

ASKED_BY: dict[Rule, str] = {
    chunks.loads: "loads",
    chunks.integral: "integral",
    chunks.budget: "budget",
    turns.return_order: "return_order",
    turns.activation: "activation",
    turns.transfers: "transfers",
}
"""What of a problem asks for a rule beyond these; one that is not named is always asked for."""


def rules_beyond(problem: DivisibleLoad, rules: Iterable[Rule]) -> list[Rule]:
    """Return the rules that are left where :func:`faultless_parts` finds no fault."""

    def asked(rule: Rule) -> bool:
        wanted = getattr(problem, ASKED_BY[rule]) if rule in ASKED_BY else True
        return wanted is not None and wanted is not False

    return [rule for rule in rules if rule not in WITHIN and asked(rule)]


def faultless_parts(problem: DivisibleLoad, schedule: Schedule) -> tuple[Schedule, ...] | None:
    """Return sends, computations, returns and the master's own, where the rules :data:`WITHIN`
    are kept; None where these are to be asked.

    Complexity: O(rows), compiled.
    """
    if not faultless.pays(len(schedule)) or problem.ports not in (1, 2) or problem.star.beyond:
        return None
    sent, computed, returned = (
        sum(_rows_of(activity, part) for part in schedule.parts or (schedule,))
        for activity in (Activity.SEND, Activity.COMPUTE, Activity.RETURN)
    )
    own, seconds = computed - sent, RELATIVE_TOLERANCE * schedule.makespan
    if own not in (0, 1) or 2 * sent + returned + own != len(schedule):
        return None
    if problem.use == "all" and sent < len(problem.star):
        return None
    parts = schedule.cut([sent, sent, returned, own])
    total = float(parts[1].amount.sum() + parts[3].amount.sum())
    load = total if problem.load is None else problem.load
    units = RELATIVE_TOLERANCE * load
    if abs(total - load) > units or (own and not _is_masters(problem, parts[3], sent, seconds)):
        return None
    if problem.deadline is not None and schedule.makespan - problem.deadline > seconds:
        return None
    return parts if _faultless(problem, parts, seconds, units) else None


def reading_of(problem: DivisibleLoad, schedule: Schedule, parts: tuple[Schedule, ...]) -> Reading:
    """Return what the rules read of such parts of a schedule."""
    sent, _, returned, own = map(len, parts)
    load = problem.load
    if load is None:
        load = float(parts[1].amount.sum() + parts[3].amount.sum())
    sends, last = parts[0].item, 2 * sent + returned
    computes, returns = np.arange(sent, 2 * sent), np.arange(2 * sent, last)
    back = np.broadcast_to(NONE, sent)
    if returned:
        back = back.copy()
        back[parts[2].item] = returns
    return Reading(
        problem=problem,
        platform=problem.star,
        holders=1,
        schedule=schedule,
        sends=sends,
        computes=np.append(computes, last) if own else computes,
        returns=returns,
        repeated=sends[:0],
        chunk=sends,
        send=sends,
        compute=computes,
        return_=back,
        own=np.arange(last, last + own),
        orphans=sends[:0],
        seconds=RELATIVE_TOLERANCE * schedule.makespan,
        units=RELATIVE_TOLERANCE * load,
    )


def _is_masters(problem: DivisibleLoad, own: Schedule, sent: int, seconds: float) -> bool:
    """Whether a row is a computation of the master's own, and has no fault."""
    cost = getattr(problem.star.master, "compute", None)
    last = {name: getattr(own, name)[0].item() for name in COLUMNS}
    if not isinstance(cost, Affine) or not last["amount"] or 0 <= last["item"] < sent:
        return False
    nominal = cost.fixed + cost.per_unit * last["amount"]
    in_time = abs(nominal - (last["end"] - last["start"])) <= seconds
    return in_time and (last["kind"], last["machine"], last["peer"]) == (
        Activity.COMPUTE,
        MASTER,
        NONE,
    )


def _faultless(
    problem: DivisibleLoad, parts: tuple[Schedule, ...], seconds: float, units: float
) -> bool:
    """Whether sends, computations and returns are that, and nothing is wrong with any."""
    sends, computes, returns, _ = parts
    if not (
        _all_are(sends, kind=Activity.SEND, machine=MASTER)
        and _all_are(computes, kind=Activity.COMPUTE, peer=NONE)
        and _all_are(returns, kind=Activity.RETURN, peer=MASTER)
    ):
        return False
    star = problem.star
    rank = np.empty(0, dtype=np.int64)
    if problem.order is not None:
        rank = np.empty(len(star), dtype=np.int64)
        rank[problem.workers_in(problem.order)] = np.arange(len(star))
    limited = star.range_of("release")[1] > 0 or any(
        star.range_of(name)[0] < np.inf for name in ("memory", "deadline")
    )
    columns: dict[str, Any] = {"rank": rank}
    for rows, machine, names in ((sends, "peer", SENT), (computes, "machine", COMPUTED),
                                 (returns, "machine", RETURNED)):  # fmt: skip
        columns |= {
            name: getattr(rows, of) for name, of in zip(names, (machine, *OF_EACH), strict=True)
        }
    columns |= {name: getattr(star, of) for name, of in zip(COSTS, NUMBERS, strict=False)}
    run = bind(
        faultless.compiled,
        **dict(zip(columns, readonly(*columns.values()), strict=True)),
        fixed=star.has_fixed_costs,
        limited=limited,
        results=problem.has_returns,
        one_port=problem.ports == 1,
        lifo=problem.discipline == "lifo",
        fifo=problem.discipline == "fifo",
        may_be_empty=problem.given_sends is not None or problem.use == "all",
        seconds=seconds,
        units=units,
    )
    return bool(run())


def _all_are(rows: Schedule, **values: int) -> bool:
    return all(
        bool((condensed(getattr(rows, name)) == value).all()) for name, value in values.items()
    )


def _rows_of(activity: Activity, part: Schedule) -> int:
    kinds = condensed(part.kind)
    return int(np.count_nonzero(kinds == activity)) * (len(part) // max(1, len(kinds)))
