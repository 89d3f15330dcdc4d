"""Every combination of fields has a method, and sequences are sized and searched as well as any."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from makespan import (
    Affine,
    Convex,
    DivisibleLoad,
    Master,
    MethodError,
    ProblemError,
    Star,
    Worker,
    solve,
)
from makespan.core.registry import applicability, find_method, within_reach
from makespan.divisible.methods import AUTO
from tests.oracles.divisible_any import best, covers
from tests.thorough import few

FIELDS: dict[str, dict[str, Any]] = {
    "ordered": {"order": ["P2", "P1"]},
    "activation": {"activation": ["P1", "P2", "P1"]},
    "return order": {"return_order": ["P2", "P1"]},
    "fifo": {"discipline": "fifo"},
    "lifo": {"discipline": "lifo"},
    "transfers": {"transfers": [("send", "P1"), ("send", "P2"), ("send", "P1")]},
    "given loads": {"loads": {"P1": 4.0, "P2": 6.0}},
    "everyone": {"use": "all"},
    "no front end": {"front_end": False},
    "whole": {"integral": True},
    "by a time": {"deadline": 60.0},
    "the most": {"load": None, "deadline": 20.0},
    "two rounds": {"rounds": 2},
    "any rounds": {"rounds": "auto"},
    "two ports": {"ports": 2},
    "links": {"ports": "many"},
    "budget": {"budget": 30.0},
}
WORKERS: dict[str, dict[str, Any]] = {
    "start-ups": {"send": Affine(0.5, 1.0), "compute": Affine(0.5, 3.0)},
    "beyond": {"compute": Convex(0.5, 3.0, ((2.0, 5.0), (4.0, 9.0)))},
    "returns": {"return_": 0.5},
    "memory": {"memory": 5.0},
    "release": {"release": 2.0},
    "deadlines": {"deadline": 40.0},
    "prices": {"price": Affine(1.0, 2.0)},
}
MASTERS: dict[str, Any] = {
    "own": Master(compute=Affine(0.5, 4.0)),
    "open master": "choose",
    "one send": Master(sends=1),
    "uplink": Master(uplink=0.7),
}


def built(*features: str) -> DivisibleLoad | None:
    """Return the problem with some features, None where they contradict each other."""
    fields: dict[str, Any] = {"load": 10.0}
    worker: dict[str, Any] = {"send": 1.0, "compute": 3.0}
    master: Any = Master()
    for feature in features:
        given = FIELDS.get(feature, {})
        if any(name in fields and fields[name] != given[name] for name in given if name != "load"):
            return None
        fields |= given
        worker |= WORKERS.get(feature, {})
        if feature in MASTERS:
            master = MASTERS[feature]
            if feature in ("one send", "uplink"):
                fields["ports"] = "many"
    if "return_" in worker and "transfers" in fields:
        back = [("return", name) for name in ("P1", "P1", "P2")]
        fields["transfers"] = [*fields["transfers"], *back]
    workers = [Worker(name=name, **worker) for name in ("P1", "P2")]
    try:
        return DivisibleLoad(platform=Star(workers, master=master), **fields)
    except ProblemError:
        return None


def is_taken(problem: DivisibleLoad) -> bool:
    """Whether some method of ``auto`` takes a problem."""
    able = (find_method("divisible", name) for name in AUTO)
    return any(
        applicability(each, problem).applies and within_reach(each, problem) for each in able
    )


@pytest.mark.parametrize("size", few([1, 2, 3], 1, thorough=3))
def test_no_combination_is_refused(size: int) -> None:
    """Some method takes any one, two or three features that do not contradict each other."""
    features = [*FIELDS, *WORKERS, *MASTERS]
    stated = [(each, built(*each)) for each in combinations(features, size)]
    assert not [each for each, problem in stated if problem and not is_taken(problem)]
    assert sum(problem is not None for _, problem in stated) > len(stated) / 2


@pytest.mark.parametrize(
    "features",
    [
        ("links", "memory"),
        ("links", "release", "start-ups"),
        ("links", "deadlines", "returns"),
        ("links", "fifo", "returns"),
        ("links", "everyone", "start-ups"),
        ("one send", "returns"),
        ("one send", "lifo", "returns", "start-ups"),
        ("one send", "the most"),
        ("links", "two rounds", "start-ups"),
        ("activation", "budget", "prices"),
        ("activation", "deadlines", "start-ups"),
        ("activation", "the most"),
        ("given loads", "two rounds"),
        ("two rounds", "release"),
        ("two rounds", "deadlines", "own"),
        ("two rounds", "budget", "prices", "start-ups"),
        ("two rounds", "everyone", "start-ups"),
        ("returns", "release"),
        ("returns", "budget", "prices", "two ports"),
        ("transfers", "release", "budget", "prices"),
        ("transfers", "returns", "deadlines"),
        ("open master", "links", "memory"),
        ("beyond", "two rounds"),
        ("beyond", "returns", "two ports"),
        ("beyond", "links", "release"),
        ("beyond", "one send", "start-ups"),
        ("beyond", "given loads", "two rounds"),
        ("beyond", "whole", "own"),
        ("beyond", "budget", "prices"),
        ("beyond", "activation", "deadlines"),
        ("beyond", "the most", "fifo", "returns"),
        ("beyond", "transfers", "returns"),
        ("beyond", "open master"),
    ],
)
def test_what_was_refused_is_proved(features: tuple[str, ...]) -> None:
    """The optimum of all sequences, and it is said that it is."""
    problem = built(*features)
    assert problem is not None
    result = solve(problem, time_limit=20)
    assert covers(problem)
    assert result.status == "optimal"
    value = result.objective.value if result.objective is not None else result.makespan
    assert value == pytest.approx(best(problem), rel=1e-7)


@pytest.mark.parametrize(
    "features",
    [
        ("activation", "whole", "returns"),
        pytest.param(("two rounds", "returns", "release"), marks=pytest.mark.thorough),
        ("two rounds", "no front end", "start-ups"),
        ("two rounds", "lifo", "returns", "memory"),
        ("any rounds", "release"),
        pytest.param(("any rounds", "budget", "prices", "start-ups"), marks=pytest.mark.thorough),
    ],
)
def test_what_is_searched_is_as_good_as_what_is_tried(features: tuple[str, ...]) -> None:
    """Where the sequences are too many to prove anything, the plan is within 1 % of the best
    that enumeration knows.
    """
    problem = built(*features)
    assert problem is not None
    result = solve(problem, time_limit=20)
    assert result.lower_bound <= best(problem) * (1 + 1e-9)
    assert result.makespan <= best(problem) * 1.01


def test_equal_parts_of_an_uplink() -> None:
    """Two equal workers that fill an uplink: side by side and in turn, the better of both."""
    workers = [Worker(send=0.1, compute=1.0), Worker(send=0.1, compute=1.0)]
    star = Star(workers, master=Master(uplink=2.0))
    problem = DivisibleLoad(load=8.0, platform=star, ports="many", rounds=2, use="all")
    result = solve(problem)
    one = solve(DivisibleLoad(load=8.0, platform=star, ports="many"))
    assert result.method == "sequence-search"
    assert result.makespan < one.makespan
    assert result.status == "optimal"  # by the bound: the uplink is never idle


def test_no_plan_is_said_to_be_none() -> None:
    """A budget that pays for nobody, on links of their own."""
    worker = Worker(send=1.0, compute=1.0, price=Affine(5.0, 0.0))
    problem = DivisibleLoad(load=1.0, platform=Star([worker]), ports="many", budget=4.0)
    assert solve(problem).status == "infeasible"


def test_rounds_beside_transfers_are_refused() -> None:
    """Given transfers say how many rounds there are."""
    with pytest.raises(ProblemError, match="rounds: can't stand beside transfers"):
        DivisibleLoad(
            load=1.0,
            platform=Star([Worker(send=1.0, compute=1.0)]),
            transfers=[("send", "P1")],
            rounds=2,
        )


def test_transfers_are_not_searched() -> None:
    """The search leaves given transfers to their own programme."""
    problem = built("transfers")
    assert problem is not None
    with pytest.raises(MethodError, match="needs no transfers"):
        solve(problem, method="sequence-search")


def test_one_worker_is_served_often_where_memory_is_small() -> None:
    """Eleven chunks of half a unit to the fast worker; the others and the master are slow."""
    slow = Worker(send=1.0, compute=Affine(3.0, 2.0), return_=Affine(0.5, 5.0))
    fast = Worker(send=0.0, compute=0.3, memory=0.5)
    platform = Star([slow, fast, slow], master=Master(compute=Affine(3.0, 1.0)))
    problem = DivisibleLoad(
        load=5.5, platform=platform, ports="many", rounds="auto", discipline="fifo"
    )
    assert solve(problem, method="sequence-search").makespan == pytest.approx(1.65)


def test_an_open_load_of_an_open_master_has_a_bound() -> None:
    """Each machine has its part of the time to be the master, and to be bounded as one."""
    crew = [Worker(send=1.0, compute=c, return_=d) for c, d in ((2, 0.5), (2, 1), (3, 5))]
    problem = DivisibleLoad(deadline=10.0, platform=Star(crew, master="choose"), rounds="auto")
    found = solve(problem, time_limit=60).objective
    assert found.bound is not None
    assert found.value <= found.bound <= 1.01 * found.value


@pytest.mark.thorough
def test_a_known_plan_of_many_chunks_is_left_as_it_is() -> None:
    """`multi-round` makes thousands of chunks here: no programme of them is worth the time."""
    crew = [Worker(send=2.0, compute=3.0), Worker(send=1.0, compute=3.0)]
    platform = Star([*crew, Worker(send=3.0, compute=0.3)])
    problem = DivisibleLoad(load=4.0, deadline=7.5, platform=platform, ports=2, rounds="auto")
    result = solve(problem, time_limit=1.5)
    assert result.runtime < 4
    assert result.makespan == pytest.approx(6.0, rel=1e-3)
