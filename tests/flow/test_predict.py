"""How long the work of a recorded run takes on other machines."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from makespan import Dag, InputError, Network, check, predict, read_result, save
from makespan.cli.main import run
from makespan.flow.predict import calibrated, read_run
from makespan.flow.replay import Engine, Overheads

TRACES = Path(__file__).parents[2] / "campaign" / "corpus" / "traces"
NINJA, NEXTFLOW, WORKFLOW = (
    TRACES / each for each in ("ninja_log.txt", "nextflow.txt", "workflow.json")
)
GRAPH = TRACES / "ninja.dot"
DIAMOND = Dag(
    {"a": 2.0, "b": 3.0, "c": 4.0, "d": 1.0}, [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]
)


def replayed(dag: Dag, network: Network, reads: list[float], added: Overheads) -> float:
    """The same run, second by second of events that are looked for one after another."""
    free = network.cores.tolist()
    before = [dag.source[dag.target == task].tolist() for task in range(len(dag))]
    ends: dict[int, float] = {}
    where: dict[int, int] = {}
    ready_at: dict[int, float] = {}
    now = link = added.startup
    while len(ends) < len(dag) or max(ends.values()) > now:
        for task in range(len(dag)):
            if task not in ready_at and all(
                ends.get(each, math.inf) <= now for each in before[task]
            ):
                ready_at[task] = now
        for task in sorted(ready_at, key=lambda each: ready_at[each]):
            fits = [m for m in range(len(network)) if free[m] >= dag.cores[task]]
            if task in ends or not fits:
                continue
            machine = max(fits, key=lambda m: (network.speed[m], -m))
            free[machine] -= int(dag.cores[task])
            link = max(link, now) + added.dispatch + reads[task] / added.link
            ends[task] = link + added.setup + float(dag.work[task] / network.speed[machine])
            where[task] = machine
        now = min(end for task, end in ends.items() if end > now or task in where)
        for task in [task for task in where if ends[task] <= now]:
            free[where.pop(task)] += int(dag.cores[task])
    return now


@pytest.mark.parametrize("seed", range(40))
def test_a_run_ends_as_one_that_is_followed_by_events(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 15))
    names = [f"t{index}" for index in range(count)]
    edges = [(names[a], names[b]) for b in range(count) for a in range(b) if rng.random() < 0.2]
    cores = {name: int(rng.integers(1, 3)) for name in names}
    dag = Dag({name: float(rng.random()) for name in names}, edges, cores=cores)
    network = Network(rng.random(2) + 0.5, cores=[2, int(rng.integers(1, 4))])
    reads = (rng.random(count) * 100).tolist()
    for added in (Overheads(), Overheads(2.0, 0.1, 0.05, 1000.0), Overheads(link=300.0)):
        found = Engine(dag, network, reads).run(added)
        assert found.end == pytest.approx(replayed(dag, network, reads, added))
        path = found.path
        parts = (
            added.setup * path.setups + added.dispatch * path.dispatches + path.amount / added.link
        )
        assert found.end == pytest.approx(added.startup + path.work + parts)


def test_ready_tasks_go_in_the_order_of_their_ranks():
    dag = Dag({"a": 1.0, "b": 2.0, "c": 3.0})
    found = Engine(dag, Network([1.0]), [0.0] * 3, rank=[3.0, 2.0, 1.0]).run(Overheads())
    assert found.start == [5.0, 3.0, 0.0]


def test_overheads_that_made_the_makespans_are_found_again():
    added = Overheads(20.0, 3.0, 0.5, 1e6)
    rng = np.random.default_rng(1)
    engines = []
    for count in (3, 10, 40, 80, 20, 60):
        dag = Dag.from_arrays(
            work=rng.random(count) * 30, source=[0] * (count - 1), target=range(1, count)
        )
        engines.append(
            Engine(dag, Network([1.0, 1.0], cores=8), (rng.random(count) * 1e7).tolist())
        )
    makespans = [engine.run(added).end for engine in engines]
    found = calibrated(engines, makespans)
    assert all(0.97 < ratio < 1.03 for ratio in found.ratios)
    other = Dag.from_arrays(work=[10.0] * 30, source=[0] * 29, target=range(1, 30))
    engine = Engine(other, Network([1.0], cores=16), [5e6] * 30)
    assert engine.run(found.overheads).end == pytest.approx(engine.run(added).end, rel=0.05)


def test_a_build_takes_what_it_took_on_as_many_cores():
    found = predict(NINJA, graph=GRAPH)
    assert found.makespan == found.measured == found.lower_bound == found.plan == 0.767
    assert found.waits["work"] == pytest.approx(0.767)
    assert predict(NINJA, graph=GRAPH, machines=1).makespan == pytest.approx(1.039)
    assert "no graph" in " ".join(predict(NINJA).notes)


@pytest.mark.parametrize(
    ("trace", "graph"),
    [
        ("ninja_log.txt", "ninja.dot"), ("bench", "snakemake.dot"), ("workflow.json", None),
        ("nextflow.txt", "nextflow.dot"), ("stream.json", "stream_graph.json"),
    ],
)  # fmt: skip
def test_what_is_predicted_holds_together(trace, graph):
    order = None if graph is None else TRACES / graph
    for machines in ("1x2", "2x2@2", "3x4,1x2@0.5"):
        for overheads in ({}, {"startup": 5, "setup": 1, "dispatch": 0.5, "link": 1e6}):
            found = predict(
                    TRACES / trace, machines=machines, graph=order, overheads=overheads,
                    repetitions=50, time_limit=0.05,
                )  # fmt: skip
            assert check(found.result).ok
            assert found.result.makespan == pytest.approx(found.makespan)
            assert found.lower_bound <= found.plan * (1 + 1e-9)
            assert found.plan <= found.makespan
            assert math.fsum(found.waits.values()) == pytest.approx(found.makespan)
            assert found.interval[0] < found.interval[1]
            if overheads:
                assert found.link_twice_as_fast <= found.makespan


def test_the_set_up_of_tasks_is_taken_from_the_trace():
    """Half of the tasks held their cores by 2.5 s or more than they took."""
    found = predict(NEXTFLOW, graph=TRACES / "nextflow.dot")
    assert found.overheads == Overheads(setup=2.5)
    assert "2.5 s a task" in " ".join(found.notes)
    assert found.measured == pytest.approx(83.177)
    assert found.makespan == pytest.approx(found.measured, rel=0.05)


def test_runs_that_say_their_makespan_calibrate(tmp_path):
    data = json.loads(WORKFLOW.read_text())
    data["workflow"]["execution"]["makespanInSeconds"] = 26.0
    other = tmp_path / "other.json"
    other.write_text(json.dumps(data))
    found = predict(WORKFLOW, calibrate=[other, str(WORKFLOW)])
    assert 24.0 <= found.makespan <= 26.0
    assert "from 2 runs" in " ".join(found.notes)
    with pytest.raises(InputError, match=r"a\.tsv: does not say its makespan"):
        predict(WORKFLOW, calibrate=[TRACES / "bench" / "align" / "a.tsv"])
    with pytest.raises(InputError, match="only one of them"):
        predict(WORKFLOW, calibrate=[other], overheads={"setup": 1})


def test_a_report_of_tests_is_a_trace(tmp_path):
    times = tmp_path / ".test_durations"
    times.write_text('{"a.py::x": 3, "a.py::y": 2, "b.py::z": 2}')
    assert predict(times, machines=2).makespan == 4.0
    assert predict(times, machines=Network([1.0, 2.0])).makespan == 2.5


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"machines": "4y2"}, "machines: '4y2' is not allowed; it is as 4, 4x48"),
        ({"machines": 0}, "machines: 0 is not allowed"),
        ({"machines": "2x0"}, "machines: '2x0' is not allowed"),
        ({"overheads": {"set": 1}}, "overheads.set: there is no such overhead"),
        ({"overheads": {"link": 0}}, "overheads.link: 0 is zero; a link brings"),
        ({"graph": GRAPH}, "ninja.dot: is given beside a trace that can't have a graph"),
    ],
)
def test_what_is_not_allowed_is_said(given, said):
    with pytest.raises(InputError, match=said):
        predict(WORKFLOW, **given)


def test_machines_that_are_too_small_or_not_known_are_refused():
    with pytest.raises(InputError, match=r"RNA:ALIGN \(s1\)' takes 2 cores, and no machine has ab"):
        predict(NEXTFLOW, machines="4x1")
    with pytest.raises(InputError, match="machines: are missing"):
        predict(TRACES / "bench")


def test_the_command_says_draws_and_writes(tmp_path, capsys):
    plan, picture = tmp_path / "plan.json", tmp_path / "path.svg"
    arguments = ["predict", str(NINJA), "--graph", str(GRAPH), "--machines", "1x3"]
    assert run([*arguments, "--plot", str(picture), "-o", str(plan), "--seed", "3"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("predicted     0.767 s, 90% from")
    assert "dominant sequence" in picture.read_text()
    assert read_result(plan).makespan == 0.767
    assert run([*arguments, "--overhead", "startup=2", "--overhead", "link=1e3", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["format"] == "makespan.prediction/1"
    assert data["makespan"] == 2.767
    assert data["overheads"] == {"startup": 2, "setup": 0.0, "dispatch": 0.0, "link": 1e3}
    assert run([*arguments[:2], "--graph", str(NINJA)]) == 2
    assert "ninja_log.txt: begins with '0'" in capsys.readouterr().err


def test_the_run_of_a_prediction_is_saved_and_read_again(tmp_path):
    found = predict(WORKFLOW, overheads={"setup": 1.5})
    save(found.result, tmp_path / "run.json")
    assert read_result(tmp_path / "run.json").makespan == found.result.makespan


def test_a_run_in_wfformat_says_its_machines_and_what_tasks_read():
    found = read_run(WORKFLOW)
    assert (found.makespan, list(found.machines)) == (24.0, [2, 2])
    assert list(found.reads) == [5000.0, 2000.0, 2000.0, 200.0]
