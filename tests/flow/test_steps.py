"""Every constructive method logs its steps, in lines, in a table and on a page."""

import json
from dataclasses import replace

import pytest

from makespan import (
    Affine,
    DivisibleLoad,
    IndependentTasks,
    Network,
    Partition,
    Reduction,
    Star,
    TaskGraph,
    Worker,
    read_result,
    save,
    solve,
)
from makespan.core.problem import Problem
from makespan.core.steps import printed, step_of
from makespan.flow.plot import html
from makespan.taskgraph.generate.graphs import layered, tree

LINEAR = Star([Worker(send=2, compute=3), Worker(send=1, compute=5), Worker(send=4, compute=1)])
BUS = Star(
    [
        Worker(send=Affine(fixed, 1), compute=Affine(1, unit))
        for fixed, unit in ((1, 3), (2, 4), (20, 3))
    ]
)
UNIFORM = Star([Worker(send=1, compute=5) for _ in range(3)])
RETURNS = Star([Worker(send=2, compute=3, return_=1), Worker(send=4, compute=5, return_=2)])
TASKS = {"machines": 3, "durations": [7, 6, 5, 4, 3.14159, 2, 2, 1, 0]}
SAME = {"machines": 5, "segments": 4, "latency": 0.0, "transfer": 1.0}
FEW = SAME | {"machines": 3, "segments": 2}
OPEN = {"machines": 5, "segments": "auto", "latency": 3.0, "bytes": 100.0, "message_overhead": 0.7}
OPEN |= {"transfer_per_byte": 0.05, "reduce_per_byte": 0.02}
GRAPH = TaskGraph(layered(20, rng=2), Network([1.0, 1.5, 2.0], rate=2.0))
ROWS = [[0, 3, 4, 9, 12, 13], [0, 2, 5, 6, 11, 13], [0, 1, 9, 9, 10, 14]]
RISING = [[0, 1, 2, 4, 7], [0, 2, 4, 6, 8], [0, 3, 6, 9, 12]]

UNLIKE = ("mct", "uniform-lpt", "min-min", "max-min", "sufferage")
CASES: list[tuple[str, Problem]] = [
    *((name, GRAPH) for name in ("heft", "cpop", "peft", "mcp", "lookahead", "etf", "dls")),
    *((name, GRAPH) for name in ("list-scheduling", "mapping-heuristic", "edge-zeroing")),
    *((name, GRAPH) for name in ("linear-clustering", "dominant-sequence-clustering")),
    ("duplication", TaskGraph(GRAPH.dag, GRAPH.network, duplication=True)),
    ("lpt", IndependentTasks(**TASKS)),
    ("list-scheduling", IndependentTasks(**TASKS)),
    ("multifit", IndependentTasks(**TASKS)),
    *((name, IndependentTasks(2, [7, 6, 5, 4, 3], speeds=[1, 2])) for name in UNLIKE),
    ("interchange", IndependentTasks(**TASKS)),
    ("largest-differencing", IndependentTasks(**TASKS)),
    ("mcnaughton", IndependentTasks(**TASKS, preemptive=True)),
    ("star", DivisibleLoad(load=10, platform=LINEAR)),
    ("bus-exchange", DivisibleLoad(load=10, platform=BUS)),
    ("greedy", DivisibleLoad(load=10, platform=LINEAR)),
    ("umr", DivisibleLoad(load=10, platform=UNIFORM, rounds="auto")),
    ("multi-installment", DivisibleLoad(load=10, platform=UNIFORM, rounds="auto")),
    ("multi-installment", DivisibleLoad(load=10, platform=UNIFORM, rounds=3)),
    ("fifo", DivisibleLoad(load=10, platform=RETURNS, discipline="fifo")),
    ("lifo", DivisibleLoad(load=10, platform=RETURNS, discipline="lifo")),
    ("threshold", Partition(tasks=9, costs=ROWS)),
    ("olar", Partition(tasks=9, costs=RISING)),
    ("marin", Partition(tasks=9, costs=RISING, objective="total")),
    *((name, Reduction(**FEW, reduce=0.5)) for name in ("rarest-first", "two-tree", "backfilling")),
    ("binomial", Reduction(**SAME, reduce=0.0, collective="broadcast")),
    ("circulant", Reduction(**SAME, reduce=0.0)),
    ("reduce-then-broadcast", Reduction(**FEW, reduce=0.5, collective="all-reduce")),
    ("segment-count", Reduction(**OPEN)),
    ("greedy-trees", Reduction(**FEW, reduce=0.5, order="greedy")),
]


@pytest.mark.parametrize(("method", "problem"), CASES, ids=lambda part: str(part)[:20])
def test_constructive_methods_log_their_steps(method: str, problem: Problem) -> None:
    """Steps are lines, rows of tables and data; a log changes nothing about the plan."""
    result = solve(problem, method=method, log=True)
    plain = solve(problem, method=method)
    assert list(result.schedule.records()) == list(plain.schedule.records())
    assert plain.steps == plain.log == ()
    assert result.log == tuple(step.text for step in result.steps)
    assert result.log != (f"{method} logs no steps",)
    assert all(line and "\n" not in line for line in result.log)
    lines = printed(result.steps)
    assert len(lines) >= len(result.steps)
    assert any(step.cells for step in result.steps)
    for step in result.steps:
        assert json.loads(json.dumps(step.as_dict(), allow_nan=False))["text"] == step.text
        items = [item for some in step.items.values() for item in some]
        assert all(0 <= item <= result.schedule.item.max() for item in items)
        for slot in step.slots:
            assert slot.machine in result.schedule.machines
            assert 0 <= slot.start <= slot.end
        for table in step.tables:
            assert all(len(row) == len(table.names) for row in table.rows)
            assert -1 <= table.chosen < len(table.rows)
    assert result.log[0][:5] in html(result)


def test_methods_that_try_others_log_their_own_steps() -> None:
    """An all-reduce logs the sends of its plan, once; a choice of masters what each gave."""
    problem = Reduction(**SAME, reduce=0.5, collective="all-reduce")
    result = solve(problem, method="reduce-then-broadcast", log=True)
    assert len(result.log) == 2 * 4 * 4
    bus = Star([Worker(send=1, compute=c, return_=0.5) for c in (3, 5, 2)], master="choose")
    log = solve(DivisibleLoad(load=10, platform=bus), method="lifo", log=True).log
    tried = [line for line in log if "as the master: makespan" in line]
    assert 1 <= len(tried) <= 3
    assert log[: len(tried)] == tuple(tried)
    assert len(log) == len(tried) + 2


def test_files_keep_the_steps(tmp_path) -> None:
    """A result that was saved and read has the same page; its steps lack only the cells."""
    result = solve(GRAPH, method="heft", log=True)
    save(result, tmp_path / "heft.json")
    back = read_result(tmp_path / "heft.json")
    assert back.log == result.log
    assert back.steps == tuple(replace(step, cells={}) for step in result.steps)
    assert html(back) == html(result)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (3, "a step: 3 is not a table"),
        ({"text": 3}, "text: 3 is not a text"),
        ({"text": "a", "colour": 1}, "there is no 'colour' in a step"),
        ({"text": "a", "items": {"ready": [1.5]}}, "items: 1.5 is not a whole number"),
        ({"text": "a", "time": float("inf")}, "time: inf is not a finite number"),
        ({"text": "a", "slots": [["M1", 0]]}, "not enough values to unpack"),
        (
            {"text": "a", "tables": [{"title": "", "names": ["x"], "rows": [[1, 2]]}]},
            "not as long as the names",
        ),
    ],
)
def test_steps_of_files_are_checked(step, message) -> None:
    """What is not a step is refused with its place."""
    with pytest.raises(ValueError, match=message):
        step_of(step)


def test_slots_of_equal_tasks() -> None:
    """Highest level first says which tasks are executed together."""
    dag = tree(3, inwards=True, ccr=0.0)
    equal = type(dag)(dict.fromkeys(dag.names, 1.0), [(*edge, 0.0) for edge in _edges(dag)])
    result = solve(TaskGraph(equal, Network([1.0, 1.0])), method="hu", log=True)
    placed = [task for step in result.steps for task in step.items["placed"]]
    assert sorted(placed) == list(range(len(equal)))
    assert result.log[0].startswith("slot 1: ")


def _edges(dag):
    pairs = zip(dag.source.tolist(), dag.target.tolist(), strict=True)
    return [(dag.names[source], dag.names[target]) for source, target in pairs]
