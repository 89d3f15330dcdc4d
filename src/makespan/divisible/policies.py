"""Policies: who gets how much is decided while the plan runs, by who is free.

A policy is a few chunks that are sent first, and a rule for the rest. Its nominal run, in which
everything takes as long as predicted, is a plan; its simulation decides anew in every run.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from makespan.core.errors import MethodError
from makespan.core.inputs.rules import Rule, quoted, refusal
from makespan.core.noise import Noise
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.jit import loop
from makespan.divisible.model.plan import Plan
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.published.rounds import uniform_rounds

FIXED, GUIDED, FACTORING, WEIGHTED = range(4)
"""Rules: chunks of a fixed size; a share of what is left; half of it in a batch for all; the
same, by the workers' speeds."""


@loop(pays_from=200_000)  # chunks over all repetitions, times workers
def serve(
    head_worker: Integers,
    head_amount: Floats,
    load: float,
    rule: int,
    size: float,
    unit: float,
    ahead: int,
    weight: Floats,
    costs: Floats,
    factors: Floats,
    worker_of: Integers,
    amount_of: Floats,
) -> tuple[int, float]:
    """Carry out a plan that decides while it runs; return its chunks' number and its makespan.

    - ``head_worker``, ``head_amount``: chunks that are sent first, one after another, whatever
      happens.
    - ``load``: units to serve after these.
    - ``rule``, ``size``, ``unit``: how large chunks are: ``size`` is that of ``FIXED``; sizes are
      rounded up to multiples of ``unit``.
    - ``ahead``: 1: a worker asks when it has nothing left to compute. 2: when it starts its last
      chunk. The worker that asked first is served first.
    - ``weight``: the workers' shares of a batch, 1 on average.
    - ``costs``: (4, n): C, c, W and w.
    - ``factors``: (2, n, chunks): factors on the transfer and on the computation of each chunk, if
      it goes to that worker. One for all workers, or for all chunks, stands for as many.
    - ``worker_of``, ``amount_of``: where the chunks are written to.
    """
    workers = costs.shape[1]
    busy, asks = np.zeros(workers), np.zeros(workers)
    port, end, left = 0.0, 0.0, load
    batch, served = 0.0, 0
    most, count = len(worker_of), 0
    rows, columns = factors.shape[1], factors.shape[2]
    while count < len(head_worker) or left > 0.0:
        if count < len(head_worker):
            worker = head_worker[count]
            amount = head_amount[count]
            begin = port
        else:
            worker = int(np.argmin(asks))
            begin = max(port, asks[worker])
            if rule == GUIDED:
                wanted = left / workers
            elif rule == FIXED:
                wanted = size
            else:
                if served == 0:
                    batch = left / (2.0 * workers)
                served = (served + 1) % workers
                wanted = batch * weight[worker] if rule == WEIGHTED else batch
            amount = max(unit, np.ceil(wanted / unit - 1e-9) * unit)
            if amount >= left or left - amount < 1e-9 * unit or count == most - 1:
                amount = left
            left -= amount
        row, column = min(worker, rows - 1), min(count, columns - 1)
        took = costs[0, worker] + costs[1, worker] * amount
        port = begin + took * factors[0, row, column]
        start = max(port, busy[worker])
        lasts = costs[2, worker] + costs[3, worker] * amount
        busy[worker] = start + lasts * factors[1, row, column]
        asks[worker] = busy[worker] if ahead == 1 else start
        end = max(end, busy[worker])
        worker_of[count] = worker
        amount_of[count] = amount
        count += 1
    return count, end


UNITS = 1000
MAX_CHUNKS = 1_000_000
EXPECTED = Rule("an expected error is 0 or more")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Policy:
    problem: DivisibleLoad
    rule: int  # how large the chunks are: FIXED, GUIDED, FACTORING or WEIGHTED
    size: float = 0.0  # the chunk of the rule ``FIXED``, units
    # chunks are rounded up to multiples of it, whole where the problem's units are; None: 1 for
    # these, otherwise a thousandth of the load
    unit: float | None = None
    ahead: int = 1  # 1: a worker asks when it is idle. 2: one chunk ahead.
    head: Plan | None = None  # what is sent first, in this order; None for nothing

    @property
    def load(self) -> float:
        return self.problem.total

    @property
    def grain(self) -> float:
        """The unit that chunks are multiples of."""
        if self.unit is not None:
            return self.unit
        return 1.0 if self.problem.integral else self.load / UNITS

    @property
    def most_chunks(self) -> int:
        """More chunks than the policy ever needs (the last takes the rest beyond a million)."""
        first = 0 if self.head is None else len(self.head)
        smallest = max(self.grain, self.size) if self.rule == FIXED else self.grain
        rest = self.load / smallest if smallest else 0.0
        return first + int(min(MAX_CHUNKS, math.ceil(rest) + 1))

    def __post_init__(self) -> None:
        cut = Rule(strictly=True).fault(self.grain)
        if cut is None and self.problem.integral and self.grain != int(self.grain):
            cut = "is not whole, as the problem's units are"
        for name, fault in (
            ("chunk" if self.rule == FIXED else "unit", cut),
            ("ahead", None if self.ahead in (1, 2) else "is not 1 or 2"),
        ):
            if fault is not None and self.load > 0:
                value = self.grain if name != "ahead" else self.ahead
                raise MethodError(f"{name}: {quoted(value)} {fault}")

    def plan(self) -> Plan:
        """Return the chunks of the nominal run in the order of sending."""
        most, workers = self.most_chunks, len(self.problem.star)
        worker, amount = np.zeros(most, dtype=np.int64), np.zeros(most)
        count, _ = serve.at(most * workers)(*self._fixed(), np.ones((2, 1, 1)), worker, amount)
        return Plan.of(worker[:count], amount[:count])

    def makespans(
        self, noise: Noise, repetitions: int, generator: np.random.Generator
    ) -> tuple[Floats, float]:
        """Return the makespan of every run, and the one without noise; O(workers) a chunk."""
        most, workers = self.most_chunks, len(self.problem.star)
        run = serve.at(most * repetitions * workers)
        room = np.zeros(most, dtype=np.int64), np.zeros(most)
        fixed = self._fixed()
        nominal = run(*fixed, np.ones((2, 1, 1)), *room)
        errors = _errors(self.problem, noise)
        shape = (*errors.shape[:2], most) if noise.per == "activity" else (2, workers, 1)
        found = np.empty(repetitions)
        for repetition in range(repetitions):
            found[repetition] = run(*fixed, noise.drawn(generator, shape, errors), *room)[1]
        return found, float(nominal[1])

    def _fixed(self) -> tuple[Any, ...]:
        """Return what is the same in every run, as :func:`serve` takes it."""
        star = self.problem.star
        head = Plan.of([], []) if self.head is None else self.head
        speed = 1.0 / (star.send_per_unit + star.compute_per_unit)
        costs = np.array(
            [star.send_fixed, star.send_per_unit, star.compute_fixed, star.compute_per_unit]
        )
        left = self.load - head.total
        return (
            head.worker,
            head.amount,
            left if left > 1e-9 * self.load else 0.0,
            self.rule,
            float(self.size),
            self.grain,
            self.ahead,
            speed * (len(speed) / speed.sum()),
            costs,
        )


def _errors(problem: DivisibleLoad, noise: Noise) -> Floats:
    """Return the errors of transfers and computations, (2, workers, 1), or (2, 1, 1) if equal."""
    workers = np.arange(len(problem.machines) - len(problem.star), len(problem.machines))
    computing = noise.of_computations(workers, workers, problem.machines)
    if (computing == computing[0]).all():
        computing = computing[:1]
    return np.stack([np.full(len(computing), noise.of_transfers()), computing])[:, :, None]


def self_scheduling(
    problem: DivisibleLoad, *, chunk: float | None = None, ahead: int = 1
) -> Policy:
    """Self-scheduling: equal chunks to whoever asks first.

    ``chunk`` is their size (default: a 64th of the load); with ``ahead = 2`` workers ask one chunk
    ahead. The plan is the chunks of a run without errors; ``simulate(problem,
    policy="self-scheduling", ...)`` decides anew in every run, as it does for all policies.
    """
    size = chunk if chunk is not None else problem.total / 64
    if problem.integral:
        size = max(1.0, math.ceil(size))
    unit = size if size > 0 else None
    return Policy(problem=problem, rule=FIXED, size=size, unit=unit, ahead=ahead)


def guided(problem: DivisibleLoad, *, unit: float | None = None, ahead: int = 1) -> Policy:
    """Guided self-scheduling: who asks gets a share 1/n of what is left.

    Chunks are multiples of ``unit`` (default: 1 for whole units, else a thousandth of the load).
    """
    return Policy(problem=problem, rule=GUIDED, unit=unit, ahead=ahead)


def factoring(problem: DivisibleLoad, *, unit: float | None = None, ahead: int = 1) -> Policy:
    """Factoring: batches of n equal chunks, half of what is left each, in multiples of ``unit``."""
    return Policy(problem=problem, rule=FACTORING, unit=unit, ahead=ahead)


def weighted_factoring(
    problem: DivisibleLoad, *, unit: float | None = None, ahead: int = 1
) -> Policy:
    """Weighted factoring: batches of half of what is left, shared by the speeds of the workers."""
    return Policy(problem=problem, rule=WEIGHTED, unit=unit, ahead=ahead)


def rumr(
    problem: DivisibleLoad, *, error: float = 0.0, unit: float | None = None, ahead: int = 1
) -> Policy:
    """Robust uniform multi-round (RUMR): growing rounds, then decreasing chunks by factoring.

    ``error`` is the relative error that is expected of predictions: that share of the load is
    kept for the second phase; where that would be too small to pay its start-ups, there is none.
    ``simulate(problem, policy="rumr", ...)`` expects the error that it simulates.
    """
    text = refusal(error, EXPECTED)
    if text is not None:
        raise MethodError(f"error: {text}")
    star = problem.star
    share = min(1.0, max(0.0, error))
    start_ups = float(star.compute_fixed.max() + star.send_fixed.sum())
    slowest = float(star.compute_per_unit.max())
    if share * problem.total / len(star) * slowest < start_ups:
        share = 0.0
    head = uniform_rounds(star, (1.0 - share) * problem.total) if share < 1.0 else None
    return Policy(problem=problem, rule=WEIGHTED, unit=unit, ahead=ahead, head=head)


def _simulation(make: Callable[..., Policy]) -> Callable[..., tuple[Floats, float]]:
    def simulated(
        problem: DivisibleLoad, noise: Noise, repetitions: int, generator: np.random.Generator
    ) -> tuple[Floats, float]:
        options = {"error": float(_errors(problem, noise)[1].mean())} if make is rumr else {}
        return make(problem, **options).makespans(noise, repetitions, generator)

    return simulated


SIMULATIONS = {
    "self-scheduling": _simulation(self_scheduling),
    "guided": _simulation(guided),
    "factoring": _simulation(factoring),
    "weighted-factoring": _simulation(weighted_factoring),
    "rumr": _simulation(rumr),
}
"""The policies by name; rumr expects the error that it is simulated with."""
