"""Plans against SimGrid, an independent simulator: tasks end when the plan says, to nine digits."""

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

from makespan import Dag, Network, Result, TaskGraph, methods, solve
from makespan.core.schedule import Activity
from makespan.taskgraph.generate import graphs as generators
from makespan.taskgraph.timing import machine_of_tasks, occupied
from tests.oracles.taskgraph_instances import MODELS, random_problem
from tests.taskgraph.methods.test_published import CASES, dag_of

REPLAY = Path(__file__).parents[1] / "oracles" / "taskgraph_simgrid.py"
METHODS = (
    "heft", "cpop", "peft", "mcp", "dls", "etf", "lookahead", "mapping-heuristic",
    "list-scheduling", "edge-zeroing", "min-min", "sufferage", "local-search",
)  # fmt: skip
WITHIN = 1e-9  # relative to the makespan


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
    """Return the decisions of a plan: who executes what in which order, what is sent when."""
    problem, schedule = result.problem, result.schedule
    dag, network = problem.dag, problem.network
    machine = machine_of_tasks(problem, schedule)
    order: list[list[int]] = [[] for _ in network.nodes]
    for row in schedule.rows_of(Activity.COMPUTE).tolist():
        order[schedule.machine[row]].append(int(schedule.item[row]))
    paths: list[list[int]] = [[] for _ in dag.source]
    fetches: list[list[int]] = [[] for _ in range(len(dag))]
    rows = schedule.rows_of(Activity.TRANSFER)
    sending, receiving, _ = occupied(problem, schedule.machine[rows], schedule.peer[rows])
    turns = []
    for row, out, into in zip(rows.tolist(), sending.tolist(), receiving.tolist(), strict=True):
        edge, a, b = (int(c[row]) for c in (schedule.item, schedule.machine, schedule.peer))
        if not paths[edge]:
            paths[edge] = [a]
            fetches[dag.target[edge]].append(edge)
        assert paths[edge][-1] == a
        turns.append([edge, len(paths[edge]) - 1, [each for each in (out, into) if each >= 0]])
        paths[edge].append(b)
    if problem.is_blocking:  # a machine takes a task with its first fetch
        taken = schedule.start[schedule.rows_of(Activity.COMPUTE)].copy()
        taken[schedule.item[schedule.rows_of(Activity.COMPUTE)]] = taken.copy()
        np.minimum.at(taken, dag.target[schedule.item[rows]], schedule.start[rows])
        order = [sorted(tasks, key=taken.__getitem__) for tasks in order]
    ends = zip(machine[dag.source].tolist(), machine[dag.target].tolist(), strict=True)
    seconds = problem.durations_on(np.arange(len(dag)), machine)
    arcs = np.argwhere(network.arcs > 0).tolist()
    return {
        "blocking": problem.is_blocking,
        "alone": problem.contention != "none",
        "cores": [*problem.cores.tolist(), *(1 for _ in network.routers)],
        "links": [
            [a, b, None if np.isinf(network.arcs[a, b]) else float(network.arcs[a, b]),
             float(network.routing.setup[a])]
            for a, b in arcs
        ],
        "order": order,
        "tasks": [
            {
                "seconds": float(seconds[task]),
                "release": float(dag.release[task]),
                "cores": int(dag.cores[task]),
                "incoming": np.flatnonzero(dag.target == task).tolist(),
                "outgoing": np.flatnonzero(dag.source == task).tolist(),
                "fetches": fetches[task] if problem.is_blocking else [],
            }
            for task in range(len(dag))
        ],
        "edges": [
            {
                "size": size,
                "path": path,
                "delay": float(network.routing.delay[a, b]) if path else 0.0,
            }
            for size, path, (a, b) in zip(dag.size.tolist(), paths, ends, strict=True)
        ],
        "turns": turns,
    }  # fmt: skip


def replayed(results: list[Result]) -> list[np.ndarray]:
    """Return when the tasks of each plan end in SimGrid."""
    done = subprocess.run(
        [python_with_simgrid(), str(REPLAY)],
        input="".join(json.dumps(plan_of(result)) + "\n" for result in results),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [np.array(json.loads(line), dtype=float) for line in done.stdout.splitlines()]


def largest_error(results: list[Result]) -> float:
    """Return by how much ends differ at most, relative to the makespan.

    What takes no time may end sooner: it may be taken before or behind what is taken with it.
    """
    found = []
    for result, ends in zip(results, replayed(results), strict=True):
        rows = result.schedule.rows_of(Activity.COMPUTE)
        starts, promised = np.empty((2, len(rows)))
        starts[result.schedule.item[rows]] = result.schedule.start[rows]
        promised[result.schedule.item[rows]] = result.schedule.end[rows]
        late = ends - promised
        error = np.where(promised > starts, np.abs(late), late).max(initial=0.0)
        error = max(float(error), abs(ends.max() - promised.max()))
        found.append(error / (result.makespan or 1.0))
    return max(found)


def has_routes(result: Result) -> bool:
    """Whether some data take several hops."""
    return any(len(edge["path"]) > 2 for edge in plan_of(result)["edges"])


@pytest.mark.slow
def test_simgrid_keeps_what_hundreds_of_plans_promise() -> None:
    """Every task of every plan ends when the plan says, on all topologies, under every model."""
    python_with_simgrid()
    results = []
    for seed in range(40):
        for place, model in enumerate(MODELS):
            problem, name = random_problem(seed, *model), METHODS[(seed + place) % len(METHODS)]
            can = [verdict.name for verdict in methods(problem) if verdict.applies]
            results.append(solve(problem, method=name if name in can else "heft"))
    assert len(results) >= 200
    assert sum(result.problem.is_rigid for result in results) >= 20
    assert sum(map(has_routes, results)) >= 30
    assert largest_error(results) <= WITHIN


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids="-".join)
def test_simgrid_keeps_what_is_promised(model: tuple[str, str]) -> None:
    """The same for graphs of the literature, and layered ones with ever more data."""
    python_with_simgrid()
    published = [dag_of(CASES[name]) for name in ("topcuoglu2002", "arabnejad2014_peft")]
    dags = [*published, *(generators.layered(30, ccr=ccr, rng=7) for ccr in (0.5, 2.0, 5.0))]
    communication, contention = model
    problems = [
        TaskGraph(
            dag,
            Network([1.0, 1.0, 1.0], topology="ring"),
            communication=communication,  # type: ignore[arg-type]
            contention=contention,  # type: ignore[arg-type]
        )
        for dag in dags
    ]
    results = [solve(problem, method=name) for problem in problems for name in METHODS[:8]]
    assert largest_error(results) <= WITHIN


def test_a_replay_notices_what_a_plan_leaves_out() -> None:
    """Two transfers from one port: a plan that forgets the port ends before SimGrid does."""
    fork = Dag({"a": 1, "b": 1, "c": 1}, [("a", "b", 4), ("a", "c", 4)])
    where = {"assignment": {"a": "M1", "b": "M2", "c": "M3"}}
    free = solve(TaskGraph(fork, Network([1.0, 1.0, 1.0]), **where))
    held = solve(TaskGraph(fork, Network([1.0, 1.0, 1.0]), contention="ports", **where))
    assert sorted(replayed([free])[0].tolist()) == pytest.approx([1.0, 6.0, 6.0], rel=WITHIN)
    assert sorted(replayed([held])[0].tolist()) == pytest.approx([1.0, 6.0, 10.0], rel=WITHIN)
