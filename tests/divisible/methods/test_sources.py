"""Several sources: every plan, bound and proof against all orders of sends."""

from __future__ import annotations

import json
import math
import random

import numpy as np
import pytest

from makespan import (
    Affine,
    DivisibleLoad,
    ProblemError,
    Source,
    Sources,
    Star,
    Worker,
    check,
    methods,
    read_problem,
    save,
    sensitivity,
    simulate,
    solve,
)
from makespan.core.schedule import Schedule
from makespan.divisible.bounds import bounds
from makespan.divisible.generate import generate
from makespan.divisible.referee import violations
from tests.divisible.test_any_problem import checked
from tests.oracles.divisible_sources import best_of_sources, random_sources
from tests.thorough import few


@pytest.mark.parametrize("seed", few(120, 2))
def test_whatever_is_said_of_small_problems_is_true(seed: int) -> None:
    """All fields together: bounds hold, no method beats all orders, and claims are right."""
    problem = random_sources(random.Random(seed))
    known = best_of_sources(problem)
    if known is not None and problem.load is not None:
        for bound in bounds(problem):
            assert bound.value <= known * (1 + 1e-7) + 1e-9, bound
    able = [verdict.name for verdict in methods(problem) if verdict.applies]
    assert set(able) <= {"source-flows", "source-programme", "source-search"}
    for method in ("auto", *able):
        checked(problem, method, known, exact=True)


@pytest.mark.parametrize("seed", few(30, 1))
def test_small_problems_are_decided(seed: int) -> None:
    """With one or two chunks a link, the best plan is found, or that there is none."""
    problem = random_sources(random.Random(1000 + seed))
    known = best_of_sources(problem)
    result = solve(problem, time_limit=60)
    if known is None:
        assert result.status == "infeasible"
        return
    value = result.makespan if problem.load is not None else result.objective.value
    assert value == pytest.approx(known, rel=3e-6, abs=3e-6)


def two(**fields: object) -> DivisibleLoad:
    """Two sources, the second later, and three workers."""
    sources = [
        Source(load=6.0, send=[1.0, 2.0, 0.5], compute=6.0),
        Source(name="late", load=4.0, send=[2.0, Affine(1.0, 1.0), math.inf], release=2.0),
    ]
    crew = [Worker(compute=3.0), Worker(compute=5.0, memory=3.0), Worker(compute=4.0)]
    return DivisibleLoad(platform=Sources(sources, crew), **fields)


def test_one_source_is_a_star() -> None:
    """With one source, the closed form of the star holds."""
    crew = [Worker(send=1.0, compute=3.0), Worker(send=2.0, compute=5.0)]
    one = DivisibleLoad(load=10.0, platform=Sources([Source()], crew))
    star = DivisibleLoad(load=10.0, platform=Star(crew))
    assert solve(one, time_limit=60).makespan == pytest.approx(solve(star).makespan, rel=1e-6)


def test_copies_of_one_load_are_no_worse_than_parts_of_it() -> None:
    """A load that all sources hold can be sent as if each held a part."""
    parts = two()
    shared = [Source(send=each.send, compute=each.compute, release=each.release)
              for each in parts.platform.sources]  # fmt: skip
    copies = DivisibleLoad(load=10.0, platform=Sources(shared, parts.platform.workers))
    ends = [solve(problem, time_limit=60).makespan for problem in (copies, parts)]
    assert ends[0] <= ends[1] * (1 + 1e-6)


def test_the_plan_survives_files_pictures_and_noise(tmp_path) -> None:
    """Files give the same problem, JSON has no infinity, disturbed runs keep the plan."""
    problem = two()
    for name in ("x.toml", "x.json"):
        save(problem, tmp_path / name)
        assert read_problem(tmp_path / name) == problem
    json.loads((tmp_path / "x.json").read_text("utf-8"), parse_constant=pytest.fail)
    result = solve(problem, time_limit=60)
    assert check(result).ok
    assert result.answer["sends"]["late"] == pytest.approx(4.0)
    assert sum(result.answer["loads"].values()) == pytest.approx(10.0)
    assert {chunk["source"] for chunk in result.answer["chunks"]} == {"S1", "late"}
    noisy = simulate(result, noise=0.1, repetitions=5, rng=1)
    assert noisy.mean > 0
    assert "S1" in str(result)


def test_rates_are_what_small_changes_make() -> None:
    """Dual values of costs and loads against plans of the same order with a cost changed."""
    result = solve(two(), time_limit=60)
    rates = {(rate.machine, rate.cost): rate for rate in sensitivity(result).rates}
    step = 1e-4
    changed = [
        (("S1", "compute.per_unit"), {0: {"compute": 6.0 + step}}, {}),
        (("S1", "load"), {0: {"load": 6.0 + step}}, {}),
        (("P1", "compute.per_unit"), {}, {0: {"compute": 3.0 + step}}),
        (("P2", "send.fixed from late"), {1: {"send": [2.0, Affine(1.0 + step, 1.0), math.inf]}},
         {}),
    ]  # fmt: skip
    platform = result.problem.platform
    for key, sources, workers in changed:
        more = Sources(
            [_with(each, sources.get(at, {})) for at, each in enumerate(platform.sources)],
            [_with(each, workers.get(at, {})) for at, each in enumerate(platform.workers)],
        )
        end = solve(DivisibleLoad(platform=more), time_limit=60).makespan
        assert (end - result.makespan) / step == pytest.approx(rates[key].change, abs=0.02), key


def _with(thing, fields):
    values = {name: getattr(thing, name) for name in thing.__dataclass_fields__}
    return type(thing)(**{**values, **fields})


def _broken() -> list[tuple[str, list[tuple]]]:
    """Plans of ``statement`` below, each with one fault, and the rule that it breaks."""
    good = [
        ("send", 0, 2, 0, 2.0, 0.0, 2.0),
        ("compute", 2, -1, 0, 2.0, 2.0, 4.0),
        ("send", 1, 2, 1, 2.0, 2.0, 4.0),
        ("compute", 2, -1, 1, 2.0, 4.0, 6.0),
    ]

    def put(row: int, **changes: float) -> list[tuple]:
        names = ("kind", "machine", "peer", "item", "amount", "start", "end")
        values = dict(zip(names, good[row], strict=True)) | changes
        return [*good[:row], tuple(values.values()), *good[row + 1 :]]

    return [
        ("", good),
        ("duration", put(2, end=3.5)),
        ("release", put(2, start=0.5, end=2.5)),
        ("reception", put(2, start=1.5, end=3.5)),
        ("precedence", put(1, start=1.0, end=3.0)),
        ("processor", put(3, start=3.0, end=5.0)),
        ("route", put(2, peer=3)),
        ("route", put(3, peer=0)),
        ("chunk", good[:3]),
        ("master", [*good, ("compute", 0, -1, 2, 1.0, 0.0, 1.0)]),
        ("conservation", [*put(0, machine=1)]),
        ("rounds", [*good, ("send", 0, 2, 2, 1.0, 4.0, 5.0), ("compute", 2, -1, 2, 1.0, 6.0, 7.0)]),
    ]


@pytest.mark.parametrize("index", range(12))
def test_the_referee_finds_each_fault(index: int) -> None:
    """One fault at a time is told by its rule; the plan without any is valid."""
    sources = [Source(load=2.0, send=[1.0, 1.0]),
               Source(load=2.0, send=[1.0, math.inf], release=1.0)]  # fmt: skip
    crew = [Worker(compute=1.0), Worker(compute=1.0)]
    statement = DivisibleLoad(platform=Sources(sources, crew))
    rule, rows = _broken()[index]
    found = {
        each.rule for each in violations(statement, Schedule.of_rows(statement.machines, rows))
    }
    assert (rule in found) if rule else not found


def test_ports_of_sources_and_links_are_told() -> None:
    """A source sends to one worker at a time; with ports 'many', a link carries one chunk."""
    crew = [Worker(compute=1.0), Worker(compute=1.0)]
    platform = Sources([Source(send=1.0)], crew)
    rows = [
        ("send", 0, 1, 0, 1.0, 0.0, 1.0),
        ("compute", 1, -1, 0, 1.0, 1.0, 2.0),
        ("send", 0, 2, 1, 1.0, 0.5, 1.5),
        ("compute", 2, -1, 1, 1.0, 1.5, 2.5),
    ]
    for ports, rules in ((1, {"one-port"}), ("many", set())):
        problem = DivisibleLoad(load=2.0, platform=platform, ports=ports)
        plan = Schedule.of_rows(problem.machines, rows)
        assert {each.rule for each in violations(problem, plan)} == rules
    both = [*rows[:2], ("send", 0, 1, 1, 1.0, 0.5, 1.5), ("compute", 1, -1, 1, 1.0, 2.0, 3.0)]
    problem = DivisibleLoad(load=2.0, platform=platform, ports="many", rounds=2)
    found = violations(problem, Schedule.of_rows(problem.machines, both))
    assert {each.rule for each in found} == {"link"}


@pytest.mark.parametrize(
    ("sources", "workers", "fields", "said"),
    [
        ([], [{}], {"load": 1.0}, "platform.sources: is empty"),
        ([{"load": 1.0}, {}], [{}], {}, r"platform.sources\[1\].load: is missing"),
        ([{"load": 1.0}], [{}], {"load": 2.0}, "load: 2.0 is not what the sources hold"),
        ([{}], [{}], {}, "load: is missing"),
        ([{"send": [1.0, 2.0]}], [{}], {"load": 1.0}, r"sources\[0\].send: has 2 entries for 1"),
        ([{"send": [-1.0]}], [{}], {"load": 1.0}, r"sources\[0\].send\[0\].per_unit: -1.0"),
        ([{"send": -1.0}], [{}], {"load": 1.0}, r"sources\[0\].send.per_unit: -1.0"),
        ([{}], [{"send": -1.0}], {"load": 1.0}, r"workers\[0\].send.per_unit: -1.0"),
        ([{"release": -1.0}], [{}], {"load": 1.0}, r"sources\[0\].release: -1.0"),
        ([{"compute": -1.0}], [{}], {"load": 1.0}, r"sources\[0\].compute.per_unit: -1.0"),
        ([{"load": -1.0}], [{}], {}, r"sources\[0\].load: -1.0"),
        ([{"name": "A"}, {"name": "A"}], [{}], {"load": 1.0}, "'A' is also the name of"),
        ([{"name": "A"}], [{"name": "A"}], {"load": 1.0}, "'A' is also the name of"),
        ([{}], [{"return": 1.0}], {"load": 1.0}, r"workers\[0\].return: is for stars"),
        ([{}], [{"price": 1.0}], {"load": 1.0}, r"workers\[0\].price: is for stars"),
        ([{}], [{}], {"load": 1.0, "budget": 1.0}, "budget: is for stars"),
        ([{}], [{}], {"load": 1.0, "integral": True}, "integral: is for stars"),
        ([{}], [{}], {"load": 1.0, "front_end": False}, "front_end: is for stars"),
        ([{}], [{}], {"load": 1.0, "order": ["P1"]}, "order: is for stars"),
    ],
)
def test_mistakes_are_named(sources, workers, fields, said) -> None:
    """What is wrong, or unknown to several sources, is told with its place."""
    with pytest.raises(ProblemError, match=said):
        DivisibleLoad(platform=Sources(sources, workers), **fields)


def test_a_load_that_nobody_can_send_is_proved_to_have_no_plan() -> None:
    """A source without links that does not compute keeps its load."""
    sources = [Source(load=1.0, send=[math.inf]), Source(load=1.0, send=[1.0])]
    result = solve(DivisibleLoad(platform=Sources(sources, [Worker(compute=1.0)])))
    assert result.status == "infeasible"


def test_many_links_have_a_plan_near_the_bound() -> None:
    """Of two sources and five workers without latencies, several chunks come near the bound."""
    problem = generate(
        np.random.default_rng(1), topology="sources", sources=2, workers=5, ratio=3.0
    )
    many = DivisibleLoad(platform=problem.platform, rounds="auto")
    result = solve(many, method="source-flows", time_limit=60)
    assert result.gap < 0.05


def test_numbers_too_far_apart_for_a_solver_end_in_words() -> None:
    """A worker that computes a unit in 1e-99 s: the programme finds nothing, no traceback comes."""
    problem = read_problem(
        {
            "kind": "divisible",
            "rounds": 1,
            "platform": {
                "topology": "sources",
                "workers": [
                    {"name": "A1", "compute": 3.0},
                    {"name": "A2", "compute": 1e-99},
                    {"name": "B1", "compute": 2.0, "release": 10.0},
                ],
                "sources": [
                    {"name": "site A", "load": 30.0, "send": [0.5, 0.5, 1.5]},
                    {"name": "site B", "load": 60.0, "send": [0.5, 0.5, 2.0], "compute": 8.0},
                ],
            },
        }
    )
    result = solve(problem, time_limit=1)
    assert result.schedule is None or check(problem, result.schedule).valid
    assert result.lower_bound is None or result.lower_bound <= 60.0
