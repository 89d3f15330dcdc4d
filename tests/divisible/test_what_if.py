"""Rates of plans against finite differences of optima; copies against problems written anew."""

import random
from dataclasses import replace

import pytest

from makespan import (
    Affine,
    DivisibleLoad,
    InputError,
    Master,
    Price,
    Source,
    Sources,
    Star,
    Tree,
    Worker,
    sensitivity,
    solve,
)
from tests.oracles.divisible_sequence import best_of_sequence
from tests.thorough import few

STEP = 1e-4  # relative


def drawn(rng, low=0.5, high=3.0):
    return rng.uniform(low, high)


def star_of(rng, *, workers=3, fixed=True, returns=False, master=True, **limits):
    """A star with costs that no two workers have alike."""

    def cost():
        return Affine(drawn(rng, 0.05, 0.4) if fixed else 0.0, drawn(rng))

    crew = [
        Worker(send=cost(), compute=cost(), return_=cost() if returns else None)
        for _ in range(workers)
    ]
    for name, values in limits.items():
        crew = [replace(each, **{name: v}) for each, v in zip(crew, values, strict=True)]
    return Star(crew, master=Master(compute=cost() if master else None))


def value_of(result):
    return result.makespan if result.objective is None else result.objective.value


def with_number(problem, machine, cost, value):
    """The problem with another number; the columns of workers are named as costs in files are."""
    if not machine:
        return replace(problem, **{cost: value})
    platform = problem.platform
    if isinstance(platform, Tree):
        of, part = cost.split(".")
        nodes = [
            replace(node, **{of: replace(getattr(node, of), **{part: value})})
            if node.name == machine
            else node
            for node in platform.nodes
        ]
        return replace(problem, platform=Tree(nodes))
    if machine == platform.master.name:
        part = cost.split(".")[1]
        own = replace(platform.master, compute=replace(platform.master.compute, **{part: value}))
        return replace(problem, platform=platform.changed(master=own))
    column = cost.replace(".", "_")
    changed = getattr(platform, column).copy()
    changed[list(platform.names).index(machine)] = value
    return replace(problem, platform=platform.changed(**{column: changed}))


def difference(problem, rate):
    """The central difference of the optimum in one number."""
    step = STEP * max(1.0, abs(rate.value))
    low = max(0.0, rate.value - step)
    high = rate.value + step
    ends = [
        value_of(solve(with_number(problem, rate.machine, rate.cost, each))) for each in (low, high)
    ]
    return (ends[1] - ends[0]) / (high - low)


PROBLEMS = {
    "linear": lambda rng: {"platform": star_of(rng, fixed=False), "load": 10.0},
    "fixed costs": lambda rng: {"platform": star_of(rng), "load": 10.0},
    "returns": lambda rng: {"platform": star_of(rng, returns=True), "load": 10.0},
    "two ports": lambda rng: {"platform": star_of(rng, returns=True), "load": 10.0, "ports": 2},
    "links": lambda rng: {"platform": star_of(rng), "load": 10.0, "ports": "many"},
    "open load": lambda rng: {"platform": star_of(rng), "deadline": 12.0},
    "memory": lambda rng: {
        "platform": star_of(rng, fixed=False, memory=(1.7, 2.1, 1.9)), "load": 7.0,
    },
    "release": lambda rng: {"platform": star_of(rng, release=(3.1, 2.2, 4.3)), "load": 7.0},
    "price": lambda rng: {
        "platform": star_of(
            rng, fixed=False, price=(Affine(0.3, 1.0), Affine(0.2, 2.0), Affine(0.1, 3.0))
        ),
        "load": 7.0, "budget": 9.0,
    },
    "least price": lambda rng: {
        "platform": star_of(
            rng, master=False,
            price=(Price(0.3, 1.0, 0.2), Price(0.2, 2.0, 0.1), Price(0.1, 3.0, 0.3)),
        ),
        "load": 4.0, "deadline": 9.0, "objective": "price",
    },
    "activation": lambda rng: {
        "platform": star_of(rng), "load": 9.0, "activation": ("P1", "P2", "P1", "P3"),
    },
    "no front end": lambda rng: {
        "platform": star_of(rng, workers=2), "load": 9.0, "front_end": False,
        "activation": ("P1", "P2", "P1"),
    },
    "given loads": lambda rng: {
        "platform": star_of(rng), "loads": {"P1": 2.0, "P2": 3.0, "P3": 1.5},
    },
    "whole units": lambda rng: {"platform": star_of(rng), "load": 9.0, "integral": True},
    "tree": lambda rng: {
        "platform": Tree([
            {"name": "R", "compute": {"fixed": 0.1, "per_unit": drawn(rng)}},
            {"name": "A", "parent": "R", "send": {"fixed": 0.2, "per_unit": drawn(rng, 0.1, 0.5)},
             "compute": drawn(rng)},
            {"name": "B", "parent": "R", "send": drawn(rng, 0.1, 0.5), "compute": drawn(rng)},
            {"name": "C", "parent": "A", "send": drawn(rng, 0.1, 0.5), "compute": drawn(rng)},
        ]),
        "load": 10.0,
    },
    "tree, open load": lambda rng: {
        "platform": Tree([
            {"name": "R", "compute": {"fixed": 0.1, "per_unit": drawn(rng)}},
            {"name": "A", "parent": "R", "send": {"fixed": 0.2, "per_unit": drawn(rng, 0.1, 0.5)},
             "compute": drawn(rng)},
        ]),
        "deadline": 10.0,
    },
}  # fmt: skip


QUICK_FIRST = sorted(PROBLEMS, key=lambda name: name in ("returns", "two ports"))


@pytest.mark.parametrize("seed", [0])
@pytest.mark.parametrize("name", few(QUICK_FIRST, 2, thorough=8))
def test_rates_are_finite_differences(name, seed):
    """Dual values are what the optimum of the problem with a little more of a number shows."""
    problem = DivisibleLoad(**PROBLEMS[name](random.Random(f"{name} {seed}")))
    result = solve(problem)
    assert result.status == "optimal"
    known = sensitivity(result, machines=problem.machines)
    assert known.rates
    scale = max(abs(each.change) for each in known.rates)
    assert scale > 0
    for rate in known.rates:
        seen = difference(problem, rate)
        assert seen == pytest.approx(rate.change, rel=2e-3, abs=1e-4 * scale), rate


def test_a_copy_is_the_problem_with_one_more():
    """Each addition is what the problem with that worker written twice has."""
    rng = random.Random(5)
    star = star_of(rng, fixed=False)
    problem = DivisibleLoad(load=10.0, platform=star)
    result = solve(problem)
    known = sensitivity(result)
    assert [each.machine for each in known.additions] == ["P1", "P2", "P3"]
    for index, addition in enumerate(known.additions):
        again = [*star.workers, replace(star.workers[index], name="more")]
        anew = solve(DivisibleLoad(load=10.0, platform=Star(again, master=star.master)))
        assert addition.value == pytest.approx(anew.makespan)
        assert addition.change == pytest.approx(anew.makespan - result.makespan)


def test_copies_of_a_tree_hang_where_the_node_hangs():
    """A copy of a node has its parent and no children; the root is not copied."""
    nodes = [
        {"name": "R", "compute": 1.0},
        {"name": "A", "parent": "R", "send": 0.2, "compute": 0.7},
        {"name": "B", "parent": "A", "send": 0.1, "compute": 0.5},
    ]
    known = sensitivity(solve(DivisibleLoad(load=10.0, platform=Tree(nodes))))
    assert [each.machine for each in known.additions] == ["A", "B"]
    for addition, parent in zip(known.additions, ("R", "A"), strict=True):
        like = next(node for node in nodes if node["name"] == addition.machine)
        more = [*nodes, {**like, "name": "more", "parent": parent}]
        anew = solve(DivisibleLoad(load=10.0, platform=Tree(more)))
        assert addition.value == pytest.approx(anew.makespan)


def test_workers_that_are_alike_are_copied_once_unless_named():
    star = Star([Worker(send=1.0, compute=3.0)] * 3)
    result = solve(DivisibleLoad(load=10.0, platform=star))
    assert [each.machine for each in sensitivity(result).additions] == ["P1"]
    named = sensitivity(result, machines=["P3", "P2"])
    assert [each.machine for each in named.additions] == ["P3", "P2"]
    assert {each.machine for each in named.rates} == {"", "P2", "P3"}


def test_a_given_order_serves_the_copy_behind_the_worker():
    star = Star([Worker(send=2.0, compute=3.0), Worker(send=1.0, compute=5.0)])
    problem = DivisibleLoad(load=10.0, platform=star, order=("P1", "P2"))
    known = sensitivity(solve(problem), machines=["P1"])
    crew = [star.workers[0], replace(star.workers[0], name="P0'"), star.workers[1]]
    anew = solve(DivisibleLoad(load=10.0, platform=Star(crew), order=("P1", "P0'", "P2")))
    assert known.additions[0].value == pytest.approx(anew.makespan)


def test_who_is_given_has_no_place_for_more():
    star = Star([Worker(send=1.0, compute=3.0), Worker(send=1.0, compute=5.0)])
    result = solve(DivisibleLoad(load=10.0, platform=star, activation=("P1", "P2")))
    known = sensitivity(result)
    assert not known.additions
    assert known.notes == (
        "a worker more: activation says who is served, and has no place for one",
    )


def test_numbers_and_text():
    """The text has a row for each machine, and the frame's shares are changes in per cent."""
    star = Star([Worker(send=1.0, compute=3.0), Worker(send=2.0, compute=5.0)])
    known = sensitivity(solve(DivisibleLoad(load=10.0, platform=star)))
    assert known.rate("load") == pytest.approx(2.8)
    frame = known._columns()
    assert frame["share"][frame["cost"].index("load")] == pytest.approx(1.0)
    assert "(problem)" in str(known)
    assert "a copy of" in str(known)
    with pytest.raises(KeyError, match=r"P9 send\.fixed"):
        known.rate("send.fixed", "P9")
    assert known.as_dict()["rates"][0]["machine"] is None


def test_refusals():
    star = Star([Worker(send=1.0, compute=3.0)])
    result = solve(DivisibleLoad(load=10.0, platform=star))
    with pytest.raises(InputError, match=r"machines\[0\]: 'P2' is not a machine of the problem"):
        sensitivity(result, machines=["P2"])
    front = solve(DivisibleLoad(load=10.0, platform=star, objective="pareto"))
    with pytest.raises(InputError, match="a front has many values"):
        sensitivity(front)
    late = solve(DivisibleLoad(load=10.0, deadline=1.0, platform=star))
    with pytest.raises(InputError, match="the result is infeasible, without a plan"):
        sensitivity(late)


def test_an_uplink_is_not_answered():
    star = Star(
        [Worker(send=1.0, compute=3.0), Worker(send=2.0, compute=1.0)], master=Master(uplink=0.5)
    )
    known = sensitivity(solve(DivisibleLoad(load=10.0, platform=star, ports="many")))
    assert known.notes[0] == "costs: the shares of an uplink have no dual values"
    assert known.additions


@pytest.mark.thorough
@pytest.mark.parametrize("sends", [1, 2])
def test_places_that_sends_share(sends):
    """Rates where only so many sends are under way at a time."""
    rng = random.Random(3)
    star = star_of(rng, fixed=False, master=False)
    star = star.changed(master=Master(sends=sends))
    problem = DivisibleLoad(load=10.0, platform=star, ports="many")
    result = solve(problem)
    for rate in sensitivity(result).rates:
        assert difference(problem, rate) == pytest.approx(rate.change, rel=2e-3, abs=1e-3)


@pytest.mark.parametrize("seed", few(12, 2))
def test_rates_where_many_limits_bind_are_those_of_a_rise(seed):
    """Against the programme by paths of the same sequence: to the right, and to the left in words.

    Workers are alike and chunks many, so that neither amounts nor dual values are the only ones.
    """
    rng = random.Random(seed)
    crew = [(0.0, rng.choice((0.0, 0.5)), 0.0, rng.choice((3.0, 3.0, 9.0))) for _ in range(3)]
    sequence = [rng.randrange(3) for _ in range(rng.choice((4, 9, 16)))]
    own = (0.0, 4.0)
    star = Star(
        [Worker(send=Affine(*each[:2]), compute=Affine(*each[2:])) for each in crew],
        master=Master(compute=Affine(*own)),
    )
    names = tuple(f"P{worker + 1}" for worker in sequence)
    known = sensitivity(solve(DivisibleLoad(load=5.0, platform=star, activation=names)))
    said = " ".join(known.notes)

    def end(worker, place, by):
        changed = list(crew)
        changed[worker] = tuple(
            number + by * (at == place) for at, number in enumerate(crew[worker])
        )
        return best_of_sequence(5.0, sequence, changed, master=own)[0]

    def near(rate, worker, place, side):
        """Whether it is a difference quotient; the next kink, or rounding, may spoil some."""
        now = end(worker, place, 0.0)
        return any(
            rate == pytest.approx((end(worker, place, by) - now) / by, rel=2e-3, abs=2e-3)
            for by in (side * 1e-4, side * 1e-5, side * 1e-6)
        )

    for worker in set(sequence):
        for place, cost in enumerate(
            ("send.fixed", "send.per_unit", "compute.fixed", "compute.per_unit")
        ):
            rate, name = known.rate(cost, f"P{worker + 1}"), f"{cost} of P{worker + 1}"
            assert rate >= 0
            assert near(rate, worker, place, 1), name
            if crew[worker][place] > 0 and f"{name} " not in said and "more" not in said:
                assert near(rate, worker, place, -1), name


def test_a_kink_has_the_rate_of_a_rise_and_a_note_of_a_fall():
    """A chunk that arrives as its worker is released waits for whatever becomes later."""
    star = Star([Worker(send=1.0, compute=1.0, release=2.0)])
    known = sensitivity(solve(DivisibleLoad(load=2.0, platform=star)))
    assert known.rate("release", "P1") == pytest.approx(1.0)
    assert known.rate("send.per_unit", "P1") == pytest.approx(2.0)
    assert known.rate("compute.per_unit", "P1") == pytest.approx(2.0)
    (note,) = (each for each in known.notes if "for falling costs some differ" in each)
    assert "release of P1 +0" in note
    assert "send.per_unit of P1 +0" in note
    assert "compute" not in note


def test_what_can_only_fall_has_the_rate_of_a_fall():
    """A load that fills all memory can't rise; nothing else is worse than it was."""
    star = Star([Worker(send=1.0, compute=1.0, memory=2.0)])
    known = sensitivity(solve(DivisibleLoad(load=2.0, platform=star)))
    assert known.rate("load") == pytest.approx(2.0)
    assert any("no plan in this order allows a rise of load" in note for note in known.notes)
    assert known.rate("memory", "P1") == pytest.approx(0.0)


def test_a_tree_and_sources_have_rates_of_a_rise():
    """A child that could as well be sent its message later: no rate of a rise is below 0."""
    tree = Tree([
        {"name": "R", "compute": 2.0}, {"name": "A", "parent": "R", "send": 1.0, "compute": 2.0},
        {"name": "B", "parent": "R", "send": 1.0, "compute": 2.0},
    ])  # fmt: skip
    pair = Sources([Source(load=4.0), Source(load=4.0)], [Worker(send=1.0, compute=2.0)] * 2)
    for platform, load in ((tree, 10.0), (pair, None)):
        problem = DivisibleLoad(load=load, platform=platform)
        known = sensitivity(solve(problem, time_limit=5), time_limit=0.1)
        assert known.rates
        assert all(rate.change >= -1e-9 for rate in known.rates)
