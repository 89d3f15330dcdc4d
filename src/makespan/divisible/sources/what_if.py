"""Rates of a plan of several sources: dual values of the programme of its sequence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy

import numpy as np

from makespan.backends.highs import Programme
from makespan.backends.one_sided import SECONDS, Number, Sides, one_sided
from makespan.core.control import Control
from makespan.core.schedule import Schedule
from makespan.core.sensitivity import Varied
from makespan.divisible.model.plan import computed
from makespan.divisible.model.sources import Sources
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.sources.programme import ChunksProgramme
from makespan.divisible.sources.scaled import Scaled
from makespan.divisible.sources.sequences import sequence_of

SAME = 1e-6

Entry = tuple[str, str, str, tuple[int, ...], float]
"""The machine, the cost, the array of :class:`Scaled` and the place of it there, its value."""


def varied_sources(
    problem: DivisibleLoad, platform: Sources, schedule: Schedule, machines: Sequence[str]
) -> Varied:
    """Return the rates of a plan of several sources.

    Complexity: a linear programme, O(chunks) for each number, and a few pivots where it has a kink.
    """
    schedule = schedule.renamed(problem.machines)
    horizon = schedule.makespan if problem.load is not None else problem.deadline
    if not horizon:
        return Varied(rates=(), notes=("costs: nothing is done",))
    links, computes = sequence_of(schedule, len(platform.source_names))
    source, worker = np.array(links, dtype=np.int64).reshape(-1, 2).T

    def built(scaled: Scaled) -> ChunksProgramme:
        return ChunksProgramme(scaled, source, worker, computes)

    scaled = Scaled(problem, horizon)
    sides = Sides(built(scaled).programme)
    if not sides.answer.found:
        return Varied(rates=(), notes=("costs: the programme of the plan has no optimum",))
    out = horizon if problem.load is not None else -scaled.unit
    best = sides.answer.value * out
    value = horizon if problem.load is not None else float(computed(schedule).sum())
    notes: tuple[str, ...] = ()
    if abs(best - value) > SAME * value:
        notes = (f"costs: of the best amounts in the order of the plan, which give {best:.8g}",)

    def numbers() -> Iterator[Number]:
        for machine, cost, name, at, number in _numbers(problem, platform, set(machines)):

            def stepped(by: float, name: str = name, at: tuple[int, ...] = at) -> Programme:
                other = copy(scaled)
                setattr(other, name, _more(getattr(scaled, name), at, by))
                return built(other).programme

            measure = scaled.unit if cost == "load" else horizon
            if cost.startswith(("compute.per_unit", "send.per_unit")):
                measure = horizon / scaled.unit
            yield Number(machine, cost, number, out / measure, stepped)

    rates, more = one_sided(sides, numbers(), Control(time_limit=SECONDS))
    return Varied(rates=tuple(rates), notes=(*notes, *more))


def _more(values: object, at: tuple[int, ...], by: float) -> object:
    """Return numbers of which one is so much more."""
    if not at:
        return float(values) + by  # type: ignore[arg-type]
    more = np.array(values)
    more[at] += by
    return more


def _numbers(problem: DivisibleLoad, platform: Sources, asked: set[str]) -> list[Entry]:
    """Return the load or the deadline, and the costs of the machines that are asked for."""
    found: list[Entry] = []
    if problem.load is None:
        assert problem.deadline is not None
        found.append(("", "deadline", "end", (), problem.deadline))
    elif platform.held is None:
        found.append(("", "load", "load", (), problem.load))
    parts = (("fixed", "_fixed"), ("per_unit", ""))
    for index, name in enumerate(platform.source_names):
        if name not in asked:
            continue
        if platform.held is not None:
            found.append((name, "load", "held", (index,), float(platform.held[index])))
        for part, suffix in parts if platform.computes[index] else ():
            number = float(getattr(platform, f"own_{part}")[index])
            found.append((name, f"compute.{part}", f"own{suffix}", (index,), number))
    for index, name in enumerate(platform.names):
        if name not in asked:
            continue
        for part, suffix in parts:
            number = float(getattr(platform, f"compute_{part}")[index])
            found.append((name, f"compute.{part}", f"compute{suffix}", (index,), number))
        for source in np.flatnonzero(np.isfinite(platform.send_per_unit[:, index])).tolist():
            for part, suffix in parts:
                number = float(getattr(platform, f"send_{part}")[source, index])
                cost = f"send.{part} from {platform.source_names[source]}"
                found.append((name, cost, f"send{suffix}", (source, index), number))
    return found
