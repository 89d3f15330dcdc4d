"""Trees in compiled loops against plain ones; what the referee of trees refuses."""

from __future__ import annotations

import numpy as np
import pytest

from makespan import DivisibleLoad, Schedule, Tree, check, solve
from makespan.core.numeric import jit
from makespan.core.schedule import COLUMNS
from makespan.divisible.timing import retimed


def random_tree(seed, count, fixed):
    generator = np.random.default_rng(seed)
    parent = [-1, *(int(generator.integers(0, k)) for k in range(1, count))]
    label = generator.permutation(count)  # parents may come after their children
    above = np.empty(count, dtype=np.int64)
    above[label] = [label[node] if node >= 0 else -1 for node in parent]
    compute = generator.choice([0.5, 1.0, 2.0, np.inf], count)
    compute[int(generator.integers(count))] = 1.0
    return Tree.from_arrays(
        parent=above,
        send_per_unit=generator.choice([0.0, 0.1, 0.3], count),
        compute_per_unit=compute,
        send_fixed=fixed * generator.uniform(0.0, 1.0, count),
        compute_fixed=fixed * generator.uniform(0.0, 1.0, count),
    )


@pytest.mark.kernels
@pytest.mark.parametrize("fixed", [0.0, 0.4])
@pytest.mark.parametrize("seed", range(8))
def test_compiled_loops_do_what_plain_loops_do(seed, fixed, monkeypatch):
    """The same plan, bound and timing to the last digit, valid, and timed again the same."""
    count = int(np.random.default_rng(seed).integers(1, 60))
    results = []
    for compiled in (True, False):
        monkeypatch.setattr(jit, "forced", compiled)
        problem = DivisibleLoad(load=40.0, platform=random_tree(seed, count, fixed))
        result = solve(problem, method="affine-tree" if fixed else "tree")
        again = retimed(problem, result.schedule)
        for name in COLUMNS:
            assert getattr(again, name).tolist() == getattr(result.schedule, name).tolist()
        results.append(result)
    compiled, plain = results
    assert (compiled.makespan, compiled.lower_bound) == (plain.makespan, plain.lower_bound)
    for name in COLUMNS:
        assert getattr(compiled.schedule, name).tolist() == getattr(plain.schedule, name).tolist()


def test_a_tree_with_a_limit_of_no_time():
    """Start-ups that leave out many nodes: at once a plan as good as some node alone."""
    tree = random_tree(3, 3000, fixed=30.0)
    result = solve(DivisibleLoad(load=10.0, platform=tree), time_limit=0)
    alone = []
    for node in np.flatnonzero(np.isfinite(tree.compute_per_unit)).tolist():
        end = tree.compute_fixed[node] + 10.0 * tree.compute_per_unit[node]
        at = node
        while tree.parent[at] >= 0:
            end += tree.send_fixed[at] + 10.0 * tree.send_per_unit[at]
            at = int(tree.parent[at])
        alone.append(end)
    assert result.makespan <= np.median(alone)


ROWS = [
    ("send", 0, 1, 1, 4.0, 0.0, 4.0),
    ("send", 0, 2, 2, 2.0, 4.0, 6.0),
    ("compute", 0, -1, 0, 3.0, 0.0, 6.0),
    ("send", 1, 3, 3, 1.0, 4.0, 5.0),
    ("compute", 1, -1, 1, 3.0, 4.0, 10.0),
    ("compute", 2, -1, 2, 2.0, 6.0, 10.0),
    ("compute", 3, -1, 3, 1.0, 5.0, 7.0),
]


def reported(rows):
    tree = Tree.from_arrays(parent=[-1, 0, 0, 1], send_per_unit=1.0, compute_per_unit=2.0)
    report = check(DivisibleLoad(load=9.0, platform=tree), Schedule.of_rows(list(tree.names), rows))
    return {violation.rule for violation in report.violations}


def changed(row, **cells):
    names = ("kind", "machine", "peer", "item", "amount", "start", "end")
    rows = [list(each) for each in ROWS]
    for name, value in cells.items():
        rows[row][names.index(name)] = value
    return [tuple(each) for each in rows]


def test_the_plan_that_the_next_test_breaks_is_valid():
    assert reported(ROWS) == set()


@pytest.mark.parametrize(
    ("rows", "rules"),
    [
        (changed(1, start=3.0, end=5.0), {"one-port"}),
        (changed(0, end=5.0), {"duration", "precedence", "one-port"}),
        (changed(6, start=4.5, end=6.5), {"precedence"}),
        (changed(3, start=3.0, end=4.0), {"precedence"}),
        (changed(6, end=8.0), {"duration"}),
        (changed(2, amount=4.0, end=8.0), {"conservation"}),
        (changed(3, machine=0, start=6.0, end=7.0), {"route", "conservation", "precedence"}),
        (changed(2, kind="reduce"), {"kind", "conservation"}),
        (changed(2, peer=1), {"route"}),
        ([*ROWS, ("compute", 3, -1, 3, 1.0, 7.0, 9.0)], {"chunk"}),
        ([*ROWS[:6]], {"conservation"}),
    ],
)
def test_what_the_referee_refuses(rows, rules):
    """Each broken rule by its name, and no other."""
    assert reported(rows) == rules
