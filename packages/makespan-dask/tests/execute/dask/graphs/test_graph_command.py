"""``makespan run`` with the plan of a task graph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from makespan import Network, TaskGraph, check, read_result, save
from makespan.cli.main import run
from makespan.execute import dask
from makespan.taskgraph.generate import graphs as generators
from tests.execute.dask.graphs import graphs


def test_a_plan_from_a_file_is_run(
    local: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The function gives the collection; results and the page are written."""
    plan, out, page = tmp_path / "plan.json", tmp_path / "out.json", tmp_path / "run.html"
    save(graphs.planned_tree(["0", "1", "2"]), plan)
    asked = ["run", str(plan), "--scheduler", local.scheduler_address]
    asked += ["--function", "tests.execute.dask.graphs.graphs:tree"]
    assert run([*asked, "--results", str(out), "--plot", str(page)]) == 0
    assert json.loads(out.read_text()) == 10
    assert "measured" in capsys.readouterr().out
    assert "leaf-0" in page.read_text()
    assert run([*asked, "--data", str(out)]) == 2
    assert "a task graph has none" in capsys.readouterr().err


def test_plans_for_dask_survive_files(tmp_path: Path) -> None:
    """With their switch and its infinite rates."""
    lines = [("M1", "switch", 2.0), ("M2", "switch", 1.0)]
    lines += [("switch", name, float("inf")) for name in ("M1", "M2")]
    network = Network([1.0, 2.0], topology="links", routers=["switch"], one_way_links=lines)
    problem = TaskGraph(generators.fft(4), network, contention="links")
    plan = dask.plan_graph(problem, time_limit=0.05)
    save(plan, tmp_path / "plan.json")
    again = read_result(tmp_path / "plan.json")
    assert check(again).ok
    assert again.makespan == plan.makespan
    assert again.answer == plan.answer
