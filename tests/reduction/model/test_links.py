"""Missing links: what can be done over the others, by whom it is forwarded, and what can't."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import count
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import makespan
from makespan import ProblemError, Reduction
from makespan.reduction.model import homes_of, unreachable
from tests.oracles import reduction_brute as oracle
from tests.reduction.test_claims import all_are_true, held
from tests.thorough import few


def made(seed: int) -> tuple[Reduction, float | None]:
    """Return a problem that can be done, with missing links, and its optimum."""
    rng = random.Random(seed)
    while True:
        try:
            problem = oracle.random_problem(rng, missing=0.25)
        except ProblemError:
            continue
        if problem.links is not None and oracle.covers(problem):
            return problem, oracle.best(problem)


def ring(machines: int, **others: Any) -> Reduction:
    """Return a collective on a ring of equal links, both ways."""
    away = np.abs(np.subtract.outer(np.arange(machines), np.arange(machines)))
    transfer = np.where((away == 1) | (away == machines - 1), 1.0, inf)
    return Reduction(**{"machines": machines, "segments": machines, "transfer": transfer, **others})


@pytest.mark.parametrize("seed", few(200, 6))
def test_methods_and_bounds_claim_only_what_is_true(seed: int) -> None:
    """Every method that applies, CP-SAT on some; every bound, and the grain."""
    without = ("cp-sat",) if seed >= 30 else ()
    all_are_true(*made(seed), without=without, exact=("cp-sat",), time_limit=2.0)


@pytest.mark.parametrize("seed", range(1000, 1030))
def test_auto_always_has_a_plan(seed: int) -> None:
    """Whatever is missing; only given sequences may never end."""
    problem, best = made(seed)
    result = makespan.solve(problem, time_limit=0.5)
    assert (result.makespan is None) == (best is None)
    held(result, best)


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize(
    "collective", few(["gather", "all-to-all", "scatter", "all-gather"], 2, thorough=4)
)
def test_rarest_first_forwards_with_both_forms_of_its_loop(collective: Any) -> None:
    problem = ring(5, collective=collective, latency=0.5)
    result = makespan.solve(problem, method="rarest-first", restarts=3, rebuilds=3)
    assert makespan.check(result).ok
    assert result.makespan <= makespan.solve(problem, method="shortest-paths").makespan


@pytest.mark.parametrize("seed", range(150))
def test_what_is_refused_has_no_way(seed: int) -> None:
    """A problem is refused for want of links just where no way of a segment is left."""
    rng = random.Random(seed)
    for _ in count():
        problem = oracle.random_problem(rng)
        machines = len(problem.machines)
        if problem.segments != "auto" and 2 <= machines <= 3:
            break
    links = np.array(
        [[i != j and rng.random() < 0.5 for j in range(machines)] for i in range(machines)]
    )
    done, homes = set(), set()
    for segment, (before, after) in enumerate(oracle._ends(problem)):
        for way in oracle._ways(machines, before, after, problem.statement.combining):
            if all(links[i, j] for i, j, _ in way):
                done.add(segment)
                gone = {i for i, _, final in way if not final}
                homes |= {(home, segment) for home in before - gone}
    refused = list(unreachable(problem.statement, links, problem.machines))
    assert bool(refused) == (len(done) < problem.items)
    assert not {segment for segment, _ in refused} & done
    if problem.statement.combining:
        found = homes_of(problem.statement, links)
        assert set(zip(*(each.tolist() for each in np.nonzero(found)), strict=True)) == homes


def test_refusals_name_the_machines() -> None:
    """What can't be done says who can't be reached; a given plan, which link it lacks."""
    table = [[0, inf, 1], [1, 0, 1], [inf, inf, 0]]
    for collective, said in (
        ("broadcast", "S1 has no way to M2 from a machine that holds it"),
        ("reduce", "S1 has no way from M3 to M1 by machines that hold a part"),
        ("all-reduce", "and none by another home"),
    ):
        with pytest.raises(ProblemError, match=said):
            Reduction(machines=3, segments=2, transfer=table, collective=collective)
    table[2][0] = 1
    with pytest.raises(ProblemError, match=r"destinations\[2\]\[0\]: no link leads from M3 to M2"):
        Reduction(machines=3, segments=1, transfer=table, destinations=[[1], [1], [2]])
    with pytest.raises(ProblemError, match="transfer: inf is infinite"):
        Reduction(machines=3, segments=1, transfer=inf)


def test_referee_refuses_sends_over_missing_links() -> None:
    problem = ring(4, collective="gather")
    direct = makespan.solve(replace(problem, transfer=1.0))
    report = makespan.check(problem, direct.schedule)
    assert any("M3 sends S3 to M1, but there is no link" in str(each) for each in report.violations)


def test_files_hold_missing_links(tmp_path: Path) -> None:
    """In TOML as inf, in JSON as null."""
    problem = ring(4, collective="scatter", latency=0.5)
    for name in ("problem.toml", "problem.json"):
        makespan.save(problem, tmp_path / name)
        assert makespan.read_problem(tmp_path / name) == problem
    assert "null" in (tmp_path / "problem.json").read_text()


@pytest.mark.thorough
def test_open_number_of_segments() -> None:
    """Latencies may be missing where the number of segments is open; methods need fit links."""
    latency = [[inf, 1, inf, inf], [1, inf, 1, 1], [inf, 1, inf, inf], [inf, 1, inf, inf]]
    for collective in ("reduce", "broadcast", "all-reduce"):
        problem = Reduction(
            machines=4, segments="auto", latency=latency, bytes=64.0, message_overhead=1.0,
            transfer_per_byte=0.5, collective=collective,
        )  # fmt: skip
        result = makespan.solve(problem, time_limit=0.3)
        assert makespan.check(result).ok
        assert result.makespan >= result.lower_bound


def test_all_pictures_and_pages(tmp_path: Path) -> None:
    """A plan over missing links is drawn, and so is the problem."""
    problem = ring(4, collective="all-to-all", segments=1)
    result = makespan.solve(problem, time_limit=2.0)
    makespan.save(result, tmp_path / "plan.html")
    for what in (problem, result):
        makespan.save(what, tmp_path / "picture.svg", view="graph")
        assert ">inf" not in (tmp_path / "picture.svg").read_text()
