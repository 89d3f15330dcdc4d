"""Plans against SimGrid, an independent simulator: nothing is promised that it does not keep."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from makespan import Dag, Network, Result, TaskGraph, solve
from makespan.core.schedule import Activity
from makespan.taskgraph.generate import graphs as generators
from makespan.taskgraph.timing import machine_of_tasks
from tests.taskgraph.methods.test_published import CASES, dag_of

REPLAY = Path(__file__).parents[1] / "oracles" / "taskgraph_simgrid.py"
METHODS = ("heft", "cpop", "peft", "mcp", "dls", "etf", "lookahead", "mapping-heuristic")


@cache
def python_with_simgrid() -> str:
    """Return an interpreter that has SimGrid; skip where there is none."""
    for python in (sys.executable, shutil.which("python3"), "/usr/bin/python3"):
        if python is None or not Path(python).exists():
            continue
        done = subprocess.run([python, "-c", "import simgrid"], capture_output=True, check=False)
        if not done.returncode:
            return python
    pytest.skip("SimGrid is not installed (Debian: apt install python3-simgrid)")


def plan_of(result: Result) -> dict[str, Any]:
    """Return the decisions of a plan: who executes what in which order, and who waits for whom."""
    problem, schedule = result.problem, result.schedule
    dag = problem.dag
    machine = machine_of_tasks(problem, schedule)
    rows = schedule.rows_of(Activity.COMPUTE)
    order: list[list[int]] = [[] for _ in range(len(problem.network))]
    for task in schedule.item[rows].tolist():
        order[machine[task]].append(task)
    sent: list[Any] = [None] * len(dag.source)
    queues: dict[Any, list[int]] = {}
    for row in schedule.rows_of(Activity.TRANSFER).tolist():
        edge, a, b = (int(c[row]) for c in (schedule.item, schedule.machine, schedule.peer))
        sent[edge] = [a, b]
        if problem.contention == "links":
            queues.setdefault((a, b), []).append(edge)
        elif problem.contention == "ports":
            queues.setdefault(("out", a), []).append(edge)
            queues.setdefault(("in", b), []).append(edge)
    seconds = problem.durations_on(np.arange(len(dag)), machine)
    return {
        "order": order,
        "seconds": seconds.tolist(),
        "edges": dag.size.tolist(),
        "incoming": [np.flatnonzero(dag.target == task).tolist() for task in range(len(dag))],
        "outgoing": [np.flatnonzero(dag.source == task).tolist() for task in range(len(dag))],
        "sent": sent,
        "queues": list(queues.values()),
    }


def replayed(result: Result) -> float:
    done = subprocess.run(
        [python_with_simgrid(), str(REPLAY)],
        input=json.dumps(plan_of(result)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return float(json.loads(done.stdout.splitlines()[-1]))


def graphs() -> list[Dag]:
    published = [dag_of(CASES[name]) for name in ("topcuoglu2002", "arabnejad2014_peft")]
    return [*published, *(generators.layered(30, ccr=ccr, rng=7) for ccr in (0.5, 2.0, 5.0))]


@pytest.mark.slow
@pytest.mark.parametrize("contention", ["none", "links", "ports"])
def test_simgrid_keeps_what_is_promised(contention: str) -> None:
    """The replay of every plan ends when the plan says, and never later."""
    for dag in graphs():
        problem = TaskGraph(dag, Network([1.0, 1.0, 1.0]), contention=contention)  # type: ignore[arg-type]
        for name in METHODS:
            result = solve(problem, method=name)
            end = replayed(result)
            assert end <= result.makespan * (1 + 1e-6), (name, len(dag))
            assert end == pytest.approx(result.makespan, rel=1e-5), (name, len(dag))
