"""Search for a good sequence of chunks on a star: round-robin, then local search.

What a sequence is worth is when its chain ends (:mod:`makespan.divisible.rounds.chain`); a sequence
whose chain has a negative chunk is repaired by dropping that chunk, or given up.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.jit import compiles, pays
from makespan.divisible.model.plan import rounds_of
from makespan.divisible.rounds.chain import ChainCosts, chain, is_sound

COMPILE_FROM = 60  # chunks times workers; below, plain loops are done before a compiler
WORK = 300_000_000  # chunks that the compiled search sizes
SLICE = 4_000_000  # chunks between two looks at the clock
SLOWER = 300  # how much slower the search is where nothing is compiled: it then tries fewer
STEP = 150  # chunks that the rest of a step costs as much as
PHASES = (3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 0.0)  # how much worse a neighbour may be, in turn
SEEDS = 3
MAX_CHUNKS = 20_000
WORSE_ROUNDS = 4
MAX_HEADS = 10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Task:
    """What is searched for: chunks on a star, at most so many rounds (0: any number).

    ``place`` is the place of each worker in a given order; ``ordered`` whether rounds keep it.
    """

    load: float
    costs: ChainCosts
    most_rounds: int
    place: Integers
    ordered: bool

    @property
    def workers(self) -> int:
        return len(self.costs.send_fixed)

    @property
    def columns(self) -> Floats:
        """C, c, W and 1/w as the kernels take them."""
        costs = self.costs
        speed = 1.0 / np.asarray(costs.compute_per_unit)
        return np.array([costs.send_fixed, costs.send_per_unit, costs.compute_fixed, speed])

    @property
    def own(self) -> Floats:
        """The master's start-up and units per second."""
        master = self.costs.master
        return np.array([0.0, 0.0] if master is None else [master[0], 1.0 / master[1]])

    def end(self, sequence: list[int]) -> tuple[float, list[int]]:
        """Return when the chain of a sequence ends once its negative chunks are dropped."""
        while sequence:
            found = chain(self.load, sequence, self.costs)
            if not is_sound(self.load, found):
                break
            if found.is_plan:
                return float(found.makespan), sequence
            kept = [
                worker for worker, amount in zip(sequence, found.amounts, strict=True) if amount > 0
            ]
            if len(kept) == len(sequence) or found.tail < 0:
                break
            sequence = kept
        return np.inf, sequence

    def allows(self, sequence: list[int]) -> bool:
        """Whether the sequence makes no more rounds than it may."""
        place = self.place.tolist() if self.ordered else None
        return (
            not self.most_rounds or max(rounds_of(sequence, place), default=-1) < self.most_rounds
        )


def search(
    task: Task, orders: tuple[Integers, ...], control: Control, effort: float = 1.0
) -> tuple[Integers, bool] | None:
    """Return the best sequence, and whether to search on; None if no round-robin has a plan."""
    seeds = sorted(_round_robins(task, orders, control), key=lambda seed: seed[0])
    if not seeds:
        return None
    if not pays(len(seeds[0][1]) * task.workers, COMPILE_FROM, of=("divisible",)):
        return np.array(_descended(task, seeds, control), dtype=np.int64), False
    return _searched(task, seeds[:SEEDS], effort * _affordable(WORK), control), True


def _round_robins(
    task: Task, orders: tuple[Integers, ...], control: Control
) -> Iterator[tuple[float, list[int]]]:
    """Yield, for every order, the best round-robin over its first m workers, for a few m.

    Also two phases: rounds over the first few, then rounds over some more, who are served by
    what the port has left at the end.
    """
    for order in orders:
        plain = _best(_best_rounds(task, [], order[:m].tolist(), control) for m in _counts(task))
        phases = _best(
            _best_rounds(task, order[:few].tolist() * heads, order[:more].tolist(), control)
            for few, more in _phases(task, order)
            for heads in range(1, MAX_HEADS + 1)
        )
        yield from (found for found in (plain, phases) if found is not None)


def _best(found: Iterable[tuple[float, list[int]] | None]) -> tuple[float, list[int]] | None:
    return min((each for each in found if each is not None), key=lambda each: each[0], default=None)


def _counts(task: Task) -> list[int]:
    """Return how many workers to try: all numbers up to 12, then about ten a doubling."""
    counts = {min(task.workers, round(12 * 2 ** (step / 10))) for step in range(200)}
    return sorted({*range(1, min(task.workers, 12) + 1), *counts})


def _phases(task: Task, order: Integers) -> list[tuple[int, int]]:
    """Return numbers of workers of a first and a second phase, around what keeps the port busy."""
    costs = task.costs
    share = np.asarray(costs.send_per_unit) / np.asarray(costs.compute_per_unit)
    cut = int(np.count_nonzero(np.cumsum(share[order]) < 1.0))
    return [
        (few, more)
        for few in sorted({cut - 1, cut, cut + 1})
        for more in sorted({few + 1, few + 2, few + 4})
        if 0 < few < more <= len(order)
    ]


def _best_rounds(
    task: Task, head: list[int], workers: list[int], control: Control
) -> tuple[float, list[int]] | None:
    """Return the best number of rounds after a head: until more are worse a few times."""
    best: tuple[float, list[int]] | None = None
    worse = 0
    most = MAX_CHUNKS // len(workers)
    rounds = 1
    while rounds <= most and worse < WORSE_ROUNDS and not control.expired():
        trial = head + workers * rounds
        if not task.allows(trial):
            break
        end, sequence = _end(task, trial)
        if np.isfinite(end) and (best is None or end < best[0] * (1 - 1e-9)):
            best, worse = (end, sequence), 0
        else:
            worse += 1
        rounds += 1 if rounds < 30 else rounds // 10
    return best


def _end(task: Task, sequence: list[int]) -> tuple[float, list[int]]:
    """Return what :meth:`Task.end` does, compiled where the sequence is long."""
    if not pays(len(sequence) * task.workers, COMPILE_FROM, of=("divisible",)):
        return task.end(sequence)
    from makespan.divisible.rounds.search_kernels import end_of_chain

    kept = np.array(sequence, dtype=np.int64)
    room = np.empty((2, task.workers)), np.empty((2, len(kept)))
    end, worst = end_of_chain(kept, len(kept), task.columns, task.own, task.load, *room)
    if worst >= 0:
        return task.end(sequence)
    return end, sequence


def _descended(task: Task, seeds: list[tuple[float, list[int]]], control: Control) -> list[int]:
    """Return the best sequence that no single change of a chunk improves, from any seed."""
    best = seeds[0]
    for seed in seeds:
        found = seed
        better: tuple[float, list[int]] | None = seed
        while better is not None and not control.expired():
            found = better
            better = next(_better(task, found), None)
        best = min(best, found, key=lambda each: each[0])
    return best[1]


def _better(task: Task, found: tuple[float, list[int]]) -> Iterator[tuple[float, list[int]]]:
    value, sequence = found
    for trial in _neighbours(sequence, task.workers):
        if task.allows(trial):
            end, kept = task.end(trial)
            if end < value * (1 - 1e-10):
                yield end, kept


def _neighbours(sequence: list[int], workers: int) -> Iterator[list[int]]:
    """Yield the sequences with one chunk deleted, inserted, given to another, or moved."""
    count = len(sequence)
    for place in range(count):
        yield sequence[:place] + sequence[place + 1 :]
    for place in range(count + 1):
        for worker in range(workers):
            yield [*sequence[:place], worker, *sequence[place:]]
    for place in range(count):
        for worker in range(workers):
            yield [*sequence[:place], worker, *sequence[place + 1 :]]
    for place in range(count):
        rest = sequence[:place] + sequence[place + 1 :]
        for goal in range(count):
            yield [*rest[:goal], sequence[place], *rest[goal:]]


def _affordable(work: float) -> float:
    return work if compiles() else work / SLOWER


def _searched(
    task: Task, seeds: list[tuple[float, list[int]]], work: float, control: Control
) -> Integers:
    """Return the best sequence of a threshold search from each seed."""
    return min(
        (_improved(task, seed, work / len(seeds), control) for seed in seeds),
        key=lambda each: each[0],
    )[1]


def _improved(
    task: Task, seed: tuple[float, list[int]], work: float, control: Control
) -> tuple[float, Integers]:
    from makespan.divisible.rounds.search_kernels import improve

    value, first = seed
    sequence = np.zeros(min(2 * len(first), MAX_CHUNKS) + 8 * task.workers + 100, dtype=np.int64)
    sequence[: len(first)] = first
    best, length = sequence.copy(), len(first)
    best_length, best_value = length, value
    fixed = (task.most_rounds, task.place, task.ordered)
    costs = (task.columns, task.own, task.load)
    for tolerance in PHASES:
        sequence[:best_length] = best[:best_length]
        length, value = best_length, best_value
        left = work / len(PHASES)
        while left > 0 and not control.expired():
            steps = max(1, int(_affordable(SLICE)) // (length + STEP))
            draws = control.rng.random((steps, 4))
            trial = sequence.copy()
            length, value, found_length, found = improve(
                sequence, length, value, trial, *fixed, draws, tolerance, *costs
            )
            if found < best_value:
                best, best_length, best_value = trial, found_length, found
            left -= steps * (length + STEP)
    return best_value, best[:best_length].copy()
