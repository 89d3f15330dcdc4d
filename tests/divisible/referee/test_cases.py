"""The referee of divisible loads: what it says, to within what, and on large schedules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from makespan import DivisibleLoad, Master, Schedule, Star, Worker, check, solve
from makespan.core.schedule import COLUMNS
from makespan.divisible.file import read
from makespan.divisible.referee import violations
from makespan.divisible.referee.resources import crowds, overlaps
from tests.oracles.divisible_rules import broken_rules
from tests.test_referee_cases import CASES, schedule_of
from tests.thorough import few

RULES = {
    "kind", "route", "chunk", "machine", "amount", "empty", "master", "duration", "precedence",
    "release", "worker-deadline", "deadline", "processor", "front-end", "one-port", "two-port",
    "link", "sends", "uplink", "conservation", "loads", "integral", "memory", "budget", "rounds",
    "order", "return-order", "activation", "transfers", "discipline", "use",
}  # fmt: skip

STAR = Star([Worker(send=1.0, compute=3.0), Worker(send=2.0, compute=5.0)])
PROBLEM = DivisibleLoad(load=3.0, platform=STAR)
ROWS = [
    ("send", 0, 1, 0, 2.0, 0.0, 2.0),
    ("compute", 1, -1, 0, 2.0, 2.0, 8.0),
    ("send", 0, 2, 1, 1.0, 2.0, 4.0),
    ("compute", 2, -1, 1, 1.0, 4.0, 9.0),
]


def changed(row: int, **values: float) -> Schedule:
    """Return the valid schedule with some entries of a row changed."""
    schedule = Schedule.of_rows(["P0", "P1", "P2"], ROWS)
    columns = {name: getattr(schedule, name).copy() for name in COLUMNS}
    for name, value in values.items():
        columns[name][row] = value
    return Schedule.of_columns(schedule.machines, **columns)


def rules(problem: DivisibleLoad, schedule: Schedule) -> set[str]:
    return {violation.rule for violation in violations(problem, schedule)}


def test_every_rule_has_a_case() -> None:
    """The file of cases breaks every rule of this kind, and the slow twin agrees on each."""
    seen = set()
    for case in CASES:
        if case["problem"]["kind"] == "divisible" and "nodes" not in case["problem"]["platform"]:
            problem = read(case["problem"])
            schedule = schedule_of(list(problem.machines), case["schedule"])
            assert broken_rules(problem, schedule) == set(case["rules"]), case["name"]
            seen |= set(case["rules"])
    assert seen == RULES


@pytest.mark.parametrize(
    ("row", "values", "told"),
    [
        (1, {"start": 1.0, "end": 7.0}, "P1 computes chunk 0 from 1, but it arrives at 2"),
        (
            2,
            {"start": 1.5, "end": 3.5},
            "the send of chunk 1 to P2 starts at 1.5, but the send of chunk 0 to P1 ends at 2: "
            "one transfer at a time",
        ),
        (1, {"end": 7.0}, "the computation of chunk 0 on P1 lasts 5, but 2.0 units take 6"),
        (3, {"machine": 1, "start": 9, "end": 12}, "chunk 1 on P1: the chunk was sent to P2"),
        (3, {"item": 5}, "chunk 1 is sent to P2, but never computed"),
    ],
)
def test_messages_name_what_happened(row: int, values: dict[str, Any], told: str) -> None:
    """A violation tells the activities, the machines and the times."""
    found = list(violations(PROBLEM, changed(row, **values)))
    assert any(told in violation.message for violation in found), [str(v) for v in found]


def test_a_violation_has_its_rows_times_and_excess() -> None:
    """The parts of a violation are there for programs too."""
    (violation,) = violations(PROBLEM, changed(2, start=1.5, end=3.5))
    assert violation.rule == "one-port"
    assert violation.activities == (0, 2)
    assert violation.times == (0.0, 1.5, 2.0, 3.5)
    assert violation.excess == pytest.approx(0.5)


def test_times_are_compared_to_within_a_billionth_of_the_makespan() -> None:
    """What is off by less than 1e-9 of the makespan is rounding."""
    assert rules(PROBLEM, changed(3, start=4.0 - 8e-9, end=9.0 - 8e-9)) == set()
    assert rules(PROBLEM, changed(3, start=4.0 - 1e-8, end=9.0 - 1e-8)) == {"precedence"}


def test_amounts_are_compared_to_within_a_billionth_of_the_load() -> None:
    """What is off by less than 1e-9 of the load is rounding."""
    assert rules(PROBLEM, changed(3, amount=1.0 + 1e-9)) == set()
    assert rules(PROBLEM, changed(3, amount=1.0 + 4e-9)) >= {"amount", "conservation"}


def test_machines_are_matched_by_name() -> None:
    """A schedule made elsewhere may list the machines in another order."""
    rows = [
        (kind, 2 - machine, 2 - peer if peer >= 0 else -1, *rest)
        for kind, machine, peer, *rest in ROWS
    ]
    assert rules(PROBLEM, Schedule.of_rows(["P2", "P1", "P0"], rows)) == set()
    assert rules(PROBLEM, Schedule.of_rows(["P0", "P1", "P2"], rows)) > {"route"}


def test_a_plan_moved_past_its_stated_makespan() -> None:
    """Idle time is legal, but a result that states an earlier end is refused."""
    result = solve(PROBLEM)
    assert result.schedule is not None
    columns = {name: getattr(result.schedule, name).copy() for name in COLUMNS}
    columns["start"] += 1.0
    columns["end"] += 1.0
    moved = Schedule.of_columns(result.schedule.machines, **columns)
    assert check(PROBLEM, moved).ok
    assert [v.rule for v in check(replace(result, schedule=moved)).violations] == ["makespan"]


def test_a_row_of_no_time_hides_no_overlap() -> None:
    """Rows of no time inside a longer one are fine; what comes after them still overlaps it."""
    free = Worker(send=0.0, compute=1.0)
    star = Star([Worker(send=1.0, compute=1.0), free, free, Worker(send=1.0, compute=1.0)])
    problem = DivisibleLoad(load=8.0, platform=star)
    names = ["P0", "P1", "P2", "P3", "P4"]
    rows = []
    for worker, amount, start, end in ((1, 4.0, 0.0, 4.0), (2, 1.0, 1.0, 1.0), (3, 1.0, 2.0, 2.0)):
        rows.append(("send", 0, worker, worker, amount, start, end))
        rows.append(("compute", worker, -1, worker, amount, end, end + amount))
    late = [("send", 0, 4, 4, 2.0, 4.0, 6.0), ("compute", 4, -1, 4, 2.0, 6.0, 8.0)]
    assert rules(problem, Schedule.of_rows(names, rows + late)) == set()
    soon = [("send", 0, 4, 4, 2.0, 3.0, 5.0), ("compute", 4, -1, 4, 2.0, 5.0, 7.0)]
    (violation,) = violations(problem, Schedule.of_rows(names, rows + soon))
    assert (violation.rule, violation.activities) == ("one-port", (0, 6))


def test_the_chosen_masters_link_is_unused() -> None:
    """Whatever machine sends is the master; its own limits as a worker do not bind it."""
    machines = [
        Worker(name="A", compute=3.0, memory=2.0, price=1.0),
        Worker(name="B", compute=5.0, memory=0.5, release=4.0, price=9.0),
    ]
    problem = DivisibleLoad(
        load=3.0, platform=Star.bus(send=1.0, workers=machines, master="choose"), budget=2.0
    )
    rows = [
        ("send", 1, 0, 0, 2.0, 0.0, 2.0),
        ("compute", 0, -1, 0, 2.0, 2.0, 8.0),
        ("compute", 1, -1, 1, 1.0, 0.0, 5.0),
    ]
    schedule = Schedule.of_rows(["A", "B"], rows)
    assert rules(problem, schedule) == broken_rules(problem, schedule) == set()


def test_rates_that_share_the_uplink_for_an_instant() -> None:
    """Sends that touch to within rounding do not add up."""
    star = Star(
        [Worker(send=1.0, compute=1.0), Worker(send=1.0, compute=1.0)], master=Master(uplink=1.0)
    )
    problem = DivisibleLoad(load=2.0, platform=star, ports="many")
    rows = []
    for worker, start in ((1, 0.0), (2, 1.0 - 1e-12)):
        rows.append(("send", 0, worker, worker, 1.0, start, start + 1.0))
        rows.append(("compute", worker, -1, worker, 1.0, start + 1.0, start + 2.0))
    assert rules(problem, Schedule.of_rows(["P0", "P1", "P2"], rows)) == set()


def test_a_send_of_no_time_overloads_any_uplink() -> None:
    """A link without a cost per unit still waits for the uplink."""
    star = Star([Worker(send=0.0, compute=1.0)], master=Master(uplink=2.0))
    problem = DivisibleLoad(load=4.0, platform=star, ports="many")
    for seconds, broken in ((0.0, {"uplink"}), (2.0, set())):
        rows = [
            ("send", 0, 1, 0, 4.0, 0.0, seconds),
            ("compute", 1, -1, 0, 4.0, seconds, seconds + 4.0),
        ]
        assert rules(problem, Schedule.of_rows(["P0", "P1"], rows)) == broken


WHOLE = st.integers(0, 12)
INTERVALS = st.lists(st.tuples(WHOLE, st.integers(0, 5), st.integers(0, 2), st.booleans()))


@given(INTERVALS)
def test_overlaps_are_those_of_all_pairs(intervals: list[tuple[int, int, int, bool]]) -> None:
    """The sweep finds a row that overlaps an earlier one exactly where a pair does."""
    rows = [("compute", 0, -1, 0, 1.0, s, s + length) for s, length, _, _ in intervals]
    schedule = Schedule.of_rows(["P0"], rows)
    group = np.array([g for _, _, g, _ in intervals], dtype=np.int64)
    side = np.array([b for *_, b in intervals], dtype=bool)
    for sides in (None, side):
        pairs = {
            frozenset((i, j))
            for i in range(len(rows))
            for j in range(i)
            if group[i] == group[j]
            and (sides is None or sides[i] != sides[j])
            and min(rows[i][6], rows[j][6]) > max(rows[i][5], rows[j][5])
        }
        found = list(overlaps(schedule, np.arange(len(rows)), group, 1e-9, sides))
        assert {frozenset((o.earlier, o.later)) for o in found} <= pairs
        assert bool(found) == bool(pairs)
        for overlap in found:
            first, second = rows[overlap.earlier], rows[overlap.later]
            assert overlap.seconds == min(first[6], second[6]) - max(first[5], second[5])


@given(INTERVALS, st.integers(1, 3))
def test_crowds_are_those_of_all_moments(
    intervals: list[tuple[int, int, int, bool]], limit: int
) -> None:
    """The sweep finds a crowd exactly where some moment has more than the limit."""
    start = np.array([s for s, *_ in intervals], dtype=float)
    end = start + np.array([length for _, length, *_ in intervals], dtype=float)
    most = max((int(((start <= t) & (t < end)).sum()) for t in start), default=0)
    found = list(crowds(start, end, np.ones(len(start)), float(limit), 1e-9))
    assert bool(found) == (most > limit)
    for crowd in found:
        assert crowd.weight == len(crowd.members) > limit
        assert all(start[m] <= crowd.time < end[m] for m in crowd.members)


@pytest.mark.parametrize("ports", few([1, 2, "many"], 1, thorough=3))
def test_a_million_workers(ports: Any) -> None:
    """A large plan is accepted, and one wrong row of two million is found."""
    count = 1_000_000
    rng = np.random.default_rng(0)
    star = Star.from_arrays(
        send_per_unit=rng.uniform(1e-6, 2e-6, count), compute_per_unit=rng.uniform(1.0, 2.0, count)
    )
    result = solve(DivisibleLoad(load=float(count), platform=star))
    schedule = result.schedule
    assert schedule is not None
    problem = replace(result.problem, ports=ports)
    assert rules(problem, schedule) == set()
    row = 1_234_567
    columns = {name: getattr(schedule, name) for name in COLUMNS}
    columns["start"] = columns["start"].copy()
    columns["start"][row] *= 0.5
    (violation, *_) = violations(problem, Schedule.of_columns(schedule.machines, **columns))
    assert row in violation.activities
