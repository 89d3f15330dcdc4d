"""Files of format 1 stay readable: each file of the corpus is read as is written beside it.

A folder a kind of problem holds problems and plans as people have them; its ``read.json`` says
what each of them means. Nothing there is ever changed: new keys come in new files, for which
``python -m tests.test_corpus`` writes down what is read now.
"""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import makespan
from makespan.cli.main import run
from makespan.core.problem import Problem
from makespan.flow.files.documents import parsed
from makespan.flow.files.files import as_dict, as_text, read_schedule
from makespan.flow.kinds import KINDS, kind_named
from makespan.flow.serialize import as_json
from makespan.lab.journal import Journal

CORPUS = Path(__file__).parent / "corpus"
PLANS = (".plan.json", ".plan.npz")
BESIDE = ("read.json", "tpu.csv", "layers.csv")
"""What was read, and files that problems name."""


def as_result(path: Path) -> Any:
    result = makespan.read_result(path)
    read = as_dict(result)
    if result.schedule is not None:
        report = makespan.check(result)
        read |= {"ok": report.ok, "csv": as_text(result, ".csv")}
    return read


def as_schedule(path: Path) -> Any:
    """A schedule alone belongs to the plan of its name."""
    problem = makespan.read_result(path.with_name(path.name.replace("schedule", "plan"))).problem
    return list(read_schedule(path, problem))


def as_experiment(path: Path) -> Any:
    return [
        [cell.instance.name, cell.method, cell.options_text, cell.seed, cell.time_limit]
        for cell in makespan.read_experiment(path).cells()
    ]


def as_rows(path: Path) -> Any:
    """Those of a copy: a journal is opened to be gone on with."""
    with TemporaryDirectory() as folder:
        copy = shutil.copyfile(path, Path(folder, path.name))
        with Journal(copy) as journal:
            return [record.as_dict() for record in journal]


def as_shape(path: Path) -> Any:
    """What commands that a file lists print with ``--json``, and their exit codes."""
    return {line: printed(line) for line in path.read_text("utf-8").splitlines()}


def printed(line: str) -> list[Any]:
    """Run a command in the corpus; return its exit code and the shape of what it prints."""
    out = StringIO()
    with chdir(CORPUS), redirect_stdout(out), redirect_stderr(StringIO()):
        code = run(shlex.split(line))
    return [code, shape(json.loads(out.getvalue())) if out.getvalue() else None]


def shape(data: Any) -> Any:
    """Return the keys and types of what JSON holds; of rows, those of the first.

    The details are a method's own, and promised to nobody.
    """
    if isinstance(data, dict):
        return {key: shape(value) for key, value in data.items() if key != "details"}
    if isinstance(data, list) and data and isinstance(data[0], dict):
        return [shape(data[0])]
    return data if isinstance(data, str) and data.startswith("makespan.") else type(data).__name__


def as_problem(path: Path) -> Any:
    parts = {"tasks": 16, "interpolation": "linear"} if path.suffix == ".csv" else {}
    return as_dict(makespan.read_problem(path, **parts))


READERS: tuple[tuple[Callable[[Path], bool], Callable[[Path], Any]], ...] = (
    (lambda path: path.name.endswith(PLANS), as_result),
    (lambda path: path.name.endswith(".schedule.json"), as_schedule),
    (lambda path: path.name == "experiment.toml", as_experiment),
    (lambda path: path.name.startswith("rows."), as_rows),
    (lambda path: path.suffix == ".txt", as_shape),
    (lambda path: True, as_problem),
)


def read(path: Path) -> Any:
    """Return what a file means now, as plain data."""
    reader = next(reader for fits, reader in READERS if fits(path))
    return json.loads(as_json(reader(path)))


FILES = sorted(path for path in CORPUS.glob("*/*") if path.name not in BESIDE)


PROBLEMS = [path for path in FILES if not path.stem.endswith((".plan", ".schedule"))]


def written(path: Path) -> Any:
    return json.loads((path.parent / "read.json").read_text("utf-8"))[path.name]


def differences(then: Any, now: Any, place: str = "") -> Iterator[str]:
    """Yield where what was read is no longer there; keys that were added are no difference."""
    if isinstance(then, dict) and isinstance(now, dict):
        for key, value in then.items():
            if key in now:
                yield from differences(value, now[key], f"{place}.{key}")
            else:
                yield f"{place}.{key} is gone"
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for index, (one, other) in enumerate(zip(then, now, strict=True)):
            yield from differences(one, other, f"{place}[{index}]")
    elif isinstance(then, float) and isinstance(now, float):
        if now != pytest.approx(then, rel=1e-12):
            yield f"{place}: {then!r} was read, now {now!r}"
    elif then != now or type(then) is not type(now):
        yield f"{place}: {then!r} was read, now {now!r}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_it_means_what_it_meant(path: Path) -> None:
    """Each file of the corpus is read as it was."""
    assert not list(differences(written(path), read(path)))


@pytest.mark.parametrize(
    ("then", "now"),
    [({"a": 1}, {"b": 1}), ([1.0], [1.1]), ([1], [1, 2]), (1, True), ("1", 1), (None, 0)],
)
def test_a_change_is_noticed(then: Any, now: Any) -> None:
    """Keys that go, values, lengths and types that change."""
    assert list(differences(then, now))
    assert not list(differences(then, then))


def keys_of(data: Any) -> Iterator[str]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield key
            yield from keys_of(value)
    elif isinstance(data, list):
        for value in data:
            yield from keys_of(value)


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_is_in_the_corpus(kind: str) -> None:
    """A new key of a file comes with a new file of the corpus."""
    schema = kind_named(kind).file.schema()
    forms = [schema, *schema["$defs"].values()] if "$defs" in schema else [schema]
    known = {key for form in forms for key in form.get("properties", ())}
    found: set[str] = set()
    for path in (CORPUS / kind).glob("*.*"):
        if path.suffix in (".toml", ".json") and path in PROBLEMS:
            found |= set(keys_of(parsed(path)))
    assert known <= found


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_is_read_again(kind: str, tmp_path: Path) -> None:
    """A problem of the corpus that is written, in any form, is the same problem."""
    for path in (CORPUS / kind).glob("*.toml"):
        problem = makespan.read_problem(path)
        assert isinstance(problem, Problem)
        for suffix in (".toml", ".json", ".npz"):
            again = tmp_path / f"{path.stem}{suffix}"
            makespan.save(problem, again)
            assert makespan.read_problem(again) == problem


if __name__ == "__main__":
    for folder in sorted({path.parent for path in FILES}):
        table = folder / "read.json"
        known = json.loads(table.read_text("utf-8")) if table.exists() else {}
        for new in (path for path in FILES if path.parent == folder and path.name not in known):
            known[new.name] = read(new)
        rows = (f"{json.dumps(name)}: {json.dumps(known[name])}" for name in sorted(known))
        table.write_text("{\n" + ",\n".join(rows) + "\n}\n", "utf-8")
