"""The rules of order: as every leaf at every step says, and with few looks at each send."""

from __future__ import annotations

import numpy as np
import pytest

from makespan.reduction.halves import trees
from makespan.reduction.heuristics import order as rules
from makespan.reduction.referee import given
from tests.oracles.reduction_rule import order_of_rule

LOOKS = 12  # at a send, at most


def _case(rng, machines, segments, top, shapes):
    """Return random trees, ``shapes`` of them, and tables of whole times below ``top``."""
    trees = []
    for _ in range(shapes):
        names = [0, *rng.permutation(np.arange(1, machines)).tolist()]
        above = {name: names[rng.integers(place)] for place, name in enumerate(names) if place}
        trees.append([above.get(machine, 0) for machine in range(machines)])
    parents = np.array(trees).T[:, rng.integers(shapes, size=segments)]
    latency, transfer = rng.integers(0, top, (2, machines, machines))
    return parents, latency, transfer, rng.integers(0, top, machines), rng.integers(1, 3, segments)


def _orders(parents, latency, transfer, reduce, size, backfilling):
    """Return the order of the solver's loop and of the referee's, and the tables of an oracle."""
    kind = rules.BACKFILLING if backfilling else rules.GREEDY
    none, running = np.zeros((0, 0), dtype=np.int64), np.zeros(1, dtype=np.int64)
    sender, segment, _ = rules.commit.at(parents.size)(
        parents, none, transfer, latency, reduce, size, kind, running
    )  # fmt: skip
    machines = np.arange(len(parents))[:, None]
    tables = latency[machines, parents], transfer[machines, parents] * size, reduce[parents] * size
    theirs = given._turns.at(parents.size)(
        parents, *(table.astype(float) for table in tables), backfilling
    )
    return np.column_stack([sender, segment]).tolist(), theirs.tolist(), tables


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("backfilling", [True, False])
def test_both_loops_take_the_leaf_that_can_start_first(backfilling):
    """Also where sends take no time, latencies differ, and much starts at one moment."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        machines, segments, top = rng.integers([2, 1, 2], [7, 8, 6])
        case = _case(rng, machines, segments, top, int(rng.integers(1, segments + 1)))
        ours, theirs, tables = _orders(*case, backfilling)
        assert ours == order_of_rule(case[0], *tables, backfilling=backfilling)
        assert theirs == ours


@pytest.mark.parametrize("shapes", [1, 2])
@pytest.mark.parametrize("module", [rules, given])
def test_what_a_send_takes_does_not_grow_with_the_segments(monkeypatch, module, shapes):
    """Of all segments that wait for one port, only the first is looked at again."""
    looks = [0]

    def counted(heap, entry, push=module.heappush):
        looks[0] += 1
        push(heap, entry)

    rng = np.random.default_rng(4)
    case = _case(rng, 6, 300, 20, shapes)
    monkeypatch.setattr(module, "heappush", counted)
    _orders(*case, backfilling=True)
    assert looks[0] <= LOOKS * 5 * 300


def test_the_depths_of_a_long_chain_take_few_steps(monkeypatch):
    """A machine's depth is that of its parent and one more; ways are doubled, not walked."""
    chain, binary = trees.chain(999, 0), trees.binary(999, 0)
    parents = np.stack([chain, binary], axis=1)
    steps = [0]

    def counted(*arguments, take=np.take_along_axis, **named):
        steps[0] += 1
        return take(*arguments, **named)

    monkeypatch.setattr(np, "take_along_axis", counted)
    depth = trees.depths(parents)
    assert depth[0].tolist() == [0, 0]
    assert (depth[1:] == 1 + np.stack([depth[chain, 0], depth[binary, 1]], axis=1)[1:]).all()
    assert steps[0] < 30
