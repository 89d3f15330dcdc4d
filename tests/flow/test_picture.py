"""Problems and results as pictures of every kind, in every form."""

from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

import makespan
from makespan import (
    Dag,
    DivisibleLoad,
    IndependentTasks,
    Network,
    Partition,
    Reduction,
    Source,
    Sources,
    Star,
    TaskGraph,
    Tree,
    Worker,
    plot,
    save,
    solve,
)  # fmt: skip
from makespan.cli.main import run
from makespan.core.errors import InputError
from makespan.core.schedule import Activity
from makespan.flow.picture import drawing, page_diagrams, views_of
from makespan.flow.plot import svg
from tests.thorough import few

SVG = "{http://www.w3.org/2000/svg}"
TREE = Tree([
    Tree.Node(name="root", compute=2.0),
    Tree.Node(name="left", parent="root", send=1.0, compute=3.0),
    Tree.Node(name="right", parent="root", send=0.5),
    Tree.Node(name="leaf", parent="right", send=0.25, compute=1.0),
])  # fmt: skip
WORKERS = [Worker(send=1.0 + k, compute=3.0, return_=0.5 * k) for k in range(3)]
BUS = [Worker(name=f"B{k}", compute=1.0 + k) for k in range(4)]
MANY = [Worker(send=k % 5 + 1.0, compute=1.0) for k in range(100)]
PROBLEMS = {
    "star": DivisibleLoad(load=10.0, platform=Star(WORKERS)),
    "bus": DivisibleLoad(load=10.0, platform=Star.bus(send=1.0, workers=BUS)),
    "chosen": DivisibleLoad(
        load=10.0, platform=Star.bus(send=1.0, master="choose", workers=BUS[:3])
    ),
    "tree": DivisibleLoad(load=10.0, platform=TREE),
    "sources": DivisibleLoad(
        platform=Sources([Source(load=4.0, send=[1.0, 2.0]), Source(load=6.0, send=3.0)], BUS[:2])
    ),
    "large": DivisibleLoad(load=10.0, platform=Star(MANY)),
    "partition": Partition(tasks=3, costs=[[0, 1, 2, 4], [0, 2, 3, 5]]),
    "independent": IndependentTasks(machines=2, durations=[3, 1, 2]),
    "reduction": Reduction(machines=3, segments=2, latency=1, transfer=1, reduce=1),
    "sent": Reduction(machines=3, segments=2, latency=1, transfer=1, reduce=1,
                      destinations=[[1, 1], [1, 1], [1, 2]]),
    "taskgraph": TaskGraph(Dag({"a": 1.0, "b": 2.0}, [("a", "b", 1.0)]), Network([1.0, 1.0])),
}  # fmt: skip
RESULTS = {name: solve(problem, time_limit=5) for name, problem in PROBLEMS.items()}


def words(drawn: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(drawn).iter(f"{SVG}text")]


@pytest.mark.parametrize("name", few(PROBLEMS, 3))
def test_every_problem_and_result_is_drawn_in_every_form(name, tmp_path):
    """Each view but the front, and a network that is not stated, as SVG, PNG, PDF and page."""
    result = RESULTS[name]
    left_out = {"front", "platform"} if name in ("reduction", "sent") else {"front"}
    for thing in (PROBLEMS[name], result):
        for view in set(views_of(thing)) - left_out:
            ElementTree.fromstring(svg(thing, view=view))
            for suffix, start in ((".png", b"\x89PNG"), (".pdf", b"%PDF")):
                save(thing, tmp_path / f"x{suffix}", view=view)
                assert (tmp_path / f"x{suffix}").read_bytes().startswith(start)
        save(thing, tmp_path / "x.html")
        assert "<svg" in (tmp_path / "x.html").read_text("utf-8") or thing is result


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("star", ["P0", "P1", "x", "2x ↩ 0.5x", "3x"]),
        ("bus", ["P0", "B0", "x", "4x", "bus of 4 workers, 10 units of load"]),
        ("tree", ["root", "leaf", "0.25x", "forwards only"]),
        ("sources", ["S1", "B1", "holds 6", "3x", "2 sources, 2 workers, 10 units of load"]),
        ("large", ["80 more"]),
        ("partition", ["R1", "R2", "tasks", "seconds"]),
        ("independent", ["mean load of a machine 3", "T1", "T2", "T3"]),
        ("reduction", ["M1", "M3", "reduce 1", "latency 1, transfer 1 a segment"]),
        ("sent", ["S1", "S2"]),
        ("taskgraph", ["a", "b", "1", "longest path"]),
    ],
)
def test_pictures_of_problems_say_what_there_is(name, said):
    """Names, costs and weights stand in the picture."""
    assert set(said) <= set(words(svg(PROBLEMS[name])))


def test_pictures_of_plans_say_what_is_done():
    """Loads and shares, times of sends, tasks with their times."""
    amounts = RESULTS["star"].answer
    assert amounts
    assert any(word.endswith("%)") for word in words(svg(RESULTS["star"], view="platform")))
    assert any(" at " in word for word in words(svg(RESULTS["sent"], view="graph")))
    assert "0–1" in words(svg(RESULTS["taskgraph"], view="graph"))
    assert any(
        word.startswith("makespan ") for word in words(svg(RESULTS["partition"], view="costs"))
    )


def test_axes_in_axes_out():
    """Problems have plot, as results do; axes given are drawn into and returned."""
    for problem in PROBLEMS.values():
        ax = Figure(figsize=(6, 4)).add_subplot()
        assert problem.plot(ax=ax) is ax
        ax.figure.canvas.draw()
    with mpl.rc_context({"backend": "agg"}):
        import matplotlib.pyplot as plt

        assert plot(PROBLEMS["tree"]).figure is plt.gcf()
        plt.close("all")


def test_views_that_a_kind_lacks_are_refused():
    """The message names those that there are, and what is missing for the others."""
    with pytest.raises(InputError, match="there are gantt, graph, platform"):
        plot(RESULTS["taskgraph"], view="costs")
    with pytest.raises(
        InputError, match="not a picture of this taskgraph problem; there are graph, platform"
    ):
        plot(PROBLEMS["taskgraph"], view="graphs")
    with pytest.raises(InputError, match="a schedule alone; there is gantt"):
        plot(RESULTS["taskgraph"].schedule, view="graph")
    with pytest.raises(InputError, match="needs a result with objective 'pareto'"):
        plot(RESULTS["partition"], view="front")


def test_a_schedule_with_its_problem_has_all_views():
    """What comes alone is drawn with its problem."""
    result = RESULTS["taskgraph"]
    drawn = svg(result.schedule, view="graph", problem=result.problem)
    assert "dominant sequence" in words(drawn)


def test_diagrams_of_a_page_link_tasks_and_edges():
    """The pictures beside the plan name the tasks, edges and machines they show."""
    (_, graph), (_, platform) = page_diagrams(RESULTS["taskgraph"])
    assert {'data-task="0"', 'data-task="1"', 'data-edge="0"'} <= set(
        graph.replace(">", " ").split()
    )
    assert 'data-machine="0"' in platform
    assert "var(--ink)" in graph
    assert [title for title, _ in page_diagrams(RESULTS["partition"])] == [
        "what counts cost: 3 tasks on 2 resources"
    ]


def test_the_command_draws_problems_and_views(tmp_path: Path, capsys):
    """``makespan plot`` takes problems and results; wrong views name the right ones."""
    save(PROBLEMS["taskgraph"], tmp_path / "p.toml")
    save(RESULTS["taskgraph"], tmp_path / "r.json")
    out = tmp_path / "x.svg"
    for arguments, said in (
        (["p.toml"], "task graph: 2 tasks, 1 edges"),
        (["p.toml", "--view", "platform"], "network: 2 machines, complete"),
        (["r.json", "--view", "graph", "--by", "level"], "scheduled graph: 2 tasks, 1 edges"),
    ):
        assert run(["plot", str(tmp_path / arguments[0]), str(out), *arguments[1:]]) == 0
        assert said in words(out.read_text("utf-8"))
    assert run(["plot", str(tmp_path / "r.json"), str(out), "--view", "costs"]) == 2
    assert "there are gantt, graph, platform" in capsys.readouterr().err
    assert run(["plot", str(tmp_path / "p.toml"), str(tmp_path / "x.html")]) == 0
    assert makespan.read_problem(tmp_path / "p.toml") == PROBLEMS["taskgraph"]


def test_colours_of_gantt_charts():
    """Tasks have types or levels; a transfer of a reduction is one colour wherever it is."""
    chart = drawing(RESULTS["taskgraph"])
    assert set(chart.groups.names) == {"level 2", "level 4"}
    by_path = drawing(RESULTS["taskgraph"], by="path")
    assert list(by_path.groups.names) == ["other tasks", "dominant sequence"]
    result = RESULTS["sent"]
    transfers = drawing(result, by="transfer")
    activities, of = result.schedule, transfers.groups.of
    for send in np.flatnonzero(activities.kind == Activity.SEND).tolist():
        name = transfers.groups.names[of[send]]
        segment, goal = int(activities.item[send]), int(activities.peer[send])
        assert name == f"S{segment + 1}→{activities.machines[goal]}"
        combined = np.flatnonzero(
            (activities.kind == Activity.REDUCE) & (of == of[send]) & (activities.machine == goal)
        )
        assert len(combined) == 1
    sends = words(svg(result))
    assert any("→" in word for word in sends)
    assert any("←" in word for word in sends)


def test_transfers_fold_away():
    """Only what machines compute is left; pictures without transfers have nothing to fold."""
    folded = drawing(RESULTS["star"], fold=True)
    assert {lane for row in folded.rows for lane in row.lanes} == {"compute", ""}
    with pytest.raises(InputError, match="fold: only Gantt charts"):
        drawing(RESULTS["star"], "platform", fold=True)
    with pytest.raises(InputError, match="divisible problems have one way of colours"):
        drawing(RESULTS["star"], by="level")
    with pytest.raises(InputError, match="it is transfer"):
        drawing(RESULTS["sent"], by="level")
