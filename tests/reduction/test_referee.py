"""The referee: every rule, broken once; and timing, answer and picture of a valid plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import makespan
from makespan import Reduction
from makespan.core.numeric import sorting
from makespan.core.schedule import COLUMNS, Schedule
from makespan.reduction.answer import answer, lines
from makespan.reduction.pictures import picture
from makespan.reduction.referee import reading
from makespan.reduction.timing import replay, retimed

PROBLEM = Reduction(machines=3, segments=2, latency=0.5, transfer=1, reduce=2)
ROWS = [
    ("send", 1, 2, 0, 1.0, 0.0, 1.0),
    ("reduce", 2, 1, 0, 1.0, 1.5, 3.5),
    ("send", 1, 0, 1, 1.0, 1.0, 2.0),
    ("reduce", 0, 1, 1, 1.0, 2.5, 4.5),
    ("send", 2, 0, 0, 1.0, 3.5, 4.5),
    ("reduce", 0, 2, 0, 1.0, 5.0, 7.0),
    ("send", 2, 0, 1, 1.0, 4.5, 5.5),
    ("reduce", 0, 2, 1, 1.0, 7.0, 9.0),
]


def changed(row: int | None = None, extra: Any = (), drop: int | None = None, **new: Any) -> Any:
    names = ("kind", *COLUMNS[1:])
    rows = [list(values) for values in ROWS]
    if row is not None:
        for name, value in new.items():
            rows[row][names.index(name)] = value
    if drop is not None:
        del rows[drop]
    return Schedule.of_rows(PROBLEM.machines, [tuple(r) for r in [*rows, *extra]])  # type: ignore[misc]


def rules(problem: Reduction, schedule: Schedule) -> set[str]:
    return {violation.rule for violation in makespan.check(problem, schedule).violations}


def test_the_plan_is_valid() -> None:
    """The schedule that the other tests break passes."""
    assert rules(PROBLEM, changed()) == set()


@pytest.mark.parametrize(
    ("schedule", "rule"),
    [
        (changed(0, kind="compute"), "kind"),
        (changed(0, item=2), "segment"),
        (changed(0, peer=-1), "peer"),
        (changed(0, peer=1), "self-send"),
        (changed(drop=6), "once"),
        (changed(extra=[("send", 0, 1, 0, 1.0, 7.0, 8.0)]), "once"),
        (changed(drop=7), "reduction"),
        (changed(0, end=1.25), "duration"),
        (changed(7, end=8.0), "duration"),
        (changed(0, amount=2.0), "amount"),
        (changed(2, start=0.5, end=1.5), "send-port"),
        (changed(6, start=3.0, end=4.0), "send-port"),
        (changed(4, start=3.0, end=4.0), "ready"),
        (changed(3, start=2.0, end=4.0), "arrival"),
        (changed(5, start=4.75, end=6.75), "arrival"),
        (changed(7, start=6.0, end=8.0), "reduction-unit"),
    ],
)
def test_every_rule(schedule: Schedule, rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One change breaks the rule that is named; the same is found where tables are sparse."""
    found = makespan.check(PROBLEM, schedule).violations
    assert rule in {violation.rule for violation in found}
    monkeypatch.setattr(sorting, "SPARSE", 0)
    assert makespan.check(PROBLEM, schedule).violations == found


def test_receiving_ports_are_shifted_by_the_latency() -> None:
    """Two sends that start apart overlap where they arrive, through different latencies."""
    problem = Reduction(
        machines=3, segments=1, transfer=1, reduce=0, latency=[[0, 0, 0], [2, 0, 0], [0, 0, 0]]
    )
    rows = [
        ("send", 1, 0, 0, 1.0, 0.0, 1.0),
        ("reduce", 0, 1, 0, 1.0, 3.0, 3.0),
        ("send", 2, 0, 0, 1.0, 1.5, 2.5),
        ("reduce", 0, 2, 0, 1.0, 2.5, 2.5),
    ]
    assert rules(problem, Schedule.of_rows(problem.machines, rows)) == {"receive-port"}


def test_combinations_follow_the_order_of_arrival() -> None:
    """A later arrival may not be combined first."""
    rows = [list(row) for row in ROWS]
    rows[5][5:], rows[7][5:] = [8.5, 10.5], [6.5, 8.5]
    found = rules(PROBLEM, Schedule.of_rows(PROBLEM.machines, [tuple(r) for r in rows]))  # type: ignore[misc]
    assert found == {"order-of-arrival"}


def test_cycles_are_found_even_where_nothing_takes_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two machines that send to each other never reach the root."""
    problem = Reduction(machines=3, segments=1, transfer=0)
    rows = [
        ("send", 1, 2, 0, 1.0, 0.0, 0.0),
        ("reduce", 2, 1, 0, 1.0, 0.0, 0.0),
        ("send", 2, 1, 0, 1.0, 0.0, 0.0),
        ("reduce", 1, 2, 0, 1.0, 0.0, 0.0),
    ]
    schedule = Schedule.of_rows(problem.machines, rows)
    found = makespan.check(problem, schedule).violations
    assert {violation.rule for violation in found} == {"tree"}
    monkeypatch.setattr(sorting, "SPARSE", 0)
    assert makespan.check(problem, schedule).violations == found


def test_given_plans_are_compared() -> None:
    """Given destinations, sequences and rules must be kept to."""
    base: dict[str, Any] = {
        "machines": 3, "segments": 2, "latency": 0.5, "transfer": 1, "reduce": 2,
    }  # fmt: skip
    other = Reduction(**base, destinations=[[1, 1], [1, 1], [1, 1]])
    assert "destinations" in rules(other, changed())
    same = Reduction(**base, sequences=[[], [[1, 3], [2, 1]], [[1, 1], [2, 1]]])
    assert rules(same, changed()) == set()
    turned = Reduction(**base, sequences=[[], [[2, 1], [1, 3]], [[1, 1], [2, 1]]])
    assert rules(turned, changed()) == {"order"}
    assert rules(Reduction(**base, order="backfilling"), changed()) == {"order"}


def test_a_rule_settles_what_is_received_first_too() -> None:
    """Segment after segment, the root takes all of the first before any of the second."""
    base: dict[str, Any] = {
        "machines": 3, "segments": 2, "latency": 0.5, "transfer": 1, "reduce": 2,
        "order": "greedy",
    }  # fmt: skip
    assert rules(Reduction(**base), changed()) == {"order"}
    rows = [
        ("send", 1, 2, 0, 1.0, 0.0, 1.0),
        ("reduce", 2, 1, 0, 1.0, 1.5, 3.5),
        ("send", 2, 0, 0, 1.0, 3.5, 4.5),
        ("reduce", 0, 2, 0, 1.0, 5.0, 7.0),
        ("send", 1, 0, 1, 1.0, 4.5, 5.5),
        ("reduce", 0, 1, 1, 1.0, 7.0, 9.0),
        ("send", 2, 0, 1, 1.0, 5.5, 6.5),
        ("reduce", 0, 2, 1, 1.0, 9.0, 11.0),
    ]
    problem = Reduction(**base)
    assert rules(problem, Schedule.of_rows(problem.machines, rows)) == set()


def test_what_takes_no_time_is_not_in_the_midst_of_a_transfer() -> None:
    """A port that is busy can't send in between, however short; where another ends, it can."""
    problem = Reduction(
        machines=3, segments=1, reduce=0, latency=0, transfer=[[0, 0, 0], [0, 0, 0], [2, 0, 0]]
    )
    for when, broken in ((1.0, {"receive-port"}), (2.0, set()), (0.0, set())):
        rows = [
            ("send", 2, 0, 0, 1.0, 0.0, 2.0),
            ("reduce", 0, 2, 0, 1.0, 2.0, 2.0),
            ("send", 1, 0, 0, 1.0, when, when),
            ("reduce", 0, 1, 0, 1.0, max(when, 2.0 * (when > 0)), max(when, 2.0 * (when > 0))),
        ]
        assert rules(problem, Schedule.of_rows(problem.machines, rows)) >= broken
        assert bool(rules(problem, Schedule.of_rows(problem.machines, rows))) == bool(broken)


def test_broadcasts_and_all_reduces_are_refereed() -> None:
    """A machine can't pass on what it has not got, in either half."""
    for collective in ("broadcast", "all-reduce"):
        problem = Reduction(
            machines=4, segments=3, latency=1, transfer=1, reduce=1,
            collective=collective,  # type: ignore[arg-type]
        )  # fmt: skip
        result = makespan.solve(problem, method="auto", time_limit=2)
        assert result.schedule is not None
        assert makespan.check(problem, result.schedule).ok
        columns = {name: np.array(getattr(result.schedule, name)) for name in COLUMNS}
        last = int(np.argmax(columns["start"] * (columns["kind"] == 0)))
        columns["start"][last] -= 2.0
        columns["end"][last] -= 2.0
        broken = Schedule.of_columns(problem.machines, **columns)
        assert not makespan.check(problem, broken).ok


def test_timing_removes_idle_time_and_keeps_the_order() -> None:
    """A stretched schedule is pulled together again, never later than it was."""
    schedule = changed()
    stretched = Schedule.of_rows(
        PROBLEM.machines,
        [(k, a, b, i, x, 2 * s, 2 * s + (e - s)) for k, a, b, i, x, s, e in ROWS],
    )
    assert makespan.check(PROBLEM, stretched).ok
    tight = retimed(PROBLEM, stretched)
    assert tight.makespan == schedule.makespan == 9.0
    assert makespan.check(PROBLEM, tight).ok


def test_replay_scales_with_its_factors() -> None:
    """All durations doubled and no latency: the makespan doubles; retiming agrees with replay."""
    problem = Reduction(machines=4, segments=3, transfer=1, reduce=2)
    result = makespan.solve(problem)
    assert result.schedule is not None
    doubled = np.full(len(result.schedule), 2.0)
    late = retimed(problem, result.schedule, doubled)
    assert late.makespan == pytest.approx(2 * result.schedule.makespan)
    assert replay(problem, result.schedule, 1).end(doubled) == late.makespan
    noisy = np.linspace(0.5, 1.5, len(result.schedule))
    one = retimed(problem, result.schedule, noisy).makespan
    assert replay(problem, result.schedule, 1).end(noisy) == pytest.approx(one)


def test_answer_lines_and_picture() -> None:
    """All call machines by the names of the problem and segments S1, S2, …; nothing counts."""
    problem = Reduction(machines=["a", "b", "c"], segments=2, latency=0.5, transfer=1, reduce=2)
    schedule = Schedule.of_rows(problem.machines, ROWS)  # type: ignore[arg-type]
    assert answer(problem, schedule) == {
        "destinations": {"b": ["c", "a"], "c": ["a", "a"]},
        "sends": [
            {"from": "b", "to": "c", "segment": "S1", "start": 0.0},
            {"from": "b", "to": "a", "segment": "S2", "start": 1.0},
            {"from": "c", "to": "a", "segment": "S1", "start": 3.5},
            {"from": "c", "to": "a", "segment": "S2", "start": 4.5},
        ],
    }
    assert lines(problem, schedule) == [
        "reduce of 2 segments over 3 machines",
        "  b sends S1→c at 0, S2→a at 1",
        "  c sends S1→a at 3.5, S2→a at 4.5",
    ]
    drawn = picture(problem, schedule)
    assert [row.label for row in drawn.rows] == ["a", "b", "c"]
    assert [row.lanes for row in drawn.rows] == [("reduce", "receive", "send")] * 3
    assert len(drawn.bars) == 12
    assert list(drawn.labels) == ["S1", "S1", "S2", "S2"] * 2


def test_answers_of_broadcasts_say_where_segments_come_from() -> None:
    """Each machine but the root has a source; an all-reduce has destinations as well."""
    names, rows = ["a", "b", "c"], []
    for giver, taker, start in ((0, 1, 0.0), (1, 2, 1.0)):
        rows.append(("send", giver, taker, 0, 1.0, start, start + 1))
        rows.append(("reduce", taker, giver, 0, 1.0, start + 1, start + 1))
    problem = Reduction(machines=names, segments=1, transfer=1, collective="broadcast")
    found = answer(problem, Schedule.of_rows(names, rows))  # type: ignore[arg-type]
    assert found["sources"] == {"b": ["a"], "c": ["b"]}
    assert "destinations" not in found
    both = makespan.solve(
        Reduction(machines=names, segments=1, transfer=1, collective="all-reduce"), method="auto"
    ).answer
    assert both.keys() == {"destinations", "sources", "sends"}
    assert both["destinations"].keys() == both["sources"].keys() == {"a", "b", "c"}


def test_what_is_broken_is_told_by_name() -> None:
    """Violations and the notes about deadlocks name machines and segments alike."""
    problem = Reduction(machines=["a", "b", "c"], segments=2, latency=0.5, transfer=1, reduce=2)
    columns = {name: getattr(changed(6, start=3.0, end=4.0), name) for name in COLUMNS}
    early = Schedule.of_columns(problem.machines, **columns)
    messages = " ".join(v.message for v in makespan.check(problem, early).violations)
    assert "c sends S1 from 3.5 on, but is busy with S2 until 4.0" in messages
    stuck = Reduction(
        machines=["a", "b", "c"], segments=2, transfer=1,
        sequences=[[], [[1, 1], [2, 3]], [[2, 1], [1, 2]]],
    )  # fmt: skip
    assert "b waits to send S1 until c has sent" in " ".join(makespan.solve(stuck).notes)


def test_picture_of_measured_receptions() -> None:
    """A reception is its send, later by the latency; it never outlasts the combination's start."""
    plan = Schedule.of_rows(PROBLEM.machines, ROWS)  # type: ignore[arg-type]
    measured = Schedule.of_rows(
        PROBLEM.machines,
        [(*row[:5], row[5] / 1000, row[6] / 1000) for row in ROWS],  # type: ignore[misc]
    )
    for schedule, shifts in ((plan, [0.5] * 4), (measured, [5e-4, 5e-4, 5e-4, 1.5e-3])):
        bars = picture(PROBLEM, schedule).bars
        received = bars.lane == 1
        sent = schedule.start[bars.activity[received]]
        assert bars.start[received] - sent == pytest.approx(shifts)


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("seed", range(3))
def test_rows_of_an_all_reduce_may_stand_in_any_order(seed: int) -> None:
    """Contributions and what is broadcast are told apart by time; so are sends that are alike."""
    problem = Reduction(
        machines=4, segments=3, latency=0.5, transfer=1, reduce=2, collective="all-reduce"
    )
    schedule = makespan.solve(problem, method="reduce-then-broadcast", time_limit=0.1).schedule
    rng = np.random.default_rng(seed)
    shuffled = schedule.take(rng.permutation(len(schedule)))
    assert makespan.check(problem, shuffled).ok
    late = shuffled.start.copy()
    row = int(rng.integers(len(late)))
    late[row] += 0.25
    moved = Schedule.of_columns(
        problem.machines, **{**{name: getattr(shuffled, name) for name in COLUMNS}, "start": late}
    )
    assert not makespan.check(problem, moved).ok


@pytest.mark.usefixtures("form")
def test_the_first_of_each_key_starts_first_then_ends_first() -> None:
    """The loop finds what sorting by key, start, end and index puts first of each key."""
    rng = np.random.default_rng(2)
    key, start, end = rng.integers(0, 4, (3, 60))
    first = np.full(4, -1)
    reading.find_first.run(60, (key, start.astype(float), end.astype(float)), (first,))
    order = np.lexsort((end, start, key))
    assert first.tolist() == order[np.searchsorted(key[order], np.arange(4))].tolist()


def test_lines_of_many_sends_are_short() -> None:
    """However many sends a machine has, its line is read at a glance; how many are left is said."""
    problem = Reduction(machines=3, segments=60, transfer=1, latency=0.125)
    result = makespan.solve(problem)
    lines = str(result).splitlines()
    assert max(map(len, lines)) <= 120
    (line,) = [each for each in lines if each.startswith("  M2 sends")]
    told = line.count("→")
    assert line.endswith(f", and {60 - told} more")
    assert told >= 5


def test_the_text_says_what_the_search_counted() -> None:
    """The notebook's counts for four machines and segments."""
    times: Any = {"latency": 1, "transfer": 1, "reduce": 1}
    result = makespan.solve(Reduction(machines=4, segments=4, order="greedy", **times))
    said = "of 531441 destinations tested, 65536 are valid, 8 optimal, 4 of these distinct"
    assert said in str(result)


COLLECTIVES = Path(__file__).parents[2] / "examples" / "collectives"


@pytest.mark.parametrize("path", sorted(COLLECTIVES.iterdir()), ids=lambda path: path.stem)
def test_the_example_of_every_collective_is_planned(path: Path) -> None:
    """There is a file of each, called after it."""
    problem = makespan.read_problem(path)
    assert (problem.collective, len(list(COLLECTIVES.iterdir()))) == (path.stem, 9)  # type: ignore[attr-defined]
    result = makespan.solve(problem, time_limit=1.0)
    assert makespan.check(result).ok
    assert {"destinations", "sources"} & set(result.answer)
