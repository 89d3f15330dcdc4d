"""Every one-round reference case of divisible loads, through the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from makespan.cli.main import run

CASES = {
    case["name"]: case
    for case in json.loads(
        (Path(__file__).parent.parent / "cases" / "divisible.json").read_text(encoding="utf-8")
    )
}
Solved = Callable[[dict[str, Any]], dict[str, Any]]
WINDOWS = ("S", "C", "A", "B", "p", "r", "d", "f", "l")


@pytest.fixture
def solved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Solved:
    """What ``makespan solve FILE --json`` prints for a problem."""

    def solve(data: dict[str, Any]) -> dict[str, Any]:
        problem = {"format": "makespan.problem/1", "kind": "divisible", **data}
        path = tmp_path / "problem.json"
        path.write_text(json.dumps(problem), encoding="utf-8")
        code = run(["solve", str(path), "--json"])
        printed: dict[str, Any] = json.loads(capsys.readouterr().out)
        assert code == (3 if printed["status"] == "infeasible" else 0)
        return printed

    return solve


def star(workers: list[dict[str, Any]], **platform: Any) -> dict[str, Any]:
    named = [{"name": f"P{index}", **worker} for index, worker in enumerate(workers, start=1)]
    return {"topology": "star", "workers": named, **platform}


def affine(given: dict[str, Any]) -> list[dict[str, Any]]:
    """The workers of an affine case."""
    count = len(given["C"])
    latency = given.get("Wlat", [0] * count)
    speed = given.get("w", [0] * count)
    return [
        {
            "send": {"fixed": given["C"][i], "per_unit": given["c"][i]},
            "compute": {"fixed": latency[i], "per_unit": speed[i]},
        }
        for i in range(count)
    ]


AFFINE = [name for name in CASES if name.startswith("affine_")]


@pytest.mark.parametrize("name", AFFINE)
def test_affine(solved: Solved, name: str) -> None:
    """Fixed costs: the exact makespan, proved."""
    case = CASES[name]
    result = solved({"load": case["inputs"]["W"], "platform": star(affine(case["inputs"]))})
    assert result["status"] == "optimal"
    assert result["makespan"] == pytest.approx(case["expected"]["makespan"], rel=1e-9)


def linear(given: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"send": c, "compute": w} for c, w in zip(given["c"], given["w"], strict=True)]


@pytest.mark.parametrize("name", ["star_linear_4", "dltstudio_canonical5_single"])
def test_linear_stars(solved: Solved, name: str) -> None:
    """Linear stars: the exact makespan."""
    case = CASES[name]
    result = solved({"load": case["inputs"]["W"], "platform": star(linear(case["inputs"]))})
    assert (result["method"], result["status"]) == ("star", "optimal")
    assert result["makespan"] == pytest.approx(case["expected"]["makespan"], rel=1e-9)


def test_given_order(solved: Solved) -> None:
    """A bad order drops a worker."""
    case = CASES["star_linear_bad_order_drops_workers"]
    order = [f"P{worker + 1}" for worker in case["inputs"]["order"]]
    result = solved({"load": 1, "order": order, "platform": star(linear(case["inputs"]))})
    assert result["makespan"] == pytest.approx(case["expected"]["lp_makespan"], rel=1e-9)


def test_bus_and_its_best_master(solved: Solved) -> None:
    """The slides' bus, with its master given and chosen, and the slides' own allocation."""
    case = CASES["bus_slide_example"]
    given, expected = case["inputs"], case["expected"]
    platform = {
        "topology": "bus",
        "send": given["c"],
        "master": {"name": "P0", "compute": given["w_master"]},
        "workers": [{"compute": w} for w in given["w_workers"]],
    }
    result = solved({"load": given["W"], "platform": platform})
    assert result["makespan"] == pytest.approx(expected["makespan"], rel=1e-9)
    assert list(result["answer"]["loads"].values()) == pytest.approx(expected["loads"], rel=1e-9)
    loads = {f"P{index}": load for index, load in enumerate(expected["slide_allocation"])}
    shown = solved({"loads": loads, "order": ["P1", "P2", "P3"], "platform": platform})
    assert shown["makespan"] == pytest.approx(expected["slide_allocation_makespan"], rel=1e-9)
    best = CASES["bus_best_master"]
    machines = [{"name": f"M{i}", "compute": w} for i, w in enumerate(best["inputs"]["w"])]
    chosen = solved(
        {
            "load": best["inputs"]["W"],
            "platform": {"topology": "bus", "send": 1, "master": "choose", "machines": machines},
        }
    )
    assert chosen["makespan"] == pytest.approx(8347.826086956522, rel=1e-9)


@pytest.mark.parametrize("budget", [None, 24.25, 24.1334, 24.0])
def test_windows_and_costs(solved: Solved, budget: float | None) -> None:
    """Memory, windows and prices: 26.3333, 41.5, 60.6557 and infeasible."""
    case = CASES["thesis_m4_cost_windows"]
    text = case["inputs"]["processors"]
    rows = json.loads(text[text.index("[") :].replace("(", "[").replace(")", "]"))
    workers = []
    for row in rows:
        part = dict(zip(WINDOWS, row, strict=True))
        workers.append(
            {
                "send": {"fixed": part["S"], "per_unit": part["C"]},
                "compute": {"fixed": part["p"], "per_unit": part["A"]},
                "memory": part["B"],
                "release": part["r"],
                "deadline": part["d"],
                "price": {"fixed": part["f"], "per_unit": part["l"]},
            }
        )
    data = {"load": case["inputs"]["V"], "order": ["P1", "P2", "P3", "P4"], "use": "all"}
    limit = {} if budget is None else {"budget": budget}
    result = solved({**data, **limit, "platform": star(workers)})
    expected = case["expected"]["makespan_by_cost_limit"][str(budget)]
    if expected is None:
        assert result["status"] == "infeasible"
    else:
        assert result["makespan"] == pytest.approx(expected, rel=1e-9)


def test_tree(solved: Solved) -> None:
    """The tree of five nodes."""
    case = CASES["tree_5nodes"]
    text = case["inputs"]["nodes"]
    rows = json.loads(text[text.index("[") :].replace("(", "[").replace(")", "]"))
    nodes = []
    for index, (compute, link, parent) in enumerate(rows):
        above = {} if parent < 0 else {"parent": str(parent), "send": link}
        nodes.append({"name": str(index), "compute": compute, **above})
    result = solved({"load": case["inputs"]["W"], "platform": {"topology": "tree", "nodes": nodes}})
    assert result["makespan"] == pytest.approx(case["expected"]["makespan"], rel=1e-9)


def test_whole_units(solved: Solved) -> None:
    """The slides' bus with 20 whole units."""
    case = CASES["bus_integer_W20"]
    given = case["inputs"]
    platform = {
        "topology": "bus",
        "send": given["c"],
        "master": {"compute": given["w_master"]},
        "workers": [{"compute": w} for w in given["w_workers"]],
    }
    result = solved({"load": given["W"], "integral": True, "platform": platform})
    assert result["status"] == "optimal"
    assert result["makespan"] == case["expected"]["integer_makespan"]
