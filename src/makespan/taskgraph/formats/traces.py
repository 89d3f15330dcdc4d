"""Traces: what the tasks of a run took, by Nextflow, Snakemake, ninja or Dask, or in WfFormat.

Of these only WfFormat says who waits for whom; for the others a graph beside the trace does, see
:mod:`makespan.taskgraph.formats.precedence`.

- Nextflow's ``trace.txt``, or with ``trace.raw``: the completed tasks, with their ``cpus`` and
  ``rchar`` where there are such columns. The nodes of its graph are processes.
- Snakemake's ``benchmark`` files with tabs, plain or extended, one a job. The nodes of its graph
  are jobs; a job without a benchmark of its own takes the mean of its rule.
- ``.ninja_log``: a command is a task, and has the name of its first output.
- Dask: ``json.dumps(client.get_task_stream(), default=str)``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate
from statistics import fmean, median
from typing import Any, NamedTuple

from makespan.core.errors import FileError, InputError, Mistake, headed
from makespan.core.inputs.rules import Rule, quoted
from makespan.taskgraph.formats import wfformat
from makespan.taskgraph.formats.precedence import Order, Timed, ordered
from makespan.taskgraph.model.columns import CORES
from makespan.taskgraph.model.dag import Dag

SECONDS = Rule("a time is 0 or more seconds")
BYTES = Rule("a size is 0 or more bytes")
UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3}
PART = re.compile(r"(\d+(?:\.\d+)?)(ms|[dhms])", re.ASCII)
SIZE = re.compile(r"(\d+(?:\.\d+)?)(?: ([KMGTP]?)B)?", re.ASCII)
WHOLE = re.compile(r"\d{1,15}", re.ASCII)
STAMP = "%Y-%m-%d %H:%M:%S.%f%z"
MISSING = ("", "-")


@dataclass(frozen=True, kw_only=True)
class Trace:
    """A run: its tasks, who waits for whom, and what else is known of it.

    ``dag`` has no sizes of data; the last tasks, so many as there are ``joins``, only wait for
    others. ``reads``: the bytes that each task reads. ``makespan`` is the measured one,
    ``machines`` the cores of each machine, ``setup`` what a task took beside its own seconds.
    """

    dag: Dag
    reads: Sequence[float]
    joins: int = 0
    makespan: float | None = None
    machines: Sequence[int] = ()
    setup: float = 0.0
    notes: Sequence[str] = ()


class Log(NamedTuple):
    """What a trace holds. ``tasks_of``: the tasks of the nodes of a graph, by their labels."""

    tasks: Sequence[Timed]
    tasks_of: Callable[[dict[str, str]], dict[str, list[Timed]]] | None = None
    machines: Sequence[int] = ()
    setup: float = 0.0
    whole: Trace | None = None

    def run(self, graph: str | None = None) -> Trace:
        """Return the run, with who waits for whom as it is in the text of a graph."""
        if self.whole is not None and graph is None:
            return self.whole
        tasks, order = self.tasks, Order([], [], [])
        notes: list[str] = []
        if graph is not None:
            if self.tasks_of is None:
                raise InputError("is given beside a trace that can't have a graph")
            order = ordered(graph, self.tasks_of)
            place = {task.name: index for index, task in enumerate(tasks)}
            tasks = sorted(order.tasks, key=lambda task: place.get(task.name, len(place)))
            if len(tasks) < len(self.tasks):
                found = f"the graph has {len(tasks)} of the {len(self.tasks)} tasks of the trace"
                notes.append(f"{found}: the others are left out")
        elif len(tasks) > 1:
            notes.append("no graph is given: no task waits for another, so a run may take longer")
        works = [(task.name, task.seconds) for task in tasks] + [
            (each, 0.0) for each in order.joins
        ]
        dag = Dag(works, order.edges, cores={task.name: task.cores for task in tasks})
        reads = [*(task.read for task in tasks), *[0.0] * len(order.joins)]
        makespan, machines, changes = None, self.machines, []
        for task in self.tasks:
            if task.begin is not None and task.end is not None:
                changes += [(task.begin, task.cores), (task.end, -task.cores)]
        if len(changes) == 2 * len(self.tasks):
            makespan = max(changes)[0] - min(changes)[0]
            if not machines:
                machines = [max(1, *accumulate(cores for _, cores in sorted(changes)))]
                text = f"machines: {machines[0]} cores were busy at once"
                notes.append(f"{text}, so the run is taken to have had as many")
        return Trace(
            dag=dag, reads=reads, joins=len(order.joins), makespan=makespan or None,
            machines=machines, setup=self.setup, notes=notes,
        )  # fmt: skip


def is_benchmark(text: str) -> bool:
    """Whether a text seems to be a benchmark of Snakemake."""
    return text.startswith("s\th:m:s")


def is_trace(text: str) -> bool:
    """Whether a text seems to be one of these."""
    text = text.lstrip()
    begins = text.startswith(("# ninja log", "[")) or is_benchmark(text)
    workflow = text.startswith("{") and '"workflow"' in text
    return begins or workflow or "\trealtime" in text.partition("\n")[0]


def read(files: Mapping[str, str]) -> Log:
    """Return what is in the text of a file; of Snakemake's benchmarks there may be several.

    ``files``: the texts by name. Raises FileError, with the line, if one is not what it seems.
    """
    text = next(iter(files.values())).lstrip()
    if is_benchmark(text):
        jobs = [_benchmark(name, each) for name, each in files.items()]
        log = Log(jobs, lambda labels: _jobs(labels, jobs))
    elif text.startswith("{"):
        return _wfformat(text)
    elif text.startswith("# ninja log"):
        log = _ninja(text)
    else:
        log = _dask(text) if text.startswith("[") else _nextflow(text)
    if not log.tasks:
        raise FileError("holds no task that was completed")
    return log


def _wfformat(text: str) -> Log:
    run = wfformat.measured_in(text)
    dag = run.dag
    bare = Dag.from_arrays(
        names=dag.names, work=dag.work, cores=dag.cores, source=dag.source, target=dag.target
    )
    whole = Trace(dag=bare, reads=run.reads, makespan=run.makespan, machines=run.machines)
    return Log([], whole=whole)


def _fault(place: str, value: Any, allowed: str) -> InputError:
    return FileError([Mistake(place, f"{quoted(value)} is not allowed; {allowed}")])


def _number(value: Any, place: str, rule: Rule = SECONDS) -> float:
    try:
        number = float(value) if isinstance(value, str) else value
        number = int(number) if rule.whole and number == int(number) else number
    except (TypeError, ValueError, OverflowError):
        number = value
    if rule.fault(number) is not None:
        raise _fault(place, value, rule.allowed)
    return float(number)


def _rows(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the rows of a table with tabs, each with its place."""
    head, *lines = (line.rstrip("\r").split("\t") for line in text.split("\n"))
    for number, row in enumerate(lines, 2):
        if len(row) == len(head):
            yield f"line {number}", dict(zip(head, row, strict=True))
        elif row != [""]:
            message = f"has {len(row)} columns; line 1 names {len(head)}"
            raise FileError([Mistake(f"line {number}", message)])


def _nextflow(text: str) -> Log:
    head = text.partition("\n")[0].rstrip("\r").split("\t")
    if "name" not in head or "realtime" not in head:
        raise _fault("line 1", head[0], "a trace of Nextflow has columns 'name' and 'realtime'")
    tasks: dict[str, Timed] = {}
    groups: dict[str, list[Timed]] = {}
    beside = []
    for place, row in _rows(text):
        if row.get("status", "COMPLETED") != "COMPLETED" or row["realtime"] in MISSING:
            continue
        name, seconds = row["name"], _span(row["realtime"], f"{place}.realtime")
        process, _, tag = name.partition(" (")
        while name in tasks:
            name += "'"
        begin = end = None
        if row.get("submit", "") not in MISSING and row.get("duration", "") not in MISSING:
            begin = _moment(row["submit"], f"{place}.submit")
            end = begin + _span(row["duration"], f"{place}.duration")
            if row.get("start", "") not in MISSING:
                beside.append(max(0.0, end - _moment(row["start"], f"{place}.start") - seconds))
        asked = row.get("cpus", "-")
        cores = 1 if asked in MISSING else int(_number(asked, f"{place}.cpus", CORES))
        read = _bytes(row.get("rchar", "-"), f"{place}.rchar")
        task = Timed(name, seconds, cores, read, begin, end, tag.removesuffix(")"))
        tasks[name] = task
        groups.setdefault(process, []).append(task)
    setup = median(beside) if beside else 0.0
    return Log([*tasks.values()], lambda labels: _named(labels, groups), setup=setup)


def _span(text: str, place: str) -> float:
    if WHOLE.fullmatch(text):
        return int(text) / 1000
    parts = [PART.fullmatch(each) for each in text.split(" ")]
    seconds = [float(each[1]) * UNITS[each[2]] for each in parts if each is not None]
    if len(seconds) < len(parts):
        raise _fault(place, text, "a time is as 1h 2m 3.5s, or in milliseconds")
    return _number(sum(seconds), place)


def _moment(text: str, place: str) -> float:
    if WHOLE.fullmatch(text):
        return int(text) / 1000
    try:
        return datetime.strptime(f"{text}+0000", STAMP).timestamp()
    except ValueError:
        allowed = "a moment is as 2024-03-21 11:10:22.123, or in milliseconds"
        raise _fault(place, text, allowed) from None


def _bytes(text: str, place: str) -> float:
    if text in MISSING:
        return 0.0
    found = SIZE.fullmatch(text)
    if not found:
        raise _fault(place, text, "a size is as 1.2 GB, or in bytes")
    return _number(float(found[1]) * 1024.0 ** " KMGTP".index(found[2] or " "), place, BYTES)


def _benchmark(name: str, text: str) -> Timed:
    """Return the job of a file: the mean of its repeats."""
    with headed(name):
        rows = list(_rows(text))
        if not rows:
            raise FileError("holds no row")
        seconds = fmean(_number(row["s"], f"{place}.s") for place, row in rows)
        place, row = rows[-1]
        cores = int(_number(row.get("threads", "1"), f"{place}.threads", CORES))
    return Timed(name, seconds, cores, key=row.get("jobid", ""), rule=row.get("rule_name", ""))


def _jobs(labels: dict[str, str], tasks: Sequence[Timed]) -> dict[str, list[Timed]]:
    """Return the job of each node: of its number, or with the mean of its rule.

    A plain benchmark doesn't name its rule: it is of the longest rule that its path names.
    """
    rules = {node: label.partition("\\n")[0] for node, label in labels.items()}
    longest = sorted(set(rules.values()), key=len, reverse=True)
    patterns = {rule: re.compile(rf"(?<![^\W_]){re.escape(rule)}(?![^\W_])") for rule in longest}
    groups: dict[str, list[Timed]] = {}
    for task in tasks:
        named = (rule for rule in longest if patterns[rule].search(task.name))
        groups.setdefault(task.rule or next(named, ""), []).append(task)
    found = {}
    for node, rule in rules.items():
        alike = groups.get(rule, [])
        own = [replace(task, key="") for task in alike if task.rule and task.key == node]
        if alike and not own:
            mean = fmean(task.seconds for task in alike)
            own = [replace(alike[0], name=f"{rule} {node}", seconds=mean, key="")]
        found[node] = own[:1]
    return found


def _ninja(text: str) -> Log:
    """Return the commands; of an output the one that made it last."""
    last: dict[str, tuple[int, int, str]] = {}
    once = True
    for number, line in enumerate(text.splitlines(), 1):
        parts, place = line.split("\t"), f"line {number}"
        if not line.strip() or line.startswith("#"):
            continue
        if len(parts) != 5 or not all(map(WHOLE.fullmatch, parts[:2])) or not parts[3]:
            raise _fault(place, line, "it is start, end, time, output and hash, with tabs between")
        begin, end = int(parts[0]), int(parts[1])
        if end < begin:
            raise _fault(place, end, f"an end is not before its start, {begin}")
        once = once and parts[3] not in last
        last[parts[3]] = begin, end, parts[4]
    commands: dict[tuple[int, int, str], Timed] = {}
    made = {}
    for output, command in last.items():
        begin, end, _ = command
        times = (begin / 1000, end / 1000) if once else (None, None)  # each build begins at 0
        task = commands.setdefault(command, Timed(output, (end - begin) / 1000, 1, 0.0, *times))
        made[output] = [task]
    return Log([*commands.values()], lambda labels: _named(labels, made))


def _named(labels: dict[str, str], named: Mapping[str, list[Timed]]) -> dict[str, list[Timed]]:
    return {node: named.get(label, []) for node, label in labels.items()}


def _dask(text: str) -> Log:
    tasks: dict[str, list[Timed]] = {}
    threads: dict[str, set[str]] = {}
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileError(f"is not JSON: {quoted(str(error))}") from None
    for index, each in enumerate(data):
        place = f"[{index}]"
        spans = each.get("startstops") if isinstance(each, dict) else None
        if not isinstance(spans, list) or not isinstance(each.get("key"), str):
            raise _fault(place, each, "it is an object with a text 'key' and a list 'startstops'")
        seconds, times = 0.0, []
        for count, span in enumerate(spans):
            at = f"{place}.startstops[{count}]"
            if not isinstance(span, dict):
                raise _fault(at, span, "it is an object with 'action', 'start' and 'stop'")
            start, stop = (_number(span.get(word), f"{at}.{word}") for word in ("start", "stop"))
            if stop < start:
                raise _fault(f"{at}.stop", stop, f"a stop is not before its start, {start}")
            times += [start, stop]
            seconds += stop - start if span.get("action") == "compute" else 0.0
        if times and each.get("status", "OK") == "OK":
            key = each["key"]
            tasks[key] = [Timed(key, seconds, begin=min(times), end=max(times))]
            threads.setdefault(str(each.get("worker")), set()).add(str(each.get("thread")))
    found = [task for each in tasks.values() for task in each]
    return Log(found, lambda labels: _named(labels, tasks), [*map(len, threads.values())])
