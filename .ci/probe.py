"""What an installation does, and says where something is missing; arguments: the extras it has."""

import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import makespan
from makespan import Dag, DivisibleLoad, Network, Partition, Reduction, Star, TaskGraph, Worker

BRINGS = {
    "exact": "ortools",
    "plot": "matplotlib",
    "dask": "distributed",
    "joblib": "joblib",
    "mpi": "mpi4py",
    "frames": "polars",
    "graphs": "networkx",
    "serve": "starlette",
}
"""The extras, and a library that each alone installs."""
HAS = set(sys.argv[1:])
if "all" in HAS:
    HAS |= set(BRINGS)
if "joblib" in HAS:
    HAS.add("dask")

STAR = DivisibleLoad(load=10, platform=Star([Worker(send=1, compute=2), Worker(send=2, compute=3)]))
GRAPH = TaskGraph(Dag({"a": 1, "b": 2}, [("a", "b", 1)]), Network([1.0, 2.0]))
COMPARISON = """
format = "makespan.experiment/1"
instances = ["independent.toml"]
methods = ["list-scheduling"]
"""


def fails(wrong: str) -> None:
    """End with what was wrong: asserts are not there under PYTHONOPTIMIZE."""
    sys.exit(f"probe: {wrong}")


def needs(extra: str, does: Callable[[], Any], brings: str) -> None:
    """Call what an extra brings: without it, the error names the extra, and is no other."""
    try:
        does()
    except makespan.MakespanError as error:
        if extra in HAS or f"makespan[{extra}]" not in str(error):
            fails(f"{brings}: {error}")
    else:
        if extra not in HAS:
            fails(f"{brings} works without makespan[{extra}]")


def command(*arguments: str, extra: str = "") -> None:
    """Run the command line: without the extra that it needs, it names that, and ends with 2."""
    done = subprocess.run(
        [sys.executable, "-m", "makespan", *arguments], capture_output=True, text=True, check=False
    )
    lacks = extra and extra not in HAS
    as_said = not lacks or f"makespan[{extra}]" in done.stderr
    if done.returncode != (2 if lacks else 0) or "Traceback" in done.stderr or not as_said:
        fails(f"makespan {' '.join(arguments)}: {done.returncode}: {done.stderr}")


def is_there() -> None:
    """No library is there but by its extra; ortools brings pandas of frames, which has two."""
    for extra, library in BRINGS.items():
        if (find_spec(library) is not None) != (extra in HAS):
            fails(f"{library} is {'missing' if extra in HAS else 'there'}")


def every_kind() -> None:
    """Each kind goes through the command line, and by ``auto`` without any extra."""
    for kind in ("divisible", "independent", "partition", "reduction", "taskgraph"):
        problem, plan, picture = f"{kind}.toml", f"{kind}.json", f"{kind}.svg"
        command("generate", kind, "-o", problem)
        command("solve", problem, "--time-limit", "2", "-o", plan, "--plot", picture)
        command("check", plan)
        command("plot", plan, f"{kind}.html")
        if not Path(picture).read_text("utf-8").startswith("<svg"):
            fails(f"{picture} is no picture")


def in_python() -> None:
    """Plans whose makespans are known."""
    ends = {
        "a star": (STAR, None),
        "a task graph": (GRAPH, 1.5),
        "a partition of three tasks": (Partition(tasks=3, costs=[[0, 1, 2, 3], [0, 2, 4, 6]]), 2),
        "a reduction over three machines": (Reduction(machines=3, segments=1, transfer=1), 2),
    }
    for what, (problem, end) in ends.items():
        result = makespan.solve(problem)
        if result.status != "optimal" or (end is not None and result.makespan != end):
            fails(f"{what}: {result}")


def libraries() -> None:
    """What each extra brings to Python."""
    result = makespan.solve(STAR)
    needs("plot", lambda: makespan.save(result, "plan.png"), "PNG")
    needs("plot", lambda: makespan.save(result, "plan.pdf"), "PDF")
    needs("plot", result.plot, "axes of a plan")
    needs("plot", STAR.plot, "axes of a problem")
    needs("exact", lambda: makespan.solve(GRAPH, method="cp-sat"), "cp-sat")
    if "frames" in HAS or "exact" not in HAS:
        needs("frames", result.to_pandas, "pandas")
    needs("frames", result.to_polars, "polars")
    Path("graph.graphml").write_text(
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="directed">'
        '<node id="a"/><node id="b"/><edge source="a" target="b"/></graph></graphml>'
    )
    needs("graphs", lambda: makespan.read_problem("graph.graphml"), "GraphML")
    needs("dask", lambda: Dag.from_dask({"a": 1, "b": (abs, "a")}), "a graph of Dask")
    needs("dask", on_dask, "dask.map")
    if "dask" in HAS:
        needs("joblib", by_joblib, "joblib")
    if "mpi" not in HAS:
        needs("mpi", on_mpi, "MPI")


def on_dask() -> None:
    from makespan.execute import dask

    found = dask.map(abs, range(-3, 0), progress=False).results
    if list(found) != [3, 2, 1]:
        fails(f"dask.map: {found}")


def by_joblib() -> None:
    from makespan.execute import dask

    dask.register_joblib()


def on_mpi() -> None:
    from makespan.execute import mpi

    mpi.calibrate(seconds=0.1, progress=False)


def commands() -> None:
    """What each extra brings to the command line."""
    Path("experiment.toml").write_text(COMPARISON)
    Path("lines.txt").write_text("1\n2\n")
    command("plot", "taskgraph.json", "taskgraph.png", extra="plot")
    command("solve", "taskgraph.toml", "--method", "cp-sat", "--time-limit", "2", extra="exact")
    command("solve", "graph.graphml", extra="graphs")
    command("compare", "experiment.toml", "-o", "rows.parquet", extra="frames")
    if "dask" not in HAS:  # with it, these need a cluster
        work = ("--scheduler", "tcp://127.0.0.1:1", "--function", "math:floor")
        command("run", "divisible.json", *work, "--data", "lines.txt", extra="dask")
        command("calibrate", *work, "--sample", "lines.txt", extra="dask")
    if "mpi" in HAS:
        on_ranks()
    else:
        command("run", "--mpi", "reduction.json", extra="mpi")
        command("calibrate", "--mpi", extra="mpi")
    if "serve" in HAS:
        served()
    else:
        command("serve", "--no-browser", extra="serve")


def on_ranks() -> None:
    """A plan is carried out on two ranks."""
    binaries = (Path(sys.executable).parent, Path(sys.prefix, "Library", "bin"))
    places = os.pathsep.join([*map(str, binaries), os.environ.get("PATH", "")])
    start = [shutil.which("mpiexec", path=places) or "mpiexec", "-n", "2", sys.executable]
    makespan.save(makespan.solve(Reduction(machines=2, segments=1, transfer=1)), "two.json")
    run = [*start, "-m", "makespan", "run", "--mpi", "two.json"]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    if done.returncode:
        fails(f"{' '.join(run)}: {done.returncode}: {done.stderr}")


def served() -> None:
    """The page is there."""
    start = [sys.executable, "-m", "makespan", "serve", "--port", "0", "--no-browser"]
    with subprocess.Popen(start, stdout=subprocess.PIPE, text=True) as server:
        try:
            line = server.stdout.readline() if server.stdout else ""
            address = next((word for word in line.split() if word.startswith("http")), "")
            with urllib.request.urlopen(address, timeout=60) as answer:
                if b"<title>" not in answer.read():
                    fails(f"{address} is no page")
        finally:
            server.terminate()


if __name__ == "__main__":
    is_there()
    every_kind()
    in_python()
    libraries()
    commands()
    print("all is there, and what is missing is named")
