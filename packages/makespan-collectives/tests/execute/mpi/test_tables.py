"""The tables of operations: what they say, and that carrying them out always ends."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

from makespan import Reduction, check, solve
from makespan.execute.collectives.measuring import fitted
from makespan.execute.collectives.tables import NO_MESSAGE, Receive, Step
from makespan.execute.mpi.arrays import cuts_of
from makespan.execute.mpi.ranks import tables_of
from tests.execute.mpi.launch import random_plan
from tests.thorough import few

COLLECTIVES = ("reduce", "broadcast", "all-reduce")


def carried_out(tables, contributions, rng):
    """Carry out tables by hand, ranks taking turns at random; return what every rank ends with.

    A message is a queue between two ranks; a rank takes a message only when all it was promised
    before from that rank have come. Contributions are sets, united.
    """
    ranks, segments = len(tables), len(contributions[0])
    wires = {(i, j): deque() for i in range(ranks) for j in range(ranks)}
    arrived = [[None] * len(table.receives) for table in tables]
    held = [list(own) for own in contributions]
    final = [[None] * segments for _ in tables]
    at = [0] * ranks
    while any(at[rank] < len(tables[rank].steps) for rank in range(ranks)):
        moved = False
        for rank in rng.permutation(ranks).tolist():
            for place, expected in enumerate(tables[rank].receives):
                wire = wires[expected.source, rank]
                if arrived[rank][place] is None and wire:
                    arrived[rank][place] = wire.popleft()
            if at[rank] == len(tables[rank].steps):
                continue
            step = tables[rank].steps[at[rank]]
            if step.message == NO_MESSAGE:
                came = step.final and final[rank][step.segment] is not None
                source = final if came else held
                wires[rank, step.peer].append(
                    (step.segment, step.final, source[rank][step.segment])
                )
            else:
                message = arrived[rank][step.message]
                if message is None:
                    continue
                segment, complete, value = message
                assert (segment, complete) == (step.segment, step.final)
                if complete:
                    final[rank][segment] = value
                else:
                    assert not held[rank][segment] & value
                    held[rank][segment] |= value
            at[rank] += 1
            moved = True
        assert moved, "deadlock"
    return held, final


@pytest.mark.parametrize("collective", few(COLLECTIVES, 0))
def test_tables_end_and_combine_everything(collective):
    """Random plans end in any interleaving of the ranks, and every contribution counts once."""
    rng = np.random.default_rng(7)
    for _ in range(40):
        plan = random_plan(rng, int(rng.integers(1, 8)), collective)
        ranks = len(plan.problem.machines)
        segments = int(plan.schedule.item.max(initial=0)) + 1
        own = [[{rank} for _ in range(segments)] for rank in range(ranks)]
        held, final = carried_out(tables_of(plan.problem, plan.schedule), own, rng)
        everyone = set(range(ranks)) if collective != "broadcast" else {0}
        if ranks > 1 or collective != "broadcast":
            assert held[0] == [everyone] * segments
        if collective != "reduce":
            assert all(values == [everyone] * segments for values in final[1:])


def test_rows_of_a_table():
    """A chain of three: receives by sender, steps by planned start, each with its row."""
    problem = Reduction(machines=3, segments=1, latency=1, transfer=1, reduce=1)
    plan = solve(problem, method="chain")
    tables = tables_of(plan.problem, plan.schedule)
    assert [table.receives for table in tables] == [
        (Receive(1, 0, False, False),),
        (Receive(2, 0, False, False),),
        (),
    ]
    first = tables[1].steps
    assert [step[:4] for step in first] == [(2, 0, False, 0), (0, 0, False, NO_MESSAGE)]
    assert first[0] == Step(2, 0, False, 0, first[0].row)
    assert plan.schedule.words()[first[0].row] == "reduce"
    assert plan.schedule.words()[first[1].row] == "send"


@pytest.mark.thorough
def test_every_row_stands_in_one_table():
    """The rows of all tables are those of the schedule, each once, on the machine of the row."""
    rng = np.random.default_rng(3)
    for collective in COLLECTIVES:
        plan = random_plan(rng, 6, collective)
        tables = tables_of(plan.problem, plan.schedule)
        rows = sorted((step.row, rank) for rank, table in enumerate(tables) for step in table.steps)
        assert rows == list(enumerate(plan.schedule.machine.tolist()))


def test_times_of_zero_do_not_turn_the_order_round():
    """Where messages take no time, a send still stands behind what it waits for."""
    problem = Reduction(machines=6, segments=3, latency=0, transfer=0, reduce=0)
    plan = solve(problem, method="chain")
    assert check(plan).ok
    own = [[{rank} for _ in range(3)] for rank in range(6)]
    held, _ = carried_out(tables_of(problem, plan.schedule), own, np.random.default_rng(1))
    assert held[0] == [set(range(6))] * 3


@pytest.mark.parametrize("length", [0, 1, 2, 7, 1000])
def test_cuts_cover_the_array(length):
    """Segments cover an array of any length without gaps, in proportion to their sizes."""
    cuts = cuts_of(np.array([1.0, 2.0, 0.0, 1.0]), length)
    assert cuts[0] == 0
    assert cuts[-1] == length
    assert cuts == sorted(cuts)
    assert abs(cuts[2] - 0.75 * length) <= 0.5


def test_fitted_costs_are_never_negative():
    """Times that fall with the size, or pass below 0 at size 0, give costs of 0 or more."""
    assert fitted([1.0, 2.0, 4.0], [4.0, 2.0, 1.0])[1] == 0.0
    fixed, per_byte = fitted([1.0, 2.0, 4.0], [1.0, 3.0, 9.0])
    assert fixed == 0.0
    assert 1.0 < per_byte < 2.25
