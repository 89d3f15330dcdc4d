"""Run on all ranks: random plans of all collectives, prepared, against NumPy and MPI's own.

The arguments are the first seed and how many; rank 0 prints what was wrong, and what was tried.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
from mpi4py import MPI

from makespan import Reduction, solve
from makespan.core.errors import InputError
from makespan.execute import mpi
from tests.execute.mpi.launch import made_first

comm = MPI.COMM_WORLD
NAMES = (
    *("reduce", "broadcast", "all-reduce", "all-gather", "reduce-scatter"),
    *("gather", "scatter", "all-to-all", "custom"),
)
TYPES = ("int8", "uint16", "int64", "float32", "complex128")
UNSET = 99
COMBINING = ("reduce", "all-reduce", "reduce-scatter")


def random_plan(seed: int, collective: str) -> Any:
    """Return a plan over unlike links, of which some may be missing; machines in any order."""
    rng = np.random.default_rng([seed, 0])
    ranks = comm.size
    segments = int(rng.integers(1, 2 * ranks + 2))
    if seed % 2:  # blocks of one length: every machine is dealt as many
        segments += ranks
    machines = [f"rank {rank}" for rank in rng.permutation(ranks)]
    transfer = rng.integers(1, 6, (ranks, ranks)).astype(float)
    facts: dict[str, Any] = {"machines": machines, "segments": segments, "collective": collective}
    if collective == "custom":
        facts |= custom(rng, ranks, segments)
    elif rng.random() < 0.6:  # a ring, both ways: most segments are passed on
        for one in range(ranks):
            for other in range(ranks):
                if (one - other) % ranks not in (0, 1, ranks - 1):
                    transfer[one, other] = np.inf
    sizes = rng.integers(1, 4, segments).astype(float)
    problem = Reduction(
        **facts, transfer=transfer, latency=1, reduce=1, segment_sizes=sizes if seed % 3 else None
    )
    return solve(problem, time_limit=0.05, rng=seed)


def custom(rng: np.random.Generator, ranks: int, segments: int) -> dict[str, Any]:
    """Return random machines that hold each segment before, and must hold it after."""
    combine = bool(rng.integers(2))
    before, after = [], []
    for _ in range(segments):
        holders, wanting = (
            rng.permutation(ranks)[: rng.integers(1, ranks + 1)] + 1 for _ in range(2)
        )
        if combine:
            wanting = rng.permutation(holders)[: rng.integers(1, len(holders) + 1)]
        before.append(sorted(holders.tolist()))
        after.append(sorted(wanting.tolist()))
    return {"before": before, "after": after, "combine": combine}


def counts_for(rng: np.random.Generator, problem: Any, rank_of: list[int]) -> Any:
    """Return random lengths of the blocks; 0 where a machine is dealt no segment."""
    ranks, dealt = comm.size, np.zeros(comm.size, dtype=bool)
    dealt[[rank_of[k % ranks] for k in range(problem.segments)]] = True
    if problem.collective == "all-to-all":
        return np.where(dealt, rng.integers(0, 9, (ranks, ranks)), 0)
    return np.where(dealt, rng.integers(0, 9, ranks), 0)


class Case:
    """One collective on arrays of all ranks, which every rank knows."""

    def __init__(self, seed: int, plan: Any) -> None:
        self.problem, self.seed = plan.problem, seed
        self.name = self.problem.collective
        rng = np.random.default_rng([seed, 1])
        rank_of = [int(name.split()[1]) for name in self.problem.machines]
        self.rank_of, self.root = rank_of, rank_of[0]
        self.type, self.each = str(rng.choice(TYPES)), int(rng.choice([0, 1, 3, 50, 1001]))
        self.op = "sum" if self.type == "complex128" else str(rng.choice(["sum", "max"]))
        blocks = self.name not in ("reduce", "broadcast", "all-reduce", "custom")
        few = blocks and self.problem.segments < comm.size
        self.counts = None
        if few or (blocks and rng.random() < 0.5):
            self.counts = counts_for(rng, self.problem, rank_of)
        self.in_place = bool(rng.integers(2))

    def given(self, rank: int) -> Any:
        """Return what a rank contributes, of as many elements as its form takes."""
        sums = self.counts
        if sums is None:
            own = self.name in ("gather", "all-gather")
            blocks = self.name in ("scatter", "reduce-scatter", "all-to-all")
            length = self.each * (comm.size if blocks and not own else 1)
        elif self.name == "all-to-all":
            length = int(sums[rank].sum())
        else:
            length = int(sums[rank] if self.name in ("gather", "all-gather") else sums.sum())
        values = np.random.default_rng([self.seed, 2, rank]).integers(0, 50, length)
        if self.name == "custom" and not self.problem.combine:  # all that hold it hold the same
            common = np.random.default_rng([self.seed, 2]).integers(0, 50, length)
            for part, holders in zip(self.segments(), self.problem.before, strict=True):
                if rank in [self.rank_of[machine - 1] for machine in holders]:
                    values[part] = common[part]
        return values.astype(self.type)

    def segments(self) -> list[Any]:
        """Return the places of each segment of a custom collective."""
        sizes = self.problem.sizes
        edges = np.rint(np.cumsum(sizes) / sizes.sum() * self.each).astype(int)
        return np.split(np.arange(self.each), edges[:-1])

    def ends_of(self, rank: int) -> Any:
        """Return where the blocks for each rank begin, in an array of a rank, and end."""
        counts = self.counts
        if counts is None:
            counts = np.full(comm.size, self.each)
        elif self.name == "all-to-all":
            counts = counts[rank]
        return np.concatenate([[0], np.cumsum(counts)])

    def block(self, of: int, rank: int) -> Any:
        """Return the block for a rank in what another contributes."""
        ends = self.ends_of(of)
        return self.given(of)[ends[rank] : ends[rank + 1]]

    def wanted(self, rank: int) -> Any:
        """Return what a rank must get, or None, by NumPy."""
        everyone = [self.given(other) for other in range(comm.size)]
        if self.name in COMBINING:
            combine = np.add if self.op == "sum" else np.maximum
            total = everyone[0]
            for each in everyone[1:]:
                total = combine(total, each)
            if self.name == "reduce-scatter":
                ends = self.ends_of(0)
                return total[ends[rank] : ends[rank + 1]]
            return total if self.name == "all-reduce" or rank == self.root else None
        if self.name in ("gather", "all-gather"):
            whole = self.name == "all-gather" or rank == self.root
            return np.concatenate(everyone) if whole else None
        if self.name == "scatter":
            return self.block(self.root, rank)
        if self.name == "all-to-all":
            return np.concatenate([self.block(other, rank) for other in range(comm.size)])
        return everyone[self.root] if self.name == "broadcast" else self.customized(rank, everyone)

    def customized(self, rank: int, everyone: list[Any]) -> Any:
        """Return what a rank has after a custom collective; what it need not hold is unchanged."""
        problem = self.problem
        found = everyone[rank].copy() if self.in_place else np.full_like(everyone[rank], UNSET)
        for part, holders, wanting in zip(
            self.segments(), problem.before, problem.after, strict=True
        ):
            if rank not in [self.rank_of[machine - 1] for machine in wanting]:
                continue
            parts = [everyone[self.rank_of[machine - 1]][part] for machine in holders]
            combine = np.add if self.op == "sum" else np.maximum
            total = parts[0]
            for each in parts[1:] if problem.combine else ():
                total = combine(total, each)
            found[part] = total
        return (
            found if any(self.rank_of.index(rank) + 1 in each for each in problem.after) else None
        )

    def called(self, call: Any) -> Any:
        """Call a prepared plan twice with the arrays of this rank; return what it gave."""
        rank, want, own = comm.rank, self.wanted(comm.rank), self.given(comm.rank)
        assert call.has_result == (want is not None)
        if self.name == "broadcast":
            for _ in range(2):
                array = own.copy() if rank == self.root else np.zeros_like(own)
                call(array)
            return array
        if self.name == "scatter" and rank != self.root:
            own = None
        result = None if want is None else np.full_like(want, UNSET)
        given = own
        if self.in_place and want is not None and (self.name != "scatter" or own is not None):
            return self.called_in_place(call, own, want)
        before = None if given is None else given.copy()
        for _ in range(2):
            call(given, result)
        assert before is None or np.array_equal(given, before)
        return result

    def called_in_place(self, call: Any, own: Any, want: Any) -> Any:
        """The same with MPI.IN_PLACE, where MPI takes what is contributed from the result."""
        rank, counts = comm.rank, self.ends_of(comm.rank)
        if self.name == "scatter":
            for _ in range(2):
                call(own, MPI.IN_PLACE)
            return self.block(rank, rank)
        if self.name == "all-to-all" and len(own) != len(want):
            result = np.full_like(want, UNSET)
            for _ in range(2):
                call(own, result)
            return result
        if self.name in ("gather", "all-gather"):
            array = np.full_like(want, UNSET)
            array[counts[rank] : counts[rank + 1]] = own
        else:
            array = own.copy()
        again = array.copy()
        call(MPI.IN_PLACE, array)
        array[...] = again
        call(MPI.IN_PLACE, array)
        return array[: len(want)]

    def in_proportion(self) -> None:
        """Take blocks in proportion to the sizes of their segments, as a run does."""
        if self.name in ("scatter", "reduce-scatter", "all-to-all"):
            dealt = np.zeros(comm.size)
            for segment in range(self.problem.segments):
                dealt[self.rank_of[segment % comm.size]] += self.problem.sizes[segment]
            length = self.each * comm.size + 1
            edges = np.rint(np.cumsum(dealt) / dealt.sum() * length).astype(int)
            counts = np.diff(edges, prepend=0)
            self.counts = np.tile(counts, (comm.size, 1)) if self.name == "all-to-all" else counts


def theirs(case: Case) -> Any:
    """Return what MPI's own operation gives this rank, or None where it has none."""
    rank, want, own = comm.rank, case.wanted(comm.rank), case.given(comm.rank)
    result = None if want is None else np.empty_like(want)
    op = MPI.SUM if case.op == "sum" else MPI.MAX
    counts = np.full(comm.size, case.each) if case.counts is None else case.counts
    if case.name == "custom":
        return want
    if case.name == "broadcast":
        comm.Bcast(own, root=case.root)
        return own
    if case.name == "scatter":
        comm.Scatterv([own, counts] if rank == case.root else None, result, root=case.root)
    elif case.name == "gather":
        comm.Gatherv(own, None if result is None else [result, counts], root=case.root)
    elif case.name == "all-gather":
        comm.Allgatherv(own, [result, counts])
    elif case.name == "reduce-scatter":
        comm.Reduce_scatter(own, result, counts.tolist(), op=op)
    elif case.name == "all-to-all":
        table = np.broadcast_to(counts, (comm.size, comm.size))
        comm.Alltoallv([own, table[rank]], [result, table[:, rank]])
    elif case.name == "reduce":
        comm.Reduce(own, result, op=op, root=case.root)
    else:
        comm.Allreduce(own, result, op=op)
    return result


def checked(seed: int) -> str | None:
    """Try one random plan; return what was wrong on this rank."""
    collective = NAMES[seed % len(NAMES)]
    plan = comm.bcast(made_first(comm, random_plan, seed, collective))
    case = Case(seed, plan)
    given = case.counts if comm.rank == 0 else None
    call = mpi.prepare(plan if comm.rank == 0 else None, comm, op=case.op, counts=given)
    found, want, own = case.called(call), case.wanted(comm.rank), theirs(case)
    what = f"rank {comm.rank}: {seed} {collective} {case.type} {case.each} {case.in_place}"
    if (found is None) != (want is None):
        return what
    if found is not None and not (np.array_equal(found, want) and np.array_equal(own, want)):
        return what
    return run(case, plan if comm.rank == 0 else None, what)


def run(case: Case, plan: Any, what: str) -> str | None:
    """Run the plan beside MPI's own operation; return what was wrong on this rank."""
    if case.type == "complex128":
        return None
    case.in_proportion()
    own = case.given(comm.rank)
    if case.name == "custom":
        said = "plan: MPI has no operation 'custom' to compare with"
        return refused(said, mpi.run, plan, own, comm, progress=False)
    execution = mpi.run(plan, own, comm, operation=case.op, repetitions=1, progress=False)
    found, want = execution.values, case.wanted(comm.rank)
    same = found is None if want is None else np.array_equal(found, want)
    return None if same and execution.exact and str(execution) else f"run, {what}"


def refused(what: str, call: Any, *given: Any, **options: Any) -> str | None:
    """Return what was said instead of what is expected, or None."""
    try:
        call(*given, **options)
    except InputError as error:
        return None if str(error).startswith(what) else f"{error} instead of {what}"
    return f"rank {comm.rank}: not refused, {what}"


def refusals() -> list[str | None]:
    """What does not fit is said on every rank alike, before anything is sent."""
    ranks, plans = comm.size, {}
    for name in ("reduce", "gather", "scatter", "all-to-all", "all-gather"):
        machines = [f"rank {rank}" for rank in range(ranks)]
        problem = Reduction(machines=machines, segments=ranks, transfer=1, collective=name)
        plans[name] = comm.bcast(made_first(comm, solve, problem, time_limit=0.05))
    few = Reduction(machines=ranks, segments=ranks - 1, transfer=1, collective="all-gather")
    plans["few"] = comm.bcast(made_first(comm, solve, few, time_limit=0.05))
    spread, gather = (mpi.prepare(plans[name], comm) for name in ("scatter", "all-gather"))
    sized = mpi.prepare(plans["all-gather"], comm, counts=range(ranks))
    numbers, odd = np.zeros(ranks), np.zeros(2 * ranks + 1)
    is_root = comm.rank == 0
    return [
        refused("counts: the arrays of a collective 'reduce' have no blocks",
                mpi.prepare, plans["reduce"], comm, counts=[1] * ranks),
        refused(f"counts: [1] is not {ranks}", mpi.prepare, plans["gather"], comm, counts=[1]),
        refused(f"counts: {[1] * ranks} is not {ranks} × {ranks} whole numbers of 0 or more",
                mpi.prepare, plans["all-to-all"], comm, counts=[1] * ranks),
        refused("counts: [-", mpi.prepare, plans["gather"], comm, counts=[-1] * ranks),
        refused("counts: [0.5", mpi.prepare, plans["gather"], comm, counts=[0.5] * ranks),
        refused(f"plan: deals no segment to rank {ranks - 1}; its block needs one, or a count of 0",
                mpi.prepare, plans["few"], comm),
        refused("plan: deals no segment", mpi.prepare, plans["few"], comm, counts=[1] * ranks),
        refused(f"sendbuf: has {2 * ranks + 1} elements, not {ranks} blocks of one length",
                spread, odd, numbers) if is_root else None,
        refused("sendbuf: in a scatter, MPI.IN_PLACE", spread, MPI.IN_PLACE, numbers),
        refused(f"recvbuf: has {ranks} float64; {2 * ranks} are needed",
                gather, np.zeros(2), numbers),
        refused("recvbuf: is of float64, sendbuf of int64", gather, np.zeros(1, int), numbers),
        refused(f"sendbuf: has {ranks} float64; {comm.rank} are needed",
                sized, numbers, np.zeros(sum(range(ranks)))),
        refused("recvbuf: IN_PLACE is not an array", gather, np.zeros(1), MPI.IN_PLACE),
    ]  # fmt: skip


if __name__ == "__main__":
    first, number = map(int, sys.argv[1:])
    verdicts = [checked(seed) for seed in range(first, first + number)]
    everyone = comm.gather(verdicts + (refusals() if comm.size > 1 else []))
    if comm.rank == 0:
        wrong = [each for own in everyone or [] for each in own if each]
        print(json.dumps(wrong))  # noqa: T201 - read by the test
