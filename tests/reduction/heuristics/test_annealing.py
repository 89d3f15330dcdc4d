"""Plans that are changed: what is returned is a plan, and ends as it is said to."""

from __future__ import annotations

import numpy as np
import pytest

from makespan import Reduction
from makespan.core.control import Control
from makespan.core.numeric import jit
from makespan.reduction.halves.rarest_first import Spreader
from makespan.reduction.heuristics import annealing
from makespan.reduction.heuristics.symmetry import schedule_from_copies
from makespan.reduction.referee import violations


def _problem(rng, collective):
    machines, segments = (int(each) for each in rng.integers([3, 2], [7, 6]))
    shape = (machines, machines) if rng.random() < 0.5 else ()
    latency, transfer = rng.integers(0, 4, (2, *shape)) * rng.choice([1.0, 0.1, np.pi])
    transfer = transfer + 1.0
    if shape and rng.random() < 0.5:
        transfer[-1, 1] = np.inf
    return Reduction(
        machines=machines, segments=segments, collective=collective, latency=latency,
        transfer=transfer, reduce=rng.choice([0.0, 0.5, 2.0]),
        segment_sizes=rng.integers(1, 3, segments).astype(float),
    )  # fmt: skip


PLAIN, BOTH = (False,), (False, True)


@pytest.mark.parametrize("forms", [PLAIN, pytest.param(BOTH, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("seed", range(12))
def test_changed_plans_are_plans_that_end_when_it_is_said(monkeypatch, seed, forms):
    """Both forms alike; equal times, tables, a missing link, sizes; whole times and others."""
    monkeypatch.setattr(annealing, "SLOWER", 1)
    rng = np.random.default_rng(seed)
    collective = ("broadcast", "reduce", "all-gather", "reduce-scatter")[seed % 4]
    problem = _problem(rng, collective)
    spreader = Spreader(problem, Control())
    assert spreader.run(seed, 0)
    whole = spreader.unit is not None
    found = []
    for form in forms[: 1 + whole]:  # one compiled form is enough
        monkeypatch.setattr(jit, "forced", form)
        costs = spreader.holds, *spreader.ways[:5]
        changed = annealing.Annealing(costs, spreader.huge, spreader.least, int(whole))
        changed.take(spreader.copies, float(spreader.end))
        for turn in range(3):
            before = changed.end
            changed.run(60, turn)
            assert changed.end <= before
        found.append((changed.end, changed.copies.tolist(), changed.rows.tolist()))
        schedule = schedule_from_copies(problem, changed.copies)
        assert not list(violations(problem, schedule))
        end = pytest.approx(changed.end * float(spreader.unit or 1))
        assert changed.end <= spreader.end
        assert schedule.makespan == end or (
            problem.statement.combining and schedule.makespan < changed.end * float(spreader.unit)
        )
    assert found[0] == found[-1]
