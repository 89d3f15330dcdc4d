"""Trace → how long the same work takes on machines; runs that were measured → what engines add."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from makespan.backends.highs import Programme
from makespan.core.control import Control
from makespan.core.errors import FileError, InputError, headed
from makespan.core.inputs.files import PathLike, read_text, shown_path
from makespan.core.inputs.rules import Mistakes, Rule, quoted
from makespan.core.inputs.suggest import did_you_mean, suggesting
from makespan.core.noise import Noise, as_noise
from makespan.core.numeric.arrays import Floats
from makespan.core.schedule import Activity, Schedule
from makespan.core.simulation import Replay as Disturbed
from makespan.core.solution import Status, relative_gap
from makespan.flow.replay import Engine, Overheads, Replay
from makespan.flow.result import Result
from makespan.flow.simulate import checked_count
from makespan.flow.solve import solve
from makespan.flow.timings import read, times_of
from makespan.taskgraph.formats import traces
from makespan.taskgraph.formats.precedence import Timed
from makespan.taskgraph.formats.traces import Trace
from makespan.taskgraph.model.dag import Dag
from makespan.taskgraph.model.network import Network
from makespan.taskgraph.problem import TaskGraph

SHARE = 0.9  # of the runs that end within the interval


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """How long a run takes on machines, as its engine would make it.

    Parameters
    ----------
    makespan
        Seconds.
    interval
        The seconds within which 90 % of the runs end that noise makes of it.
    lower_bound
        Seconds that no order of the tasks goes below.
    plan
        The seconds of the best order that is known.
    measured
        What the trace says, on its own machines; None where it says nothing.
    waits
        What the end waits for, one after another: seconds of ``"startup"``, ``"setup"``,
        ``"dispatch"``, ``"link"`` and ``"work"``, which add up to the makespan.
    one_machine_more
        The makespan with another machine like the fastest.
    link_twice_as_fast
        The makespan with twice the link; None where no link is known.
    overheads
        What the engine adds: ``startup``, ``setup``, ``dispatch`` and ``link``.
    noise
        What durations are disturbed by.
    result
        The run as a plan, to draw and save.
    notes
        Sentences for the reader.

    >>> import makespan, pathlib, tempfile
    >>> times = pathlib.Path(tempfile.mkdtemp(), ".test_durations")
    >>> _ = times.write_text('{"a.py::x": 3, "a.py::y": 2, "b.py::z": 2}')
    >>> makespan.predict(times, machines=2).waits["work"]
    4.0
    """

    makespan: float
    interval: tuple[float, float]
    lower_bound: float
    plan: float
    measured: float | None
    waits: Mapping[str, float]
    one_machine_more: float
    link_twice_as_fast: float | None
    overheads: Overheads
    noise: Noise
    result: Result = field(repr=False)
    notes: Sequence[str] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the prediction for a file, without its plan."""
        data = {"format": "makespan.prediction/1", **asdict(replace(self, result=None))}  # type: ignore[arg-type]
        del data["result"]
        data["noise"] = self.noise.as_dict()
        data["overheads"]["link"] = None if self.overheads.link == inf else self.overheads.link
        return data

    def __str__(self) -> str:
        low, high = self.interval
        parts = [f"{value:.6g} s {name}" for name, value in self.waits.items() if value]
        lines = [
            f"predicted     {self.makespan:.6g} s, {SHARE:.0%} from {low:.6g} to {high:.6g} s",
            f"lower bound   {self.lower_bound:.6g} s, best order known {self.plan:.6g} s",
            f"waits for     {', '.join(parts) or 'nothing'}",
            f"machine more  {self._changed(self.one_machine_more)}",
        ]
        if self.link_twice_as_fast is not None:
            lines.append(f"link doubled  {self._changed(self.link_twice_as_fast)}")
        if self.measured is not None:
            lines.append(f"measured      {self.measured:.6g} s, on the machines of the trace")
        return "\n".join(lines)

    def _changed(self, makespan: float) -> str:
        return f"{makespan:.6g} s ({makespan - self.makespan:+.4g} s)"


MOST = 100_000  # machines
MACHINES = re.compile(r"(\d{1,6})(?:x(\d{1,6}))?(?:@(\d+(?:\.\d+)?))?", re.ASCII)
ALLOWED = "it is as 4, 4x48 (of 48 cores) or 2x8@1.5,4x8 (two 1.5 times as fast)"


def read_run(path: PathLike, graph: PathLike | None = None) -> Trace:
    """Return the run in a file, or in the benchmarks of a folder; see :func:`makespan.predict`."""
    name = shown_path(path)
    if name != "-" and Path(path).is_dir():
        inside = [each for each in sorted(Path(path).rglob("*")) if each.is_file()]
        texts = {each.relative_to(path).as_posix(): read_text(each) for each in inside}
        files = {each: text for each, text in texts.items() if traces.is_benchmark(text)}
    else:
        files = {name: read_text(path, pipes=True)}
    first = next(iter(files.values()), "")
    with headed(name):
        if not first.strip():
            raise FileError("is empty" if files else "holds no benchmark of Snakemake")
        if traces.is_trace(first):
            log = traces.read(files)
        else:
            taken = times_of(read(first), None, None)
            log = traces.Log([Timed(test, seconds) for test, seconds in taken.items()])
    text = None if graph is None else read_text(graph, pipes=True)
    mistakes = Mistakes()
    with headed(name if graph is None else shown_path(graph)):
        run = log.run(text)
        run.dag.collect_mistakes(mistakes)
        mistakes.raise_if_any(FileError)
        if not len(run.dag):
            raise FileError("holds no task")
    return run


def machines_of(machines: int | str | Network | None, run: Trace) -> Network:
    """Return machines of some speeds and cores; of a number each has as many as a task takes."""
    if isinstance(machines, Network):
        return machines
    if machines is None:
        if not run.machines:
            raise InputError("machines: are missing: the trace does not say on how many it ran")
        return Network([1.0] * len(run.machines), cores=run.machines)
    cores: list[int] = []
    speeds: list[float] = []
    for part in str(machines).split(","):
        found = MACHINES.fullmatch(part)
        count, each, speed = found.groups() if found else (0, None, None)
        number, held = int(count), int(run.dag.cores.max()) if each is None else int(each)
        if not 0 < number <= MOST - len(cores) or not held or not float(speed or 1):
            raise InputError(f"machines: {quoted(machines)} is not allowed; {ALLOWED}")
        cores += [held] * number
        speeds += [float(speed or 1)] * number
    return Network(speeds, cores=cores)


def engine_of(run: Trace, network: Network, rank: Sequence[float] | None = None) -> Engine:
    """Return the tasks of a run on machines, of which one has the cores that a task takes."""
    task, most = int(run.dag.cores.argmax()), int(network.cores.max())
    if (cores := int(run.dag.cores[task])) > most:
        text = f"{quoted(run.dag.names[task])} takes {cores} cores, and no machine has above {most}"
        raise InputError(f"machines: {text}")
    return Engine(run.dag, network, run.reads, run.joins, rank)


ROUNDS = 12
BEGINNINGS = (Overheads(), Overheads(setup=10.0, dispatch=1.0, link=1e8))
UNIT = 1e9  # bytes, so that the numbers of a programme are alike


class Calibration(NamedTuple):
    """What an engine adds, and by which factors makespans may be off.

    A factor is a measured makespan over the one that follows. What is fitted to a run is nearer to
    it than to others: with n runs n / (n - 4) times as near, in logarithms, so many are left out.
    """

    overheads: Overheads
    ratios: Sequence[float]


def calibrated(engines: Sequence[Engine], makespans: Sequence[float]) -> Calibration:
    """Return the overheads with the least mean error, relative to the measured makespans.

    A makespan is linear in the overheads as long as its run waits for the same. So a linear
    programme finds the best for what the runs wait for now, and the runs are made anew with them,
    or half of the way there, in turn. The best that is met is returned: a local optimum.
    Complexity: 24 runs of each.
    """
    best, least = Calibration(Overheads(), []), inf
    for overheads in BEGINNINGS:
        at = overheads
        for step in range(ROUNDS):
            runs = [engine.run(at) for engine in engines]
            ratios = [each / (run.end or each) for each, run in zip(makespans, runs, strict=True)]
            error = sum(abs(1.0 / each - 1.0) for each in ratios)
            if error < least:
                apart = len(ratios) / max(1, len(ratios) - 4)
                best, least = Calibration(at, [each**apart for each in ratios]), error
            at = _between(at, _fitted(runs, makespans), 0.5 if step % 2 else 1.0)
    return best


def _fitted(runs: Sequence[Replay], makespans: Sequence[float]) -> Floats:
    """Return start-up, set-up, dispatch and seconds a unit of bytes that fit what runs wait for."""
    programme = Programme()
    overheads = programme.variables(4)
    errors = programme.variables(len(runs), cost=1.0)
    for (*_, path), measured, error in zip(runs, makespans, errors, strict=True):
        terms = np.array([1.0, path.setups, path.dispatches, path.amount / UNIT]) / measured
        rest = 1.0 - path.work / measured
        programme.row([*overheads, error], [*terms, 1.0], low=rest)
        programme.row([*overheads, error], [*terms, -1.0], high=rest)
    return np.maximum(programme.solve(Control()).values[:4], 0.0)


def _between(before: Overheads, after: Floats, share: float) -> Overheads:
    old = np.array([before.startup, before.setup, before.dispatch, UNIT / before.link])
    startup, setup, dispatch, unit = (old + share * (after - old)).tolist()
    return Overheads(startup, setup, dispatch, UNIT / unit if unit else inf)


SECONDS = 2.0
PARAMETERS = 4  # overheads: as many runs can be fitted without error
OVERHEAD = Rule("an overhead is 0 or more seconds")
LINK = Rule("a link brings more than 0 bytes a second", strictly=True, infinite=True)
UNKNOWN = "overheads: none are known, so a run takes longer; runs to calibrate say them"


@suggesting
def predict(
    trace: PathLike,
    *,
    machines: int | str | Network | None = None,
    graph: PathLike | None = None,
    calibrate: Sequence[PathLike] = (),
    overheads: Mapping[str, float] | None = None,
    noise: Noise | float | Mapping[str, Any] = 0.1,
    repetitions: int = 100,
    time_limit: float | None = None,
    rng: int | np.random.Generator | None = None,
) -> Prediction:
    r"""Predict how long the work of a run takes on machines.

    Tasks start as they get ready, where cores are free: the first that is ready first.

    Parameters
    ----------
    trace
        The file of a run: Nextflow's trace, ``.ninja_log``, Dask's task stream, WfFormat, a report
        of tests as ``makespan split`` reads it; a benchmark of Snakemake, or a folder of them.
    machines
        How many; or ``"4x48"``, 4 machines of 48 cores, ``"2x8@1.5,4x8"``, of which two are 1.5
        times as fast as those of the trace; or a network, of which speeds and cores count. None:
        those of the trace.
    graph
        Who waits for whom, where the trace does not say it: DOT of ``nextflow -with-dag``,
        ``snakemake --forceall --dag`` or ``ninja -t graph``, or JSON with, under each name, the
        names that it waits for.
    calibrate
        Traces of other runs by the same engine that say their machines and makespans: the
        overheads are fitted to them.
    overheads
        What the engine adds in place of this: ``startup``, ``setup`` of each task and ``dispatch``
        of one task after another, seconds, and ``link``, bytes a second.
    noise
        The error of durations, as for :func:`makespan.simulate`.
    repetitions
        How many runs the interval is made of.
    time_limit
        Seconds for the bound and the best order; None: 2 s.
    rng
        A seed or a generator; None is seed 0.

    Raises
    ------
    InputError
        If a file is not what it seems to be, or an argument is not allowed; with the place.

    >>> import tempfile, pathlib
    >>> log = pathlib.Path(tempfile.mkdtemp(), ".ninja_log")
    >>> _ = log.write_text("# ninja log v5\n0\t3000\t0\ta.o\t1\n0\t2000\t0\tb.o\t2\n")
    >>> known = predict(log, machines=1)
    >>> known.makespan, known.measured, known.one_machine_more
    (5.0, 3.0, 3.0)
    """
    if calibrate and overheads is not None:
        raise InputError("calibrate, overheads: only one of them can be given")
    run, error, count = read_run(trace, graph), as_noise(noise), checked_count(repetitions)
    network, control, notes = machines_of(machines, run), Control(rng=rng), list(run.notes)
    engine = engine_of(run, network)
    ratios: Sequence[float] = (1.0,)
    if calibrate:
        added, ratios = calibrated(*_earlier(calibrate))
        if len(ratios) <= PARAMETERS:
            notes.append(
                f"calibrate: from {len(ratios)} runs it can't be said how far they are off"
            )
    else:
        added = Overheads(setup=run.setup) if overheads is None else _overheads(overheads)
        if overheads is None:
            known = f"overheads: {run.setup:.3g} s a task, what the trace has beside its own time"
            notes.append(known if run.setup else UNKNOWN)
    found = engine.run(added)
    problem = _problem(run, network, added)
    best = solve(problem, time_limit=SECONDS if time_limit is None else time_limit, rng=rng)
    bound = max(best.lower_bound or 0.0, _link_bound(run, network, added))
    plan = _as_schedule(problem, found)
    replay = Disturbed(lambda factors: engine.run(added, factors.tolist()).end)
    ends = replay.disturbed(plan, error, count, control.rng, problem.dag.names)
    ends *= control.rng.choice(ratios, count)
    speeds, cores = network.speed.tolist(), network.cores.tolist()
    fastest = speeds.index(max(speeds))
    more = Network([*speeds, speeds[fastest]], cores=[*cores, cores[fastest]])
    faster = engine.run(replace(added, link=2 * added.link)).end
    low, high = np.quantile(ends, [(1 - SHARE) / 2, (1 + SHARE) / 2]).tolist()
    return Prediction(
        makespan=found.end,
        interval=(low, high),
        lower_bound=bound,
        plan=min(found.end, _of_plan(best, run, network, added)),
        measured=run.makespan,
        waits=_waits(found, added),
        one_machine_more=engine_of(run, more).run(added).end,
        link_twice_as_fast=None if math.isinf(added.link) else faster,
        overheads=added,
        noise=error,
        result=Result(
            problem=problem, status=Status.FEASIBLE, schedule=plan, makespan=plan.makespan,
            lower_bound=bound, gap=relative_gap(plan.makespan, bound), method="first-ready-first",
            options={}, seed=None, runtime=0.0, notes=tuple(notes),
        ),
        notes=notes,
    )  # fmt: skip


def _earlier(paths: Sequence[PathLike]) -> tuple[list[Engine], list[float]]:
    """Return the runs to calibrate with, and their makespans."""
    engines, makespans = [], []
    for path in [paths] if isinstance(paths, str) else paths:
        run = read_run(path)
        if run.makespan is None or not run.machines:
            text = "does not say its makespan and its machines, so nothing can be fitted to it"
            raise InputError(f"{shown_path(path)}: {text}")
        engines.append(engine_of(run, machines_of(None, run)))
        makespans.append(run.makespan)
    return engines, makespans


def _overheads(given: Mapping[str, float]) -> Overheads:
    mistakes, names = Mistakes(), [each.name for each in fields(Overheads)]
    for name, value in given.items():
        if name in names:
            mistakes.number(f"overheads.{name}", value, LINK if name == "link" else OVERHEAD)
        else:
            hint = did_you_mean(name, names)
            mistakes.add(f"overheads.{name}", f"there is no such overhead{hint}")
    mistakes.raise_if_any(InputError)
    return Overheads(**given)


def _problem(run: Trace, network: Network, added: Overheads) -> TaskGraph:
    """Return the problem without the link; all tasks are released when the engine has started."""
    dag, work, setup = run.dag, {"work": run.dag.work}, added.setup
    if run.joins and setup:  # joins are not set up
        seconds = dag.work[:, None] / network.speed + setup
        seconds[len(dag) - run.joins :] = 0.0
        work, setup = {"durations": seconds}, 0.0
    released = Dag.from_arrays(
        names=dag.names, source=dag.source, target=dag.target, cores=dag.cores,
        release=np.full(len(dag), added.startup), **work,
    )  # fmt: skip
    cores, names = network.cores, network.names
    return TaskGraph(released, Network(network.speed, names=names, cores=cores, task_setup=setup))


def _link_bound(run: Trace, network: Network, added: Overheads) -> float:
    """Return when all inputs have come, and the shortest task after them has been executed."""
    tasks = len(run.dag) - run.joins
    brought = tasks * added.dispatch + math.fsum(run.reads) / added.link
    shortest = float(run.dag.work[:tasks].min(initial=math.inf) / network.speed.max())
    return added.startup + brought + added.setup + shortest


def _as_schedule(problem: TaskGraph, found: Replay) -> Schedule:
    tasks = np.arange(len(problem.dag))
    start: Floats = np.array(found.start)
    seconds = problem.durations_on(tasks, np.array(found.machine))
    return Schedule.of_columns(
        problem.machines, kind=Activity.COMPUTE, machine=found.machine, peer=-1, item=tasks,
        amount=problem.dag.work, start=start, end=start + seconds,
    )  # fmt: skip


def _of_plan(best: Result, run: Trace, network: Network, added: Overheads) -> float:
    """Return when a run ends that takes ready tasks in the order of a plan."""
    if best.schedule is None or best.makespan is None:
        return math.inf
    if not added.dispatch and math.isinf(added.link):
        return best.makespan
    rank = np.zeros(len(run.dag))
    rank[best.schedule.item] = best.schedule.start
    return engine_of(run, network, rank.tolist()).run(added).end


def _waits(found: Replay, added: Overheads) -> dict[str, float]:
    path = found.path
    return {
        "startup": added.startup,
        "setup": path.setups * added.setup,
        "dispatch": path.dispatches * added.dispatch,
        "link": path.amount / added.link,
        "work": path.work,
    }
