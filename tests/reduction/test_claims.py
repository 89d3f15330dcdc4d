"""What is claimed, against trying everything: small problems with all fields mixed."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import makespan
from makespan import Reduction
from makespan.reduction.bounding.growth import arrivals, last_arrival
from makespan.reduction.bounds import bounds, grain
from makespan.reduction.model import common_unit, common_unit_of
from makespan.reduction.sends import Sends
from makespan.reduction.timing import in_order
from tests.oracles import reduction_brute as oracle
from tests.thorough import few

CLOSE = 1e-9


def made(seed: int) -> tuple[Reduction, float | None]:
    rng = random.Random(seed)
    while not oracle.covers(problem := oracle.random_problem(rng)):
        pass
    return problem, oracle.best(problem)


def made_wide(seed: int) -> tuple[Reduction, float | None]:
    """Return a problem of up to 4 machines and 3 segments, and its optimum.

    Of ten, four have missing links, and one a network.
    """
    rng = random.Random(seed)
    while True:
        try:
            missing, network = 0.2 * (seed % 5 > 2), seed % 10 == 0
            problem = oracle.random_problem(rng, missing, network=network, wide=True)
        except makespan.ProblemError:
            continue
        if problem.segments != "auto" or oracle.covers(problem):
            return problem, oracle.best(problem)


def held(result: Any, best: float | None) -> None:
    """No plan beats the oracle, no claim and no bound contradicts it."""
    if best is None or result.status == "infeasible":
        assert (best, result.status) == (None, "infeasible")
        return
    if result.makespan is not None:
        assert result.makespan >= best - CLOSE * best
        if result.status == "optimal":
            assert result.makespan <= best + CLOSE * best
    assert result.lower_bound is None or result.lower_bound <= best + CLOSE * best


@pytest.mark.parametrize("seed", few(300, 15))
def test_methods_and_bounds_claim_only_what_is_true(seed: int) -> None:
    """Every method that applies, but CP-SAT, which starts slowly; and every bound."""
    all_are_true(*made(seed), without=("cp-sat",))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2000, 3000))
def test_a_thousand_problems_are_claimed_only_what_is_true(seed: int) -> None:
    """Every method, the proving ones among them, and every bound, on more machines and segments."""
    problem, best = made_wide(seed)
    all_are_true(problem, best)
    held(makespan.solve(problem, time_limit=2.0), best)


@pytest.mark.parametrize("seed", few(range(3015, 3045), 5))
def test_wide_problems_are_claimed_only_what_is_true(seed: int) -> None:
    """Some more of these, by the methods that start at once."""
    all_are_true(*made_wide(seed), without=("cp-sat",), time_limit=0.2)


def all_are_true(
    problem: Reduction,
    best: float | None,
    *,
    without: tuple[str, ...] = (),
    exact: tuple[str, ...] = (),
    time_limit: float = 1.0,
) -> None:
    """Hold every method that applies, and every bound, against the optimum; ``exact`` reach it."""
    for method in makespan.methods(problem):
        if method.applies and method.name not in without:
            short = ("reduce-then-broadcast", "earliest-due-date")
            options = {"restarts": 3} if method.name in short else {}
            given: Any = {"method": method.name, "time_limit": time_limit, **options}
            result = makespan.solve(problem, **given)
            held(result, best)
            if method.name in exact and best is not None:
                assert result.makespan == pytest.approx(best)
    if best is None:
        return
    assert all(bound.value <= best + CLOSE * best for bound in bounds(problem))
    unit = grain(problem)
    if unit is not None:
        assert best / unit == pytest.approx(round(best / unit), abs=1e-6)


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("seed", few(range(300, 315), 2))
def test_both_forms_of_all_loops_claim_only_what_is_true(seed: int) -> None:
    """Small problems, which take the plain loops elsewhere, by compiled ones, too."""
    test_methods_and_bounds_claim_only_what_is_true(seed)


@pytest.mark.parametrize("seed", few(range(1000, 1060), 10))
def test_auto_claims_only_what_is_true(seed: int) -> None:
    """So does the line-up, CP-SAT included."""
    problem, best = made(seed)
    result = makespan.solve(problem, time_limit=1.0)
    held(result, best)
    assert not any("believed" in note or "dropped" in note for note in result.notes)


@pytest.mark.parametrize("collective", ["all-gather", "reduce-scatter"])
@pytest.mark.parametrize(
    ("machines", "segments", "times", "ends"),
    [
        (16, 3, (0, 1, 0), (5, 5)),
        (12, 3, (0.1, 1, 0.3), (4.3, 5.2)),
        (12, 24, (1.1, 1, 1.3), (23.1, 30.7)),
    ],
)
def test_few_holders_at_first_are_counted(
    collective: Any, machines: int, segments: int, times: Any, ends: tuple[float, float]
) -> None:
    """Where fewer machines than there are have something to copy, plans are proved, too."""
    latency, transfer, reduce = times
    problem = Reduction(
        machines=machines, segments=segments, collective=collective, latency=latency,
        transfer=transfer, reduce=reduce,
    )  # fmt: skip
    result = makespan.solve(problem, time_limit=5.0)
    assert result.status == "optimal"
    assert result.makespan == pytest.approx(ends[collective == "reduce-scatter"])


@pytest.mark.parametrize("collective", ["scatter", "gather", "all-to-all"])
@pytest.mark.parametrize(("machines", "segments"), [(2, 3), (4, 4), (5, 7), (8, 12)])
def test_straight_sends_are_proved(collective: Any, machines: int, segments: int) -> None:
    """Where times are equal, a port that has nothing but its own to pass is the bound."""
    problem = Reduction(
        machines=machines, segments=segments, collective=collective, latency=2, transfer=1,
        reduce=3,
    )  # fmt: skip
    assert makespan.solve(problem).status == "optimal"


def test_an_all_reduce_combines_anywhere() -> None:
    """Segments that are dealt out pass all ports alike, and not that of the root alone."""
    problem = Reduction(
        machines=4, segments=4, collective="all-reduce", latency=1, transfer=1, reduce=1
    )
    result = makespan.solve(problem)
    assert (result.status, result.makespan) == ("optimal", 9.0)
    on_root = makespan.solve(problem, method="reduce-then-broadcast")
    assert on_root.makespan is not None
    assert on_root.makespan > 9.0


CUSTOM: dict[str, Any] = {
    "machines": 3, "segments": 1, "collective": "custom", "transfer": 1, "before": [[1]],
    "after": [[2]],
}  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ({"before": None}, "before"),
        ({"before": [[4]]}, "before[0]"),
        ({"before": [[]]}, "before[0]"),
        ({"before": [[1], [2]]}, "before"),
        ({"before": 3}, "before"),
        ({"after": [["a"]]}, "after"),
        ({"combine": 3}, "combine"),
        ({"combine": True}, "after[0]"),
        ({"collective": "reduce"}, "before"),
        ({"collective": "gather", "before": None, "after": None, "combine": True}, "combine"),
        ({"segments": "auto"}, "segments"),
    ],
)
def test_odd_ends_are_refused_with_their_place(changed: dict[str, Any], place: str) -> None:
    """Who holds what is given for custom collectives only, and completely."""
    with pytest.raises(makespan.ProblemError) as caught:
        Reduction(**{**CUSTOM, **changed})
    assert place in {mistake.place for mistake in caught.value.mistakes}, str(caught.value)


@pytest.mark.parametrize("seed", range(40))
def test_the_bound_of_the_greedy_rule_holds(seed: int) -> None:
    """It knows the rule, and is below the best destinations under it."""
    rng = random.Random(seed)
    machines, segments = rng.choice([(2, 3), (3, 2), (3, 4), (4, 2), (4, 3), (5, 2)])
    latency, transfer, reduce = rng.choice([0, 1, 7]), rng.choice([0.5, 1]), rng.choice([0, 1, 3])
    problem = Reduction(
        machines=machines, segments=segments, latency=latency, transfer=transfer, reduce=reduce,
        order="greedy",
    )  # fmt: skip
    best = makespan.solve(problem, method="exhaustive", listed=1).makespan
    assert best is not None
    assert max(bound.value for bound in bounds(problem)) <= best * (1 + CLOSE)


def test_bounds_know_the_rule_and_the_segments() -> None:
    """Segments in order cost more than any order; many segments more than one and its delay."""
    given: Any = {"machines": 4, "segments": 4, "latency": 1, "transfer": 1, "reduce": 1}
    assert makespan.lower_bound(Reduction(**given)).value == 9.0
    assert makespan.lower_bound(Reduction(**given, order="greedy")).value == 10.0
    many = Reduction(machines=12, segments=64, latency=10, transfer=1, reduce=0.5)
    assert makespan.lower_bound(many).value == 89.5


def test_an_all_reduce_does_not_wait_for_a_root_that_is_far() -> None:
    """Machine 1 is farther from the others than they from each other: it need not combine."""
    problem = Reduction(
        machines=3, segments=1, collective="all-reduce", transfer=1,
        latency=[[0, 0, 2], [3, 0, 1], [9, 0, 0]],
    )  # fmt: skip
    assert oracle.best(problem) == 6.0
    assert max(bound.value for bound in bounds(problem)) <= 6.0 * (1 + CLOSE)


def test_an_all_reduce_is_never_worse_than_its_parts() -> None:
    """For one segment, the parts one after the other are the optimum."""
    problem = Reduction(
        machines=3, segments=1, collective="all-reduce", transfer=4, reduce=2,
        latency=[[0, 5, 7], [8, 6, 8], [2, 8, 2]],
    )  # fmt: skip
    assert makespan.lower_bound(problem).value <= 27.0 * (1 + CLOSE)
    result = makespan.solve(problem)
    assert (result.status, result.makespan, result.lower_bound) == ("optimal", 27.0, 27.0)


@pytest.mark.parametrize("seed", range(12))
def test_without_time_an_all_reduce_is_no_later_than_its_parts(seed: int) -> None:
    """Small parts are planned by all heuristics, and their plans run one after the other."""
    rng = np.random.default_rng(seed)
    machines, segments = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    parts: Any = {
        "machines": machines, "segments": segments, "transfer": 3, "reduce": int(rng.integers(3)),
        "latency": rng.integers(0, 9, (machines, machines)).tolist(),
    }  # fmt: skip
    whole, reduced, spread = (
        makespan.solve(Reduction(**parts, collective=collective), time_limit=0.0)
        for collective in ("all-reduce", "reduce", "broadcast")
    )
    assert whole.makespan <= reduced.makespan + spread.makespan + CLOSE


@pytest.mark.thorough
@pytest.mark.parametrize("collective", ["reduce", "broadcast", "all-reduce"])
def test_plans_with_very_unequal_latencies_are_timed(collective: Any) -> None:
    """Starts that wait for each other over hundreds of segments: every method has its plan."""
    rng = np.random.default_rng(3)
    problem = Reduction(
        machines=3, segments=300, transfer=1.0, reduce=1.0, collective=collective,
        latency=np.round(10.0 ** rng.uniform(0, 4, (3, 3))),
    )  # fmt: skip
    for method in makespan.methods(problem):
        if method.applies and method.name != "cp-sat":
            result = makespan.solve(problem, method=method.name, time_limit=0.1)
            assert result.makespan >= result.lower_bound


def test_orders_that_contradict_each_other_are_not_both_kept() -> None:
    """Where receivers can't take in the order asked for, they take in the order of the starts."""
    problem = Reduction(machines=2, segments=2, latency=1, transfer=1, reduce=1)
    sends = Sends(
        sender=np.array([1, 1]), receiver=np.array([0, 0]), segment=np.array([0, 1]),
        final=np.zeros(2, dtype=bool),
    )  # fmt: skip
    asked, taken = (in_order(problem, sends, arrivals) for arrivals in (np.array([1, 0]), None))
    assert asked is not None
    assert taken is not None
    assert asked.makespan == taken.makespan == 4.0


@pytest.mark.parametrize("period", [0, 1, 3, 7, 20])
def test_the_last_arrival_is_counted_without_a_walk(period: int) -> None:
    """The closed form is the last entry of the list, for all numbers of machines."""
    for length in (period, period + 1, 3 * period + 5, 10**9):
        every = arrivals(300, length, period, length)
        found = [last_arrival(machines, length, period) for machines in range(1, 301)]
        assert found == list(every)


@pytest.mark.parametrize(
    "fields",
    [
        {"transfer_per_byte": 1e90, "message_overhead": 0.1, "reduce_per_byte": 0.001},
        {"transfer_per_byte": 0.01, "message_overhead": 0.1, "reduce_per_byte": 1000.0},
        {"transfer_per_byte": 0.01, "message_overhead": 1e-90, "reduce_per_byte": 1e-3},
    ],
)
@pytest.mark.parametrize("machines", [2, 100_000])
def test_bounds_of_open_counts_hold_at_any_magnitude(
    fields: dict[str, float], machines: int
) -> None:
    """Whatever the costs, the bound is below those of given numbers of segments."""
    problem = Reduction(machines=machines, segments="auto", latency=1.0, bytes=1000.0, **fields)
    value = bounds(problem)[0].value
    assert value > 0
    for segments in (1, 2, 17, 499):
        fixed = max(bound.value for bound in bounds(problem.with_segments(segments)))
        assert value <= fixed * (1 + CLOSE)


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ({"transfer": [[0, 1, 1], [1, 0], [1, 1, 0]]}, "transfer"),
        ({"latency": [[0, 1], [1]]}, "latency"),
        ({"reduce": [[1], [1, 2]]}, "reduce"),
        ({"latency": [["0", "1", "1"]] * 3}, "latency"),
        ({"machines": 10**9}, "machines"),
        ({"machines": 10**4000}, "machines"),
        ({"segments": 10**9}, "segments"),
        ({"transfer": 10**4000}, "transfer"),
        ({"transfer": 1e308}, "transfer"),
        ({"latency": [[0, 1e-200, 1]] * 3}, "latency[0][1]"),
        ({"destinations": [[1, 1], [1, 10**4000], [1, 1]]}, "destinations"),
        (
            {"sequences": [[], [[1, 10**4000], [2, 1]], [[1, 1], [2, 1]]]},
            "sequences[1][0]",
        ),
        ({"segment_sizes": [1, [2]]}, "segment_sizes"),
    ],
)
def test_odd_numbers_are_refused_with_their_place(changed: dict[str, Any], place: str) -> None:
    """Ragged tables, texts, numbers without measure: one clear mistake each."""
    good = {"machines": 3, "segments": 2, "latency": 1, "transfer": 1, "reduce": 1}
    with pytest.raises(makespan.ProblemError) as caught:
        Reduction(**{**good, **changed})
    assert place in {mistake.place for mistake in caught.value.mistakes}, str(caught.value)


def test_units_of_arrays_are_those_of_their_entries() -> None:
    """The unit that is found at once is the one that is found one by one."""
    rng = np.random.default_rng(0)
    for digits in (0, 1, 3, 9, 12):
        values = np.round(rng.uniform(0, 50, 40), digits)
        assert common_unit_of(values) == common_unit(values.tolist())
    thirds = np.array([1 / 3, 2 / 7, 1.5])
    assert common_unit_of(thirds) == Fraction(1, 42)
    assert common_unit_of(np.zeros(3)) == 1
    assert common_unit_of(np.array([1.0, 2.0**0.5])) is None


@pytest.mark.parametrize("seed", range(25))
def test_cp_sat_is_right_on_large_irregular_times(seed: int) -> None:
    """Times of up to 12 digits beside small ones and zeros: sums far above 2^31."""
    rng = random.Random(seed)
    machines, segments = rng.choice([(2, 2), (3, 1)])
    top, unit = 10 ** rng.randint(6, 11), rng.choice([1.0, 0.25])

    def time() -> float:
        return rng.choice([0, rng.randint(1, 9), rng.randint(1, top), rng.randint(1, top)]) * unit

    def table() -> list[list[float]]:
        return [[time() for _ in range(machines)] for _ in range(machines)]

    problem = Reduction(
        machines=machines, segments=segments, collective=rng.choice(["reduce", "broadcast"]),
        latency=table(), transfer=table(), reduce=[time() for _ in range(machines)],
    )  # fmt: skip
    result = makespan.solve(problem, method="cp-sat")
    assert result.status == "optimal"
    assert result.makespan == pytest.approx(oracle.best(problem), rel=1e-12)


def test_sends_that_take_no_time_go_first() -> None:
    """Of two sends of the root that start at once, the other would wait for the long one."""
    problem = Reduction(
        machines=3, segments=1, collective="broadcast", reduce=0.0,
        latency=[[0, 3, 23], [3, 0, 23], [38, 14, 0]],
        transfer=[[0, 14, 0], [42, 0, 78], [4, 2, 0]],
    )  # fmt: skip
    result = makespan.solve(problem, method="cp-sat")
    assert (result.status, result.makespan) == ("optimal", 23.0)


def test_an_all_to_all_of_hundreds_of_machines() -> None:
    """512 have 262,144 segments, and each is sent once; twice as many machines are refused."""
    problem = Reduction(machines=512, segments=512, collective="all-to-all", transfer=1.0)
    assert problem.items == 512**2
    with pytest.raises(makespan.ProblemError, match="segments: 1024 of each machine are too many"):
        Reduction(machines=1024, segments=1024, collective="all-to-all", transfer=1.0)


@pytest.mark.thorough
def test_all_to_alls_are_planned_in_tables_of_what_is_sent() -> None:
    """Plans of 160 machines, most of whose pairs of machine and segment send nothing."""
    times = np.random.default_rng(1).integers(1, 9, (160, 160)).astype(float)
    problem = Reduction(machines=160, segments=160, collective="all-to-all", transfer=times)
    found = makespan.solve(problem, method="direct")
    assert found.makespan >= found.lower_bound


@pytest.mark.parametrize("segments", [2, 5, 6, 10])
def test_no_plan_of_eight_machines_ends_before_they_can_double(segments: int) -> None:
    """With no round to spare, whatever the delay between rounds."""
    rng = random.Random(segments)
    for collective in ("broadcast", "reduce"):
        late = rng.choice([0.02, 0.1, 0.3])
        latency, reduce = (late, 0.0) if collective == "broadcast" else (0.0, late)
        problem = Reduction(
            machines=8, segments=segments, collective=collective, latency=latency, transfer=1.0,
            reduce=reduce,
        )  # fmt: skip
        result = makespan.solve(problem, method="rarest-first", restarts=4, rebuilds=100)
        values = {bound.name: bound.value for bound in bounds(problem)}
        least = segments + 2 + 3 * late + max(0, segments - 2) // 4 * late
        assert values["doubling"] == pytest.approx(min(least, segments + 3 + late))
        assert result.makespan >= values["doubling"] - CLOSE
