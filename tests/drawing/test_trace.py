"""Trace events: the Trace Event Format, with every activity where and when it is."""

import json
from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

from makespan import DivisibleLoad, Schedule, Star, Worker, save, solve
from makespan.drawing.trace import trace_scale
from makespan.flow.plot import trace_events


def plan():
    star = Star([Worker(name=name, send=1.0, compute=3.0, return_=0.5) for name in ("A", "B")])
    return solve(DivisibleLoad(load=7.0, platform=star), method="equal-split")


def by_phase(trace):
    found = defaultdict(list)
    for event in trace["traceEvents"]:
        found[event["ph"]].append(event)
    return found


def assert_format(trace):
    """The rules of the format that viewers rely on."""
    phases = by_phase(trace)
    assert set(phases) <= {"M", "X", "s", "f"}
    named = {
        (event["pid"], event["tid"]) for event in phases["M"] if event["name"] == "thread_name"
    }
    threads = defaultdict(list)
    for event in phases["X"]:
        assert event["ts"] >= 0
        assert event["dur"] >= 0
        assert event["name"]
        assert (event["pid"], event["tid"]) in named
        threads[event["pid"], event["tid"]].append(event)
    for events in threads.values():
        for first, second in pairwise(sorted(events, key=lambda event: event["ts"])):
            assert round(1000 * (first["ts"] + first["dur"])) <= round(1000 * second["ts"])
    starts = {event["id"]: event for event in phases["s"]}
    assert len(starts) == len(phases["s"]) == len(phases["f"])
    for event in phases["f"]:
        assert event["bp"] == "e"
        assert event["ts"] >= starts[event["id"]]["ts"]
        assert (event["cat"], event["name"]) == ("transfer", "transfer")
    for event in phases["s"] + phases["f"]:
        slices = threads[event["pid"], event["tid"]]
        assert any(one["ts"] <= event["ts"] <= one["ts"] + one["dur"] for one in slices)


def test_machines_are_processes_and_transfers_arrows(tmp_path):
    """Each machine is a process, each lane a thread, each transfer two slices with an arrow."""
    result = plan()
    save(result, tmp_path / "plan.trace.json")
    trace = json.loads((tmp_path / "plan.trace.json").read_text())
    assert_format(trace)
    phases = by_phase(trace)
    names = [e["args"]["name"] for e in phases["M"] if e["name"] == "process_name"]
    assert names == ["P0", "A", "B"]
    transfers = int((result.schedule.peer >= 0).sum())
    assert len(phases["X"]) == len(result.schedule) + transfers
    assert len(phases["s"]) == transfers == 4
    first = min(phases["X"], key=lambda event: (event["ts"], event["pid"]))
    assert first["args"]["peer"] == "A"
    assert first["dur"] == pytest.approx(1e6 * result.schedule.end[0])


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 3), st.floats(0, 1e4), st.floats(0, 50)), min_size=1, max_size=60
    )
)
def test_slices_of_a_thread_never_overlap(rows):
    """However activities overlap, each thread's slices follow one another."""
    machine, start, length = (np.array(column) for column in zip(*rows, strict=True))
    schedule = Schedule.of_columns(
        ["A", "B", "C", "D"],
        kind=3,
        machine=machine,
        peer=-1,
        item=np.arange(len(rows)),
        amount=1.0,
        start=start,
        end=start + length,
    )
    trace = trace_events(schedule)
    assert_format(trace)
    assert len(by_phase(trace)["X"]) == len(rows)


@pytest.mark.parametrize("makespan", [1e-9, 3.0, 2e9])
def test_scale_keeps_resolution(makespan):
    """Very short and very long plans are scaled by a power of ten into what viewers show."""
    scale = trace_scale(makespan)
    assert np.log10(scale) == pytest.approx(round(np.log10(scale)))
    assert 1e-3 <= makespan * scale <= 1e6


def test_scale_is_stated():
    """The trace says by how much its times differ from the plan's."""
    schedule = Schedule.of_rows(["A"], [("compute", 0, -1, 0, 1.0, 0.0, 2e-6)])
    trace = trace_events(schedule)
    assert trace["otherData"]["seconds of the plan per second of the trace"] == pytest.approx(1e-3)
    assert by_phase(trace)["X"][0]["dur"] == pytest.approx(2000.0)
