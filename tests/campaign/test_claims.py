"""The parts that hold claims under limits against enumeration: that they see what is untrue."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from campaign import cuts, fronts, loosening, pairs, rates, rounds
from campaign.agreeing import agree
from campaign.oracles import module, oracles
from campaign.part import Defect, Trial, part_named
from campaign.truth import Truth
from makespan import (
    DivisibleLoad,
    IndependentTasks,
    Master,
    Partition,
    Price,
    Result,
    Star,
    Worker,
    sensitivity,
    solve,
)
from makespan.core.problem import Problem
from makespan.core.sensitivity import Rate
from makespan.flow.files.files import problem_of
from tests.thorough import few

STAR = Star([Worker(send=1.0, compute=3.0), Worker(send=2.0, compute=5.0)])
LOAD = DivisibleLoad(load=10.0, platform=STAR)
FRONT = Partition(
    tasks=3,
    costs=[[0.0, 1.0, 2.0, 3.0], [0.0, 4.0, 8.0, 12.0]],
    energy=[[0.0, 9.0, 18.0, 27.0], [0.0, 1.0, 2.0, 3.0]],
    objective="pareto",
)


def truth_of(problem: Problem) -> Truth:
    (oracle,) = (each for each in oracles() if each.kind == problem.kind)
    found = Truth.of(oracle, problem)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "name", few(["claims", "fronts", "rates", "pairs", "customs", "rounds"], 2, thorough=6)
)
def test_a_part_makes_tries_of_its_own(name: str, tmp_path: Path) -> None:
    """Some tries are made, their inputs are kept, and a kept one is tried again."""
    part, counted, problem = part_named(name), 0, None
    for number in range(4):
        trial = Trial(f"0/{name}/{number}", tmp_path)
        try:
            part.attempt(trial)
        except Exception:  # what it finds is for the campaign, not for this test
            continue
        counted += sum(trial.counts.values())
        problem = trial.input or problem
    assert counted > 0
    again = Trial("1", tmp_path, given=problem)
    part.attempt(again)
    assert again.input == problem


def test_untrue_claims_of_any_goal_are_seen() -> None:
    """Most load, least price and least makespan: each side of each claim is looked at."""
    cheap = Star([Worker(send=1.0, compute=1.0, price=Price(0.0, 1.0, 2.0))])
    most = DivisibleLoad(platform=cheap, deadline=10.0)
    for problem in (most, replace(LOAD, platform=cheap, objective="price"), LOAD):
        truth, result = truth_of(problem), solve(problem)
        truth.holds("auto", result)
        with pytest.raises(Defect, match="says infeasible"):
            truth.holds("auto", replace(result, status="infeasible", schedule=None))
        for wrong in (0.5, 2.0):
            with pytest.raises(Defect):
                truth._replace(best=truth.best * wrong).holds("auto", result)
    truth = truth_of(replace(most, budget=8.0))  # two units end after 4 s and cost 8 or more
    assert truth.best == pytest.approx(8.0 / 5.0)


def test_whole_units_are_paid_for_by_the_second() -> None:
    """The oracle counts rent until the plan's end, where amounts are whole numbers, too."""
    star = Star([Worker(send=1.0, compute=1.0, price=Price(0.5, 1.0, 2.0))])
    answers = module("divisible_any")
    least = DivisibleLoad(load=2.0, platform=star, integral=True, objective="price")
    assert answers.best(least) == pytest.approx(0.5 + 2.0 + 2.0 * 4.0)
    most = DivisibleLoad(platform=star, integral=True, deadline=10.0, budget=10.5)
    assert answers.best(most) == 2.0
    assert answers.best(replace(most, budget=10.4)) == 1.0


def test_a_cut_ends_a_search_at_the_same_look() -> None:
    """The first look at the clock is too late for a proof, a late one is not; both repeat."""
    rng = random.Random(2)
    durations = [rng.uniform(1.0, 2.0) for _ in range(40)]
    problem = IndependentTasks(machines=7, durations=durations)
    first, again = (cuts.Cut(looks=1).solve(problem, "exact") for _ in range(2))
    assert first.status != "optimal"
    assert (first.status, first.makespan) == (again.status, again.makespan)
    small = IndependentTasks(machines=2, durations=[3.0, 3.0, 2.0])
    assert cuts.Cut(looks=10_000).solve(small, "auto").status == "optimal"


def test_a_front_that_lacks_a_point_says_so() -> None:
    """What is neither on the front nor in a range that is unknown is missing."""
    result, rng = solve(FRONT), random.Random(1)
    known = fronts._truth(FRONT)
    assert known is not None
    fronts.holds(result, known, rng)
    front = result.details["front"]
    assert len(front) == len(known.points) > 2

    def changed(front: list[dict[str, float]], unknown: list[list[float]]) -> Result:
        details = {"front": front, "unknown": unknown}
        return replace(result, details=details, status="feasible" if unknown else "optimal")

    with pytest.raises(Defect, match="is missing"):
        fronts.holds(changed(front[:-1], []), known, rng)
    fronts.holds(changed(front[:-1], [[front[-2]["time"], 99.0]]), known, rng)
    with pytest.raises(Defect, match="is missing"):
        fronts.holds(changed(front[:-2], [[front[-3]["time"], front[-2]["time"]]]), known, rng)
    with pytest.raises(Defect, match="better than the best"):
        fronts.holds(changed([{**front[0], "energy": 0.5}], []), known, rng)
    dear = [{**point, "energy": point["energy"] + 1.0} for point in front]
    with pytest.raises(Defect):
        fronts.holds(changed(dear, []), known, rng)


def test_the_ends_of_a_curve_are_known() -> None:
    """The fastest and the cheapest plan of a divisible load are on its front."""
    star = Star([Worker(send=1.0, compute=1.0, price=3.0), Worker(send=1.0, compute=4.0)])
    problem = DivisibleLoad(load=2.0, platform=star, objective="pareto")
    known = fronts._truth(problem)
    assert known is not None
    (fastest, dear), (slowest, cheap) = known.points
    assert fastest == pytest.approx(solve(replace(problem, objective="makespan")).makespan)
    assert slowest == pytest.approx(10.0)
    assert dear > cheap == pytest.approx(0.0)
    fronts.holds(solve(problem), known, random.Random(1))


def test_a_claim_that_another_plan_beats_is_seen() -> None:
    """Methods of one problem must agree, whatever the truth is."""
    result = solve(LOAD)
    better = replace(result, makespan=result.makespan * 0.9)  # type: ignore[operator]
    agree({"one": result, "other": result})
    with pytest.raises(Defect, match="no plan is better"):
        agree({"one": result, "other": better})
    with pytest.raises(Defect, match="says infeasible"):
        agree({"one": replace(result, status="infeasible", schedule=None), "other": result})


def test_more_rounds_than_asked_for_are_seen() -> None:
    """A worker gets at most a chunk a round."""
    result = solve(replace(LOAD, rounds=3))
    rounds._keeps_rounds("auto", result)
    with pytest.raises(Defect, match="in 1 rounds"):
        rounds._keeps_rounds("auto", replace(result, problem=LOAD))


@pytest.mark.parametrize(
    ("cost", "machine"), [("send.per_unit", "P1"), ("compute.per_unit", "P2"), ("load", "")]
)
def test_a_rate_of_neither_side_is_seen(cost: str, machine: str) -> None:
    """A rate of a plan is a difference quotient of its order; another one is not."""
    result = solve(LOAD)
    ordered = rates._in_order(LOAD, result)
    assert ordered is not None
    value = {"send.per_unit": 1.0, "compute.per_unit": 5.0, "load": 10.0}[cost]
    change = sensitivity(result).rate(cost, machine)
    rate = Rate(machine=machine, cost=cost, value=value, change=change)
    assert rates._held(*ordered, rate) == "rates of both sides"
    with pytest.raises(Defect, match="of neither side"):
        rates._held(*ordered, replace(rate, change=-change))


def test_a_rate_at_a_kink_is_of_one_side() -> None:
    """A release that begins to delay costs later, and earlier nothing."""
    star = Star([Worker(send=1.0, compute=3.0, release=1.0)], master=Master())
    problem = DivisibleLoad(load=1.0, platform=star, transfers=[("send", "P1")])
    rate = Rate(machine="P1", cost="release", value=1.0, change=0.0)
    assert rates._held(problem, False, rate) == "rates, left side"
    assert rates._held(problem, False, replace(rate, change=1.0)) == "rates, right side"
    with pytest.raises(Defect, match="between them"):
        rates._held(problem, False, replace(rate, change=0.5))


def test_what_is_loosened_is_looser() -> None:
    """By enumeration: no change takes a plan away or makes the best one worse."""
    rng, changed = random.Random(4), set()
    priced = module("divisible_priced").priced_problem
    drawn = [
        priced if oracle.kind == "divisible" else oracle.random_problem for oracle in oracles()
    ]
    for _ in range(80):
        document = pairs._as_document(rng.choice(drawn)(rng))
        looser, names = pairs._loosened(document, rng)
        problems = [problem_of(each) for each in (document, looser)]
        (oracle,) = (each for each in oracles() if each.kind == problems[0].kind)
        first, second = (Truth.of(oracle, problem) for problem in problems)
        if first is None or second is None or not first.one_value:
            continue
        changed |= set(names)
        if first.best is None:
            continue
        assert second.best is not None
        sign = -1.0 if getattr(first.problem, "load", 0.0) is None else 1.0
        assert sign * second.best <= sign * first.best + 1e-6 * abs(first.best)
    assert len(changed) > len(loosening.LOOSER) - 3
