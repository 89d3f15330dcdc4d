"""A class: an exercise, twenty answers that mean well, and ten that are broken or hostile."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

EXERCISE = """
title = "Two machines, five tasks"
question = "Is there a plan that ends at 6 seconds?"
method = "lpt"
[problem]
kind = "independent"
machines = 2
durations = [3, 3, 2, 2, 2]
[grading]
step = 5
time_limit = 2
memory = 512
"""
LIST = """
def plan(problem):
    free = [0.0] * problem["machines"]
    rows = []
    for task, seconds in sorted(enumerate(problem["durations"]), key=lambda each: {key}):
        machine = free.index(min(free))
        rows.append({{"item": task, "machine": f"M{{machine + 1}}", "start": free[machine]}})
        free[machine] += seconds
        rows[-1]["end"] = free[machine]
    return rows
"""
HOSTILE = {
    "endless": "def plan(problem):\n    while True: pass",
    "asleep": "import time\ndef plan(problem): time.sleep(1000)",
    "huge": "def plan(problem): return [bytearray(10**9) for _ in range(100)]",
    "long": "def plan(problem): return 'x' * 10**8",
    "network": "import socket\ndef plan(problem): return socket.create_connection(('1.1.1.1', 53))",
    "writing": "def plan(problem):\n    open({target!r}, 'w').write('mine')",
    "starting": "import subprocess\ndef plan(problem): return subprocess.run(['id']).stdout",
    "forged": "import os, json\ndef plan(problem):\n"
    "    for fd in range(3, 20):\n"
    '        try: os.write(fd, b\'{{"answer": {{"points": 100, "makespan": 0}}}}\')\n'
    "        except OSError: pass\n"
    "    os._exit(0)",
    "killing": "import os, signal\ndef plan(problem): os.kill(os.getppid(), signal.SIGKILL)",
}


def rows(order: list[tuple[int, str]]) -> list[dict[str, object]]:
    """Return tasks on machines, one after another."""
    seconds, free, found = [3, 3, 2, 2, 2], {"M1": 0, "M2": 0}, []
    for task, machine in order:
        start = free[machine]
        free[machine] += seconds[task]
        row = {"task": f"T{task + 1}", "machine": machine, "start": start, "end": free[machine]}
        found.append(row)
    return found


BEST = [(0, "M1"), (1, "M1"), (2, "M2"), (3, "M2"), (4, "M2")]
SEVEN = [(0, "M1"), (1, "M2"), (2, "M1"), (3, "M2"), (4, "M1")]


@pytest.fixture
def exercise(tmp_path: Path) -> Path:
    """The file of the exercise."""
    file = tmp_path / "exercise.toml"
    file.write_text(EXERCISE)
    return file


@pytest.fixture
def submissions(tmp_path: Path) -> Path:
    """A folder with thirty submissions; ``victim.txt`` beside it is not theirs to write."""
    folder = tmp_path / "submissions"
    folder.mkdir()
    (tmp_path / "victim.txt").write_text("yours")
    for number in range(8):
        (folder / f"lpt{number}.py").write_text(LIST.format(key="-each[1]"))
    for number in range(4):
        (folder / f"given{number}.py").write_text(LIST.format(key="each[0]"))
    for number in range(4):
        text = "task,machine,start,end\n"
        for row in rows(BEST if number % 2 else SEVEN):
            text += ",".join(map(str, row.values())) + "\n"
        (folder / f"rows{number}.csv").write_text(text)
    for number in range(4):
        activities = [
            {"kind": "compute", "machine": row["machine"], "peer": None, "item": BEST[at][0]}
            | {"amount": [3, 3, 2, 2, 2][BEST[at][0]], "start": row["start"], "end": row["end"]}
            for at, row in enumerate(rows(BEST))
        ]
        plan = {"format": "makespan.result/1", "kind": "independent", "makespan": 1.0}
        plan |= {"schedule": {"activities": activities}, "details": {"name": f"Ada {number}"}}
        plan["details"] |= {"points": 100000}  # type: ignore[operator]
        (folder / f"hand-in-{number}.json").write_text(json.dumps(plan))
    for name, source in HOSTILE.items():
        text = source.format(target=str(tmp_path / "victim.txt")) if "{" in source else source
        (folder / f"{name}.py").write_text(text)
    (folder / "broken.json").write_text('{"schedule": [')
    return folder
