"""The methods: the lecture's example, guarantees, and comparison with slow obvious twins."""

import random
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from makespan import IndependentTasks, MethodError, lower_bound, methods, solve
from makespan.core.control import Control
from makespan.core.numeric import jit
from makespan.independent.generate import generate
from makespan.independent.list_scheduling import longest_first
from tests.numbers import amounts
from tests.oracles.independent_brute import (
    greedy_loads,
    least_makespan,
    least_preemptive_makespan,
)

SLIDE = [4, 4, 4, 4, 3, 2]
HEURISTICS = (
    "list-scheduling", "lpt", "multifit", "largest-differencing", "interchange", "subset-sum",
)  # fmt: skip
NAMES = (*HEURISTICS, "bin-completion", "arc-flow", "exact")
UNLIKE = (
    "mct", "uniform-lpt", "min-min", "max-min", "sufferage", "simulated-annealing",
    "lenstra-shmoys-tardos", "milp", "branch-and-bound",
)  # fmt: skip

PREEMPTIVE = ("mcnaughton", "level-algorithm", "lawler-labetoulle")

sizes = st.integers(1, 5)
whole = st.lists(st.integers(0, 12), max_size=8)
anything = st.lists(amounts(1e6) | st.sampled_from([0.1, 1 / 3, 1e-12]), max_size=30)


@pytest.mark.parametrize("method", [*NAMES, "auto"])
def test_the_slide_without_preemption(method):
    """Six tasks of sum 21 on three machines need 8."""
    result = solve(IndependentTasks(3, SLIDE), method=method)
    assert (result.makespan, result.status) == (8.0, "optimal")


@pytest.mark.parametrize("method", ["mcnaughton", "auto"])
def test_the_slide_with_preemption(method):
    """Cutting two of them, 7 are enough."""
    result = solve(IndependentTasks(3, SLIDE, preemptive=True), method=method)
    assert (result.makespan, result.status, result.method) == (7.0, "optimal", "mcnaughton")


def test_each_method_says_what_it_needs():
    """Preemptive problems are for three methods alone, and the others not for them."""
    for preemptive in (False, True):
        verdicts = methods(IndependentTasks(3, SLIDE, preemptive=preemptive))
        assert {v.name: v.applies for v in verdicts} == {
            **dict.fromkeys(NAMES, not preemptive),
            **dict.fromkeys(PREEMPTIVE, preemptive),
            **dict.fromkeys(UNLIKE, False),
        }


@given(sizes, whole, st.sampled_from([1, 0.1, 1 / 7]))
@settings(max_examples=60, deadline=None)
def test_exact_is_the_least_of_all_assignments(machines, tasks, unit):
    """Against brute force, with whole, decimal and unending durations; optimality is proved."""
    durations = [unit * value for value in tasks]
    result = solve(IndependentTasks(machines, durations), method="exact")
    assert result.makespan == pytest.approx(least_makespan(machines, durations), rel=1e-12)
    assert result.status == "optimal"


@given(sizes, whole, st.sampled_from([1, 10, 4]))
@settings(deadline=None)
def test_bin_completion_is_the_least_of_all_assignments(machines, tasks, divisor):
    """Against brute force; every plan is proved."""
    durations = [value / divisor for value in tasks]
    result = solve(IndependentTasks(machines, durations), method="bin-completion")
    assert result.makespan == pytest.approx(least_makespan(machines, durations), rel=1e-12)
    assert result.status == "optimal"


@pytest.mark.parametrize("seed", range(6))
def test_bin_completion_agrees_with_cp_sat(seed):
    """Twelve tasks, too many to enumerate."""
    rng = np.random.default_rng(seed)
    problem = IndependentTasks(int(rng.integers(3, 6)), rng.integers(1, 10 ** (1 + seed % 3), 12))
    found = [solve(problem, method=method) for method in ("bin-completion", "exact")]
    assert found[0].status == found[1].status == "optimal"
    assert found[0].makespan == found[1].makespan


def test_bin_completion_packs_triplets():
    """Sixty tasks that fill twenty machines exactly."""
    rng = np.random.default_rng(1)
    problem = generate(rng, machines=20, distribution="triplets", mean=100)
    result = solve(problem, method="bin-completion", time_limit=30)
    assert (result.makespan, result.status) == (300.0, "optimal")


def test_bin_completion_refuses_what_its_tables_cannot_hold():
    """Too many machines."""
    with pytest.raises(MethodError, match="400 tasks and 300 machines"):
        solve(IndependentTasks(300, np.ones(400)), method="bin-completion")


@pytest.mark.parametrize("method", ["bin-completion", "arc-flow"])
@given(sizes, st.lists(amounts(12.0), max_size=8))
@settings(max_examples=40, deadline=None)
def test_rounded_capacities_bound_durations_without_a_unit(method, machines, durations):
    """What is refuted of durations rounded down holds; the plan is within the finest rounding."""
    result = solve(IndependentTasks(machines, durations), method=method, time_limit=5)
    least = least_makespan(machines, durations)
    assert result.lower_bound <= least * (1 + 1e-12) <= result.makespan * (1 + 2e-12)
    assert result.makespan <= least * (1 + 1e-4)


@pytest.mark.parametrize("method", ["bin-completion", "arc-flow"])
def test_few_loads_are_packed_as_a_flow(method):
    """Ten machines, thirteen distinct durations: found and refuted without counting plans."""
    rng = np.random.default_rng(5)
    problem = IndependentTasks(10, np.append(rng.integers(90, 100, 98, endpoint=True), [7, 15]))
    result = solve(problem, method=method, time_limit=60)
    assert result.status == "optimal"
    assert result.makespan == lower_bound(problem).value


def test_pairs_of_machines_are_shared_out():
    """Random durations on five machines: the mean load is met to nine digits."""
    problem = IndependentTasks(5, np.random.default_rng(0).uniform(1, 100, 1000))
    result = solve(problem, method="subset-sum")
    assert result.status == "optimal"
    assert result.makespan <= lower_bound(problem).value * (1 + 1e-9)


def test_differencing_and_interchange_beat_lpt():
    """Five tasks on two machines: LPT has 17; ten on three: swaps end at the bound."""
    assert solve(IndependentTasks(2, [8, 7, 6, 5, 4]), method="lpt").makespan == 17
    assert solve(IndependentTasks(2, [8, 7, 6, 5, 4]), method="largest-differencing").makespan == 16
    assert solve(IndependentTasks(2, [8, 7, 6, 5, 4]), method="interchange").makespan == 15


@given(sizes, st.lists(st.integers(0, 12), max_size=6))
@settings(max_examples=60, deadline=None)
def test_wrap_around_is_the_optimum_of_the_linear_programme(machines, durations):
    """McNaughton's plan ends when the programme of Lawler and Labetoulle says."""
    result = solve(IndependentTasks(machines, durations, preemptive=True))
    expected = least_preemptive_makespan(machines, durations)
    assert result.makespan == pytest.approx(expected, rel=1e-9)


@given(sizes, whole)
@settings(deadline=None)
def test_the_greedy_rules_follow_their_definition(machines, durations):
    """List scheduling and LPT give the loads of the obvious loop."""
    problem = IndependentTasks(machines, durations)
    for method, order in (
        ("list-scheduling", durations),
        ("lpt", sorted(durations, reverse=True)),
    ):
        plan = solve(problem, method=method).schedule
        loads = np.bincount(plan.machine, weights=plan.amount, minlength=machines)
        assert loads.tolist() == greedy_loads(machines, [d for d in order if d > 0])


@given(sizes, whole)
@settings(deadline=None)
def test_the_guarantees_hold(machines, durations):
    """Graham's factors for list scheduling and LPT, Yue's for MULTIFIT."""
    optimum = least_makespan(machines, durations)
    problem = IndependentTasks(machines, durations)
    for method, factor in (
        ("list-scheduling", 2 - 1 / machines),
        ("lpt", 4 / 3 - 1 / (3 * machines)),
        ("multifit", 13 / 11 + 2**-20),
        (
            "largest-differencing",
            7 / 6 if machines == 2 else 4 / 3 - 1 / (3 * max(2, machines - 1)),
        ),
    ):
        assert solve(problem, method=method).makespan <= factor * optimum * (1 + 1e-12)


@given(sizes, anything, st.booleans())
@settings(deadline=None)
def test_plans_are_valid_and_never_below_the_bound(machines, durations, preemptive):
    """For any durations, tiny, huge and zero."""
    problem = IndependentTasks(machines, durations, preemptive=preemptive)
    bound = lower_bound(problem).value
    found = {}
    for method in ["mcnaughton"] if preemptive else HEURISTICS:
        result = solve(problem, method=method)
        assert result.makespan >= bound * (1 - 1e-12)
        found[method] = result.makespan
    if not preemptive:
        assert max(found["multifit"], found["interchange"]) <= found["lpt"] * (1 + 1e-12)
    else:
        assert found["mcnaughton"] <= bound * (1 + 1e-12)


@given(sizes, whole, st.randoms(use_true_random=False), st.integers(-20, 20))
@settings(max_examples=50, deadline=None)
def test_the_optimum_ignores_order_and_unit(machines, durations, random, exponent):
    """Renumbering tasks changes nothing; scaling time scales the optimum."""
    base = solve(IndependentTasks(machines, durations), method="exact").makespan
    shuffled = random.sample(durations, len(durations))
    assert solve(IndependentTasks(machines, shuffled), method="exact").makespan == base
    scaled = [value * 2.0**exponent for value in durations]
    again = solve(IndependentTasks(machines, scaled), method="exact").makespan
    assert again == base * 2.0**exponent


def test_multifit_improves_on_lpt():
    """A case where first fit decreasing packs what LPT does not."""
    problem = IndependentTasks(3, [5, 5, 4, 4, 3, 3, 3])
    assert solve(problem, method="lpt").makespan == 11
    assert solve(problem, method="multifit").makespan == 9
    assert solve(problem, method="multifit", iterations=0).makespan == 11


@pytest.mark.parametrize("iterations", [-1, 1.5, True])
def test_wrong_iterations_are_refused(iterations):
    """The option is a whole number from 0."""
    with pytest.raises(MethodError, match="iterations"):
        solve(IndependentTasks(2, [1.0]), method="multifit", iterations=iterations)


@pytest.mark.kernels
def test_multifit_gives_the_same_plan_with_the_compiled_loop(monkeypatch):
    """The size decides the loop, never the answer."""
    problem = IndependentTasks(9, np.random.default_rng(2).uniform(1, 9, 60))
    plain = solve(problem, method="multifit").schedule
    monkeypatch.setattr(jit, "forced", True)
    compiled = solve(problem, method="multifit").schedule
    assert plain.machine.tolist() == compiled.machine.tolist()
    assert plain.start.tolist() == compiled.start.tolist()


@pytest.mark.parametrize("preemptive", [False, True])
def test_extreme_shapes(preemptive):
    """No tasks, only empty tasks, one machine, more machines than tasks, a billion machines."""
    for machines, durations, expected in (
        (3, [], 0.0),
        (3, [0.0, 0.0], 0.0),
        (1, [1.0, 2.0, 3.0], 6.0),
        (5, [1.0, 2.0, 3.0], 3.0),
        (10**9, [1.0, 2.0, 3.0], 3.0),
        (2, [1e-100, 1e-100], 1e-100),
        (2, [1e100, 1e100], 1e100),
    ):
        result = solve(IndependentTasks(machines, durations, preemptive=preemptive))
        assert (result.status, result.makespan) == ("optimal", expected)


@pytest.mark.thorough
def test_many_tasks_are_planned():
    """A hundred thousand tasks on a thousand machines, within 1e-4 of the bound."""
    durations = np.random.default_rng(3).uniform(1, 100, 100_000)
    result = solve(IndependentTasks(1000, durations), time_limit=2)
    assert result.gap < 1e-4
    cut = solve(IndependentTasks(1000, durations, preemptive=True))
    assert cut.status == "optimal"
    assert cut.makespan <= result.makespan * (1 + 1e-9)


def test_exact_refuses_what_is_too_large():
    """The need names the numbers, and the methods that can."""
    problem = IndependentTasks(1000, np.random.default_rng(3).uniform(1, 100, 2000))
    with pytest.raises(MethodError, match="2000 distinct durations and 1000 machines"):
        solve(problem, method="exact")


def test_exact_counts_equal_tasks_together():
    """Ten thousand tasks of a few lengths are solved to the proof."""
    durations = np.random.default_rng(4).integers(3, 9, 10_001) / 10
    result = solve(IndependentTasks(7, durations), method="exact", time_limit=30)
    assert result.status == "optimal"


def test_exact_stops_at_the_limit_with_a_plan_and_a_bound():
    """Where the proof takes too long, the plan is feasible and the note says what was rounded."""
    durations = np.random.default_rng(5).uniform(1, 2, 60)
    reports = []
    result = solve(
        IndependentTasks(7, durations),
        method="exact",
        time_limit=1.0,
        progress=lambda *values: reports.append(values),
    )
    assert result.status == "feasible"
    assert 0 < result.gap < 0.05  # LPT alone: 2 %
    assert "rounded up" in result.notes[0]
    assert reports


def test_exact_starts_from_the_incumbent():
    """Without any time, what comes back is the plan that was known."""
    problem = IndependentTasks(3, [5, 5, 4, 4, 3, 3, 3, 2, 2, 2.5])
    from makespan.core.registry import find_method

    control = Control(time_limit=0.0)
    control.incumbent = find_method("independent", "list-scheduling").run(problem, Control())
    found = find_method("independent", "exact").run(problem, control)
    assert found.makespan <= control.incumbent.makespan


def test_the_same_input_gives_the_same_plan():
    """Twice the greedy rules and the bisection, twice the same rows."""
    problem = IndependentTasks(4, np.random.default_rng(6).integers(1, 9, 40))
    for method in (*HEURISTICS, "bin-completion"):
        first, second = (solve(problem, method=method).schedule for _ in range(2))
        assert list(first.records()) == list(second.records())


@pytest.mark.parametrize("seed", range(25))
def test_exact_is_right_on_large_irregular_durations(seed):
    """Durations of up to 14 digits: sums far above 2^31, up to where units are rounded."""
    rng = random.Random(seed)
    top = 10 ** rng.randint(8, 14)
    durations = [
        float(rng.choice([rng.randint(1, top), rng.randint(1, 9)]))
        for _ in range(rng.randint(5, 8))
    ]
    machines = rng.randint(2, 3)
    result = solve(IndependentTasks(machines, durations), method="exact")
    assert result.makespan == least_makespan(machines, durations)
    assert result.status == "optimal"


@pytest.mark.parametrize("tie", [None, 1500, 3])
def test_longest_first_is_stable(tie: int | None) -> None:
    """Equal tasks keep their order, whether they are seen early or late."""
    seconds = np.random.default_rng(0).random(4000)
    if tie is not None:
        seconds[tie] = seconds[tie + 700] = seconds[tie - 3]
    order, _ = longest_first(IndependentTasks(2, seconds))
    assert order.tolist() == sorted(range(4000), key=lambda task: (-seconds[task], task))


def test_exact_searches_nothing_where_a_bound_proves_the_first_plan() -> None:
    """No model is begun for a plan that a bound meets already."""
    problem = IndependentTasks(2, [3.0, 2.0, 1.0])
    with patch("makespan.independent.methods.exact._counted", side_effect=AssertionError):
        assert solve(problem, method="exact").status == "optimal"
