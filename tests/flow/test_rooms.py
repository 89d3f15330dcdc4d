"""The rooms of each kind are what the flow expects; the type checker reads this file, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

from makespan.core.kind import (
    Answer,
    Bounds,
    File,
    Generate,
    HasAlternatives,
    HasDeadline,
    HasGrain,
    HasGroups,
    HasLimits,
    HasMinimumTime,
    HasPostprocessing,
    HasReplay,
    HasVariants,
    Kind,
    Methods,
    OffersCopies,
    Pictures,
    ReadsFolder,
    Referee,
    Timing,
)
from makespan.core.problem import Problem
from makespan.core.schedule import Schedule
from makespan.flow.kinds import KINDS
from makespan.flow.solve import solve

Own = TypeVar("Own", bound=Problem)


def plan(problem: Problem) -> Schedule:
    found = solve(problem, time_limit=0.3).schedule
    assert found is not None
    return found


def enter(
    own: type[Own],
    answer: Answer[Own],
    bounds: Bounds[Own],
    file: File[Own],
    generate: Generate[Own],
    methods: Methods,
    pictures: Pictures[Own],
    referee: Referee[Own],
    timing: Timing[Own],
    beside: ReadsFolder[Own] | None = None,
    grained: HasGrain[Own] | None = None,
    replayed: HasReplay[Own] | None = None,
    weighty: HasPostprocessing[Own] | None = None,
    lasting: HasMinimumTime[Own] | None = None,
    coloured: HasGroups[Own] | None = None,
    choosing: HasAlternatives[Own] | None = None,
    limiting: HasLimits[Own] | None = None,
    dated: HasDeadline[Own] | None = None,
    varying: HasVariants[Own] | None = None,
    copying: OffersCopies[Own] | None = None,
) -> None:
    """Make a problem, write and read it, plan it, and take the plan through every room."""
    kind = KINDS[own.kind]
    entered = (answer, bounds, file, generate, methods, pictures, referee, timing)
    assert entered == (
        kind.answer, kind.bounds, kind.file, kind.generate, kind.methods, kind.pictures,
        kind.referee, kind.timing,
    )  # fmt: skip
    problem = generate.generate(np.random.default_rng(7))
    assert isinstance(problem, own)
    data = file.write(problem)
    assert file.read(data) == problem
    assert file.schema()["properties"].keys() >= data.keys()
    schedule = plan(problem)
    assert list(referee.violations(problem, schedule)) == []
    late = timing.retimed(problem, schedule, np.full(len(schedule), 2.0))
    assert late.makespan > schedule.makespan
    assert timing.retimed(problem, schedule).makespan <= schedule.makespan * (1 + 1e-9)
    for bound in bounds.bounds(problem):
        assert bound.value <= schedule.makespan * (1 + 1e-9)
        assert bound.name
        assert bound.source
    assert answer.answer(problem, schedule)
    assert answer.lines(problem, schedule)
    assert len(pictures.picture(problem, schedule).bars) > 0
    assert methods.AUTO
    assert (coloured is not None) == isinstance(kind.pictures, HasGroups)
    assert (choosing is not None) == isinstance(kind.pictures, HasAlternatives)
    assert (limiting is not None) == isinstance(kind.bounds, HasLimits)
    assert (dated is not None) == isinstance(kind.bounds, HasDeadline)
    assert (varying is not None) == isinstance(kind.what_if, HasVariants)
    assert (copying is not None) == isinstance(kind.what_if, OffersCopies)
    assert choosing is None or choosing.alternatives(problem, {}) == []
    optional(kind, problem, schedule, data, beside, grained, replayed, weighty, lasting)


def optional(
    kind: Kind,
    problem: Own,
    schedule: Schedule,
    data: dict[str, Any],
    beside: ReadsFolder[Own] | None,
    grained: HasGrain[Own] | None,
    replayed: HasReplay[Own] | None,
    weighty: HasPostprocessing[Own] | None,
    lasting: HasMinimumTime[Own] | None,
) -> None:
    """The kind finds what it has, and what stands for the rest."""
    assert (beside is not None) == isinstance(kind.file, ReadsFolder)
    assert (grained is not None) == isinstance(kind.bounds, HasGrain)
    assert (replayed is not None) == isinstance(kind.timing, HasReplay)
    assert (weighty is not None) == isinstance(kind.timing, HasPostprocessing)
    assert kind.read(data, Path()) == problem
    assert kind.grain(problem) == (grained.grain(problem) if grained else None)
    assert (lasting is not None) == isinstance(kind.timing, HasMinimumTime)
    assert kind.minimum_seconds(problem) == (lasting.minimum_seconds(problem) if lasting else 0.0)
    assert kind.postprocessing_seconds(problem) == (
        weighty.postprocessing_seconds(problem) if weighty else 0.0
    )
    ends = kind.replay(problem, schedule, 2).makespans(np.full((2, len(schedule)), 2.0))
    slow = float(kind.timing.retimed(problem, schedule, np.full(len(schedule), 2.0)).makespan)
    assert ends == pytest.approx([slow, slow])
    assert 0.0 <= kind.met_within < 1e-6


def test_divisible() -> None:
    """Divisible loads have a policy room besides."""
    from makespan.divisible import (  # fmt: skip
        answer,
        bounds,
        file,
        generate,
        methods,
        pictures,
        problem,
        referee,
        timing,
        what_if,
    )

    enter(
        problem.DivisibleLoad, answer, bounds, file, generate, methods, pictures, referee,
        timing, choosing=pictures, replayed=timing, varying=what_if, copying=what_if,
        limiting=bounds, dated=bounds,
    )  # fmt: skip
    assert KINDS["divisible"].policy("factoring") is not None
    assert KINDS["divisible"].policy("no such policy") is None
    assert KINDS["independent"].policy("factoring") is None


def test_independent() -> None:
    """Every room of ``makespan.independent``."""
    from makespan.independent import (  # fmt: skip
        answer,
        bounds,
        file,
        generate,
        methods,
        pictures,
        problem,
        referee,
        timing,
        what_if,
    )

    enter(
        problem.IndependentTasks, answer, bounds, file, generate, methods, pictures, referee,
        timing, grained=bounds, replayed=timing, weighty=timing, copying=what_if,
    )  # fmt: skip


def test_pipeline() -> None:
    """Every room of ``makespan.pipeline``."""
    from makespan.pipeline import (  # fmt: skip
        answer,
        bounds,
        file,
        generate,
        methods,
        pictures,
        problem,
        referee,
        timing,
    )

    enter(
        problem.Pipeline, answer, bounds, file, generate, methods, pictures, referee, timing,
        beside=file, replayed=timing, weighty=timing, coloured=pictures, choosing=pictures,
        limiting=bounds,
    )  # fmt: skip


def test_partition() -> None:
    """Every room of ``makespan.partition``."""
    from makespan.partition import (  # fmt: skip
        answer,
        bounds,
        file,
        generate,
        methods,
        pictures,
        problem,
        referee,
        timing,
    )

    enter(
        problem.Partition, answer, bounds, file, generate, methods, pictures, referee, timing,
        beside=file, grained=bounds, choosing=pictures,
    )  # fmt: skip


def test_reduction() -> None:
    """Every room of ``makespan.reduction``."""
    from makespan.reduction import (  # fmt: skip
        answer,
        bounds,
        file,
        generate,
        methods,
        pictures,
        problem,
        referee,
        timing,
    )

    enter(
        problem.Reduction, answer, bounds, file, generate, methods, pictures, referee, timing,
        grained=bounds, replayed=timing, weighty=timing, lasting=timing, coloured=pictures,
    )  # fmt: skip


def test_taskgraph() -> None:
    """Every room of ``makespan.taskgraph``."""
    from makespan.taskgraph import (  # fmt: skip
        answer,
        bounds,
        file,
        generate,
        methods,
        pictures,
        problem,
        referee,
        timing,
    )

    enter(
        problem.TaskGraph, answer, bounds, file, generate, methods, pictures, referee, timing,
        grained=bounds, replayed=timing, weighty=timing, coloured=pictures, choosing=pictures,
        limiting=bounds, dated=bounds,
    )  # fmt: skip
