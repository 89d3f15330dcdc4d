"""Chunks that fit into memory, in several rounds, at the rates of the steady state."""

import math
from collections.abc import Iterator

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers, repeated
from makespan.core.registry import Need, register
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.divisible import needs
from makespan.divisible.model.plan import Plan
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.rates.quick import quick_bound
from makespan.divisible.returns.transfer_programme import size_by_programme
from makespan.divisible.rounds.chain import Sized
from makespan.divisible.timing import timed

MAX_CHUNKS = 3_000_000
MAX_PROGRAMMED = 30_000
FEWER = 1_500  # chunks up to which more of them are tried
FACTORS = (1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0)
WORSE = 3


def _no_limit(problem: DivisibleLoad) -> str | None:
    if not len(problem.star):
        return "there is no worker"
    return None if np.isfinite(problem.star.memory).any() else "no memory is limited"


@register(
    needs=(
        *needs.SEQUENCE_OF_CHUNKS,
        needs.NO_GIVEN_ORDER,
        needs.NO_WORKER_DEADLINES,
        needs.NO_BUDGET,
        needs.SOME_LOAD,
        needs.ANY_WORKERS,
        needs.NO_RELEASE,
        Need("a memory limit", _no_limit),
        needs.SEVERAL_ROUNDS,
    ),
    reach=(needs.at_most(10_000_000),),
    complexity="a sparse linear programme for each number of chunks tried",
    source="bandwidth-centric rates (Beaumont et al. 2002); amounts as in Benoit 2016, multi-round "
    "scheduling for a given order",
)
def best_rate(problem: DivisibleLoad, control: Control) -> Solution:
    """Chunks within memory, interleaved at each worker's best rate; amounts by linear programme.

    A worker gets as many chunks as its share of the steady state needs at least, and then more
    and more of them. With a given number of rounds, round-robin over the workers by send cost.
    """
    best: Sized | None = None
    schedule: Schedule | None = None
    worse, stopped = 0, False
    for sequence in _sequences(problem):
        if best is None:
            best, schedule = _filled(problem, sequence)
        if worse >= WORSE or control.expired():
            break
        if len(sequence) > MAX_PROGRAMMED:
            stopped = True
            continue
        sized, _ = size_by_programme(problem, sequence, control)
        if sized is None:
            continue
        if best is None or sized.makespan < best.makespan * (1 - 1e-6):
            best, schedule, worse = sized, None, 0
        else:
            worse += 1
    if best is None:
        return _nothing(problem)
    if schedule is None:
        schedule = timed(problem, best.plan.without_empty())
    return Solution(schedule=schedule, stopped=stopped)


def _filled(
    problem: DivisibleLoad, sequence: Integers
) -> tuple[Sized, Schedule] | tuple[None, None]:
    """Return a plan that needs no programme: equal chunks of each worker, within its memory."""
    star = problem.star
    count = np.bincount(sequence, minlength=len(star))
    memory = np.where(count > 0, star.memory, 0.0)
    load = _steady_loads(problem) if problem.rounds == "auto" else memory * count
    amount = np.minimum(star.memory, np.minimum(load, problem.total) / np.maximum(count, 1))[
        sequence
    ]
    room = float(amount.sum())
    if room > problem.total:
        amount *= problem.total / room
    master = max(0.0, problem.total - float(amount.sum()))
    if master > 1e-12 * problem.total and not problem.master_computes:
        return None, None
    own = master if problem.master_computes else 0.0
    plan = Plan.of(sequence, amount, master=own).without_empty()
    schedule = timed(problem, plan)
    return Sized(plan=plan, makespan=schedule.makespan, optimal=False), schedule


def _nothing(problem: DivisibleLoad) -> Solution:
    if problem.rounds != "auto" and not problem.master_computes:
        room = float(problem.star.memory.sum()) * int(problem.rounds)
        if room < problem.total * (1 - 1e-12):
            why = f"{problem.rounds} rounds have room for {room:.12g}, but the load is "
            return Solution(schedule=None, infeasible=f"{why}{problem.total:.12g}")
    note = f"no sequence of at most {MAX_CHUNKS:,} chunks that was tried has room for the load"
    return Solution(schedule=None, notes=(note,), stopped=True)


def _sequences(problem: DivisibleLoad) -> Iterator[Integers]:
    """Yield sequences with more and more chunks, or with more and more of the workers."""
    star = problem.star
    order = star.by_send_cost
    if problem.rounds != "auto":
        able = order[star.memory[order] > 0]
        rounds = int(problem.rounds)
        counts = sorted({len(able), max(1, len(able) - 1), max(1, len(able) // 2)}, reverse=True)
        yield from (np.tile(able[:n], rounds) for n in counts if n * rounds <= MAX_CHUNKS)
        return
    loads = _steady_loads(problem)
    largest = np.maximum(np.minimum(star.memory, np.maximum(loads, 1e-300)), 1e-300)
    for number, factor in enumerate(FACTORS):
        chunks = np.where(loads > 0, np.ceil(factor * loads / largest), 0)
        chunks = np.maximum(chunks, np.where(loads > 0, math.ceil(factor), 0))
        if chunks.sum() > (FEWER if number else MAX_CHUNKS):
            return
        yield _interleaved(chunks.astype(np.int64), order)


def _steady_loads(problem: DivisibleLoad) -> Floats:
    """Return what each worker does if it takes part at its best rate until the load is done."""
    star = problem.star
    rates = np.zeros(len(star))
    port = 1.0
    for worker in star.by_send_cost.tolist():
        if star.memory[worker] == 0:
            continue
        send, compute = float(star.send_per_unit[worker]), float(star.compute_per_unit[worker])
        chunk = min(float(star.memory[worker]), problem.total)
        send += float(star.send_fixed[worker]) / chunk
        compute += float(star.compute_fixed[worker]) / chunk
        fast = 1.0 / compute if compute > 0 else np.inf
        rates[worker] = min(fast, port / send) if send > 0 else fast
        if np.isinf(rates[worker]):
            return np.where(np.arange(len(star)) == worker, problem.total, 0.0)
        port = max(0.0, port - send * float(rates[worker]))
        if port == 0.0:
            break
    own = star.master_cost
    total = float(rates.sum())
    if problem.master_computes and own.per_unit > 0:
        total += 1.0 / own.per_unit
    return rates * max(quick_bound(problem), problem.total / total if total > 0 else 0.0)


def _interleaved(chunks: Integers, order: Integers) -> Integers:
    """Return so many chunks of each worker, spread evenly; ties by send cost."""
    index, number = repeated(chunks[order])
    worker = order[index]
    return worker[np.lexsort((index, (number + 0.5) / chunks[worker]))]
