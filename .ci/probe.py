"""What an installation does, and says where something is missing; arguments: the extras it has."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import makespan
from makespan import Dag, DivisibleLoad, Network, Partition, Reduction, Star, TaskGraph, Worker

HAS = set(sys.argv[1:])
if "all" in HAS:
    HAS |= {"exact", "plot", "dask", "joblib", "mpi", "frames", "graphs", "serve"}
if "joblib" in HAS:
    HAS.add("dask")


def fails(wrong: str) -> None:
    """End with what was wrong: asserts are not there under PYTHONOPTIMIZE."""
    sys.exit(f"probe: {wrong}")


def needs(extra: str, does: object, brings: str) -> None:
    """Call what an extra brings: without it, the error names the extra, and is no other."""
    try:
        does()
    except makespan.MakespanError as error:
        if (extra in HAS) == (f"makespan[{extra}]" in str(error)):
            fails(f"{brings}: {error}")
    else:
        if extra not in HAS:
            fails(f"{brings} works without makespan[{extra}]")


def command(*arguments: str) -> None:
    """Run the command line in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "makespan", *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        fails(f"makespan {' '.join(arguments)}: {done.returncode}: {done.stderr}")


for kind in ("divisible", "independent", "partition", "reduction", "taskgraph"):
    command("generate", kind, "-o", f"{kind}.toml")
    command(
        "solve", f"{kind}.toml", "--time-limit", "2", "-o", f"{kind}.json", "--plot", f"{kind}.svg"
    )
    command("check", f"{kind}.json")
    command("plot", f"{kind}.json", f"{kind}.html")
    if not Path(f"{kind}.svg").read_text("utf-8").startswith("<svg"):
        fails(f"{kind}.svg is no picture")

star = DivisibleLoad(load=10, platform=Star([Worker(send=1, compute=2), Worker(send=2, compute=3)]))
result = makespan.solve(star)
graph = TaskGraph(Dag({"a": 1, "b": 2}, [("a", "b", 1)]), Network([1.0, 2.0]))
if result.status != "optimal" or makespan.solve(graph).makespan != 1.5:
    fails(f"{result}\n{makespan.solve(graph)}")
if makespan.solve(Partition(tasks=3, costs=[[0, 1, 2, 3], [0, 2, 4, 6]])).makespan != 2:
    fails("a partition of three tasks")
if makespan.solve(Reduction(machines=3, segments=1, transfer=1)).makespan != 2:
    fails("a reduction over three machines")

needs("plot", lambda: makespan.save(result, "plan.png"), "PNG")
needs("plot", result.plot, "axes")
needs("exact", lambda: makespan.solve(graph, method="cp-sat"), "cp-sat")
if "frames" in HAS or "exact" not in HAS:  # ortools needs pandas, too
    needs("frames", result.to_pandas, "pandas")
needs("frames", result.to_polars, "polars")
Path("graph.graphml").write_text(
    '<graphml><graph edgedefault="directed"><node id="a"/><node id="b"/>'
    '<edge source="a" target="b"/></graph></graphml>'
)
needs("graphs", lambda: makespan.read_problem("graph.graphml"), "GraphML")


def on_dask() -> None:
    from makespan.execute import dask

    dask.map(abs, range(3), progress=False)


def on_mpi() -> None:
    from makespan.execute import mpi

    mpi.calibrate(seconds=0.1, progress=False)  # one rank alone is refused


def by_joblib() -> None:
    from makespan.execute import dask

    dask.register_joblib()


if __name__ == "__main__":
    needs("joblib", by_joblib, "joblib")
    if "dask" not in HAS:
        needs("dask", on_dask, "dask.map")
    needs("mpi", on_mpi, "MPI")
    for extra, library in (("exact", "ortools"), ("plot", "matplotlib"), ("dask", "distributed")):
        if (importlib.util.find_spec(library) is not None) != (extra in HAS):
            fails(f"{library} is {'missing' if extra in HAS else 'there'}")
    print("all is there, and what is missing is named")
