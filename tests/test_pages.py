"""Every page with code is run: from top to bottom, its Python and its commands as they stand there.

What a page presumes that it does not show (a client, a file of its own) is made here. The stories
are told by ``test_stories``; some pages have tests of their own.
"""

from __future__ import annotations

import doctest
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import makespan
from makespan.flow.kinds import generate
from tests.execute.conftest import in_process
from tests.sources import python_path
from tests.test_stories import SECONDS

ROOT = Path(__file__).parents[1]
PLACES = ("*.md", "docs/*.md", "examples/*/*.md")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
RUN = ("python", "sh", "toml", "text")
ELSEWHERE = {
    "files.md": "tests/flow/test_files_page.py",
    "command_line.md": "tests/flow/test_files_page.py",
    "pictures.md": "tests/flow/test_pictures_page.py",
    "dask_graphs.md": "packages/makespan-dask/tests/execute/dask/graphs/test_graph_docs.py",
    "studio.md": "tests/studio/test_docs.py",
    "torch.md": "packages/makespan-collectives/tests/execute/torch/test_training.py",
}
DASK = """
import joblib
from distributed import Client
client = Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0")
function, data, sample, item = abs, range(32_000), list(range(4_000)), -3
"""
PRESUMED = {
    "README.md": DASK,
    "dask.md": DASK,
    "extending.md": """
from unittest.mock import MagicMock
from makespan.core.numeric.jit import loop, part
schedule_by_due_date = MagicMock()
workers, send, compute, slope = [1], 1, 2, 3
size = costs = trees = growth = aim = plan = script = seed = allowed = flag = 1
""",
    "reduction_mpi.md": "import numpy as np\nsendbuf, recvbuf = my_array, _ = np.ones((2, 9_000))",
}
"""Python that stands before what a page shows; of programs by themselves not."""
AFTER = {
    "extending.md": """
from makespan import Star, Worker, solve
star = Star([Worker(send=1, compute=1)])
assert solve(DivisibleLoad(load=1, platform=star), method="fastest-only").makespan == 2
"""
}
TOLD = re.compile(
    r"#\s+([<\[({].*|-?\d[\d.,]*(?:[,;].*)?|(?:optimal|True|False)\b.*)$", re.MULTILINE
)
"""A comment that says what a line gives."""
HELD = {"dask_graphs.md": ["140"]}
"""Those that a test of its own holds."""
SHORTER: dict[str, Any] = {
    r"--minutes \d+": "--minutes 0.01 --seed 1 --without signals --without limits --without faults",
    r"--tries \d+": "--tries 5",
    "auto milp --sizes 100 1000 1e5": "auto --sizes 10 --limit 0.3 --family uplink sources tree",
    "--time-limit 10|time_limit = 10 ": lambda found: found[0].replace("10", "0.2"),
    "--length 1000000": "--length 10000",
    r"makespan compile\n": "makespan compile --help\n",  # tests/flow/test_compile.py does it
    r"(makespan.*?) +# infeasible.*": r"\1 || [ $? = 3 ]",
    r".*(--replay|--smaller|--report).*\n": "",  # kept cases, and the page itself
    r".*(venv|mkdocs serve).*\n": "",  # .ci/run does
}


def code(page: Path) -> list[tuple[str, str]]:
    return [(form, text) for form, text in BLOCK.findall(page.read_text("utf-8")) if form in RUN]


PAGES = {
    page.relative_to(ROOT).as_posix(): page
    for place in PLACES
    for page in sorted(ROOT.glob(place))
    if any(form in ("python", "sh") and ">>>" not in text for form, text in code(page))
    and page.name not in ELSEWHERE
}
KINDS = (
    "partition.md", "taskgraph.md", "taskgraph_lecture.md", "reduction.md", "independent.md",
    "pipeline.md", "divisible_rounds.md",
)  # fmt: skip
"""Pages whose sessions are run by the tests of their kinds, with their tables of methods."""
SESSIONS = [
    page
    for place in PLACES
    for page in sorted(ROOT.glob(place))
    if ">>> " in page.read_text("utf-8") and page.name not in KINDS
]


@pytest.mark.parametrize(("page", "test"), ELSEWHERE.items())
def test_pages_elsewhere(page: str, test: str) -> None:
    """Those that are not run here have a test that names them."""
    assert page in (ROOT / test).read_text("utf-8")


def test_results_are_printed_not_told_in_comments() -> None:
    """What a line gives stands below it, where it is held, or not at all."""
    for page in (page for place in PLACES for page in ROOT.glob(place)):
        programs = [text for form, text in code(page) if form == "python"]
        assert [said for text in programs for said in TOLD.findall(text)] == HELD.get(page.name, [])


@pytest.mark.parametrize("page", SESSIONS, ids=lambda page: page.name)
def test_sessions_print_what_stands_there(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands behind ``>>>`` gives what stands below it."""
    monkeypatch.chdir(ROOT)
    found = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert found.attempted
    assert not found.failed


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_the_page_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From top to bottom, in a folder with the examples and the files that it presumes."""
    page = PAGES[name]
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    session, told, printed = "", 0, ""
    with ExitStack() as stack:
        make_files(page)
        for form, texts in groups(page):
            if form == "sh":
                session, told, address = "", 0, "no cluster"
                if "HOST" in texts:
                    address = stack.enter_context(in_process(2)).scheduler_address
                printed = shell(texts.replace("tcp://HOST:8786", address))
            elif form == "text":
                assert untimed(printed) == untimed(texts)
            else:  # a session goes on behind what it printed
                if by_itself(texts):
                    session, told = "", 0
                session += texts
                lines = python(session, page.name).splitlines()
                printed, told = "\n".join(lines[told:]), len(lines)


def groups(page: Path) -> Iterator[tuple[str, str]]:
    """Yield what is run in one go: commands, or what one session in Python shows.

    A program by itself, and one for MPI, begins with its imports.
    """
    blocks = [(form, text) for form, text in code(page) if form != "toml" and ">>>" not in text]
    for form, together in groupby(blocks, lambda block: block[0]):
        if form != "python":
            yield from together
            continue
        session = ""
        for _, text in together:
            if session and by_itself(text):
                yield form, session
                session = ""
            session += text
        yield form, session


def by_itself(program: str) -> bool:
    return "if __name__" in program or "import MPI" in program


def untimed(text: str) -> list[str]:
    return [" ".join(SECONDS.sub("_ s", line).split()) for line in text.splitlines()]


def make_files(page: Path) -> None:
    """Make what pages take for granted."""
    Path("examples").symlink_to(ROOT / "examples")
    Path("docs").mkdir()
    for table in (ROOT / "examples" / "mixed_gpus").iterdir():
        shutil.copy(table, table.name)
    shutil.copy(ROOT / "examples/collectives/all-reduce.toml", "all-reduce.toml")
    by_rule = makespan.Reduction(machines=3, segments=2, transfer=1, order="greedy")
    makespan.save(by_rule, "reduction.toml")
    Path("graphs").mkdir()
    makespan.save(generate("taskgraph", options={"size": 3}), "graphs/small.toml")
    Path("work.py").write_text("def render(frame):\n    return frame.sum()\n")
    np.save("frames.npy", np.ones((32_000, 2)))
    times = {f"tests/test_{number % 3}.py::test_{number}": 1.0 + number for number in range(12)}
    Path(".test_durations").write_text(json.dumps(times))
    cases = "".join(f'<testcase file="a" name="{name}" time="60"/>' for name in times)
    Path("junit.xml").write_text(f"<testsuite>{cases}</testsuite>")
    for form, text in code(page):
        if form == "toml" and (name := re.match(r"# ([\w-]+\.toml)\n", text)):
            Path(name[1]).write_text(shorter(text), "utf-8")


def shorter(text: str) -> str:
    for much, less in SHORTER.items():
        text = re.sub(much, less, text)
    return text


def shell(commands: str) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return run(
        ["bash", "-euo", "pipefail", "-c", shorter(commands)],
        PATH=path,
        PYTHONPATH=python_path(os.getcwd()),
    )


def python(text: str, page: str) -> str:
    alone = "if __name__" in text
    Path("page.py").write_text(
        f"{'' if alone else PRESUMED.get(page, '')}\n{text}\n{AFTER.get(page, '')}\n", "utf-8"
    )
    ranks = ["mpiexec", "-n", "4"] if "import MPI" in text else []
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return run([*ranks, sys.executable, "page.py"], PATH=path, PYTHONPATH=python_path(os.getcwd()))


QUIET = {"PYTHONWARNINGS": "ignore:Port:UserWarning"}
"""Pages run beside others, one of which may have the port of a cluster's dashboard."""


def run(command: list[str], **environment: str) -> str:
    with subprocess.Popen(
        command,
        env={
            **os.environ,
            "MPLBACKEND": "Agg",
            "COLUMNS": "120",
            "NO_COLOR": "1",
            **QUIET,
            **environment,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            printed, _ = process.communicate(timeout=300)
        except BaseException:  # what it has started holds its output open, too
            os.killpg(process.pid, signal.SIGKILL)
            raise
    assert process.returncode == 0, printed[-4000:]
    return printed
