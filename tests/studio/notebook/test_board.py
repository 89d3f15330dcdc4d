"""The half of a board that is in Python: what is placed, what is asked, what does not fit."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import makespan
from makespan import Affine, Dag, DivisibleLoad, Network, Reduction, Star, Tree, TreeNode, Worker
from makespan.flow.kinds import generate
from makespan.studio.notebook.widget import misfits

TASKS = makespan.IndependentTasks(2, [3, 3, 2, 2, 2])
anywidget = pytest.importorskip("anywidget")


def placed(*where):
    """What the page sends when tasks stand on machines at times."""
    rows = [
        {"kind": "compute", "machine": machine, "peer": None, "item": item,
         "amount": TASKS.durations[item], "start": start, "end": start + TASKS.durations[item]}
        for item, (machine, start) in enumerate(where)
    ]  # fmt: skip
    return {"moves": [], "machines": ["M1", "M2"], "activities": json.loads(json.dumps(rows))}


WHOLE = placed(("M1", 0), ("M1", 3), ("M2", 1), ("M2", 3), ("M2", 5))


def test_what_is_placed_is_a_result():
    """As it was placed, idle time and all, with the bound; whoever observes is told."""
    board, seen = makespan.board(TASKS), []
    board.observe(lambda change: seen.append(change["new"]), "result")
    board._placed = WHOLE
    assert (board.result.makespan, board.result.lower_bound) == (7.0, 6.0)
    assert board.result.gap == pytest.approx(1 / 7)
    assert board.result.schedule.start.tolist() == [0, 3, 1, 3, 5]
    assert makespan.check(board.result).ok
    assert seen == [board.result]
    board._placed = {**WHOLE, "activities": []}
    assert (board.schedule, board.report, board.result) == (None, None, None)


def test_what_is_wrong_is_no_result():
    """A part, and an overlap: the report says what; the schedule is there."""
    board = makespan.board(TASKS)
    board._placed = placed(("M1", 0))
    assert {each.rule for each in board.report.violations} == {"missing-task"}
    board._placed = placed(("M1", 0), ("M1", 2), ("M2", 0), ("M2", 2), ("M2", 4))
    assert board.result is None
    assert "M1 starts task T2 at 2.0, but runs task T1 until 3.0" in str(board.report)
    assert len(board.schedule) == 5


def test_an_optimal_plan_is_known_as_one():
    board = makespan.board(TASKS)
    board._placed = placed(("M1", 0), ("M1", 3), ("M2", 0), ("M2", 2), ("M2", 4))
    assert (board.result.status, board.result.gap) == ("optimal", 0.0)


def test_a_result_is_shown():
    """Of any kind; on the board where that can hold it."""
    plan = makespan.solve(TASKS, method="lpt", log=True)
    board = makespan.board(plan)
    assert board.result is plan
    assert len(board._placed["activities"]) == 5
    assert len(board._shown["data"]["charts"][0]["steps"]) == 5
    pipeline = makespan.board(makespan.solve(generate("pipeline", options={"stages": 3})))
    assert pipeline._shown["data"]["charts"]
    assert (pipeline._placed["activities"], pipeline._stated["placeable"]) == ([], False)


def answer(board, what, body):
    """What a board answers to a message of its page."""
    sent = []
    board.send = sent.append
    board._answer(board, {"number": "a/1", "what": what, "body": json.dumps(body)}, [])
    assert sent[0]["number"] == "a/1"
    return sent[0]["status"], sent[0]["answer"]


def test_the_page_asks_the_kernel():
    """As it asks a server; mistakes come back with their places."""
    board = makespan.board(TASKS)
    stated = {name: value for name, value in board._stated.items() if name != "placeable"}
    status, found = answer(board, "solve", {"problem": stated, "view": True, "steps": True})
    assert (status, found["makespan"], found["status"]) == (200, 6.0, "optimal")
    assert found["view"]["data"]["charts"]
    status, found = answer(board, "check", {"problem": {**stated, "machines": -1}, "schedule": {}})
    assert (status, found["mistakes"][0]["place"]) == (422, "machines")


LINE = Network([1, 1, 1], links=[("M1", "M2", 1), ("M2", "M3", 1)], topology="links")
GRAPH = Dag({"a": 1.0, "b": 1.0}, [("a", "b", 1.0)])
PAIR = Network.complete(speeds=[1, 1])
SPLIT = {"segments": "auto", "bytes": 10, "transfer_per_byte": 1, "message_overhead": 1}
CREW = Star([Worker(send=1, compute=Affine(1, 2))])


@pytest.mark.parametrize(
    ("problem", "place"),
    [
        (makespan.TaskGraph(GRAPH, LINE), "network"),
        (makespan.TaskGraph(GRAPH, PAIR, contention="ports"), "contention"),
        (DivisibleLoad(load=1, platform=CREW, rounds=2), "rounds"),
        (DivisibleLoad(load=1, platform=Star([Worker(send=1, compute=1, return_=1)])), "platform"),
        (DivisibleLoad(load=1, platform=Tree([TreeNode(name="P0", compute=1)])), "platform"),
        (Reduction(machines=2, **SPLIT), "network"),
        (makespan.IndependentTasks(201, [1.0]), "machines"),
        (generate("pipeline", options={}), "kind"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.kind,
)  # fmt: skip
def test_what_does_not_fit(problem, place):
    with pytest.raises(makespan.ProblemError) as caught:
        makespan.board(problem)
    assert place in [mistake.place for mistake in caught.value.mistakes]


@pytest.mark.parametrize(
    "kind", ["taskgraph", "independent", "divisible", "partition", "reduction"]
)
def test_what_fits(kind):
    """What the studio's exercises are."""
    from makespan.flow.files.files import problem_of
    from makespan.studio.exercises import exercises

    for exercise in exercises():
        if exercise["problem"]["kind"] == kind:
            board = makespan.board(problem_of(exercise["problem"]))
            assert board._stated["placeable"]
            assert not misfits(board._stated)


def test_neither_a_problem_nor_a_result():
    with pytest.raises(makespan.ProblemError, match="problem: 3 is neither a problem nor a result"):
        makespan.board(3)


def test_without_the_extra():
    """The error names it; asking for the name costs nothing."""
    code = (
        "import sys; sys.modules['anywidget'] = None\nimport makespan\n"
        "try: makespan.board(makespan.IndependentTasks(2, [1]))\n"
        "except makespan.MissingExtra as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "makespan[notebook]" in said.stdout
