"""The answer that people read: who gets how much, by name, whatever the platform."""

from __future__ import annotations

import re

import numpy as np
import pytest

from makespan import DivisibleLoad, Master, Star, Tree, Worker, solve
from makespan.divisible.answer import SHOWN, answer, lines

WORKERS = [Worker(name="A", send=1.0, compute=3.0), Worker(name="B", send=2.0, compute=5.0)]
SLOW = Worker(name="S", send=1.0, compute=(900.0, 1.0))
LEAVES = [
    {"name": "A", "parent": "R", "send": 0.2, "compute": 0.25},
    {"name": "B", "parent": "A", "send": 0.1, "compute": 0.25},
]
STAR = Star(WORKERS, master=Master(name="M"))
PROBLEMS = {
    "star": {"platform": STAR},
    "master computes": {"platform": Star(WORKERS, master=Master(name="M", compute=4.0))},
    "someone is left out": {"platform": Star([*WORKERS, SLOW])},
    "an empty chunk": {"platform": Star([*WORKERS, SLOW]), "use": "all"},
    "bus, open master": {"platform": Star.bus(send=1.0, workers=[*WORKERS, SLOW], master="choose")},
    "links": {"platform": STAR, "ports": "many"},
    "rounds": {"platform": STAR, "rounds": 3},
    "tree, root last": {"platform": Tree([*LEAVES, {"name": "R"}])},
    "tree, root computes": {"platform": Tree([*LEAVES, {"name": "R", "compute": 0.3}])},
    "tree, a node forwards": {
        "platform": Tree([{**LEAVES[0], "compute": None}, LEAVES[1], {"name": "R"}])
    },
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_table_names_each_machine_with_its_load(name):
    """Loads are those of the computations by name, each once, the holder of the load first."""
    result = solve(DivisibleLoad(load=10.0, **PROBLEMS[name]), time_limit=5)
    problem, schedule = result.problem, result.schedule
    loads: dict[str, float] = {}
    for record in schedule.records():
        if record["kind"] == "compute":
            loads[record["machine"]] = loads.get(record["machine"], 0.0) + record["amount"]
    found = answer(problem, schedule)
    assert {each: load for each, load in found["loads"].items() if load} == pytest.approx(
        {each: load for each, load in loads.items() if load}
    )
    table = [line.split() for line in lines(problem, schedule)[1:] if line[0] in "ABMPRS"]
    names = [row[0] for row in table]
    assert len(names) == len(set(names))
    listed = {row[0]: float(row[1]) for row in table if float(row[1]) > 0}
    assert listed == pytest.approx({each: load for each, load in loads.items() if load}, rel=1e-6)
    if loads.get(found["master"]):
        assert names[0] == found["master"]
    said = [line for line in lines(problem, schedule) if "get nothing" in line]
    nothing = [
        each for each, load in found["loads"].items() if each != found["master"] and not load
    ]
    others = len(found["loads"]) - (found["master"] in found["loads"])
    assert said == ([f"{len(nothing)} of {others} workers get nothing"] if nothing else [])


def test_long_tables_count_the_rest():
    """Only the first are shown; how many more have a load, and how many none, adds up."""
    star = Star.from_arrays(
        send_per_unit=np.full(50, 0.01), compute_per_unit=1.0, compute_fixed=[0.0] * 45 + [1e6] * 5
    )
    result = solve(DivisibleLoad(load=10.0, platform=star))
    table = lines(result.problem, result.schedule)
    busy = len({each["machine"] for each in result.schedule.records() if each["kind"] == "compute"})
    counts = [int(re.search(r"\d+", line)[0]) for line in table[SHOWN + 1 :]]
    assert counts == [busy - SHOWN, 50 - busy]
