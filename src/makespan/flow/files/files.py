"""Files → problems and results, and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from makespan.core.display import Exportable, as_csv
from makespan.core.errors import FileError, InputError, ProblemError, headed
from makespan.core.inputs.files import PathLike, read_text, shown_path, write_whole
from makespan.core.inputs.rules import quoted
from makespan.core.inputs.suggest import suggesting
from makespan.core.problem import Problem
from makespan.core.schedule import Schedule
from makespan.flow.files import documents
from makespan.flow.files.documents import resolved, with_parts
from makespan.flow.files.results import result_of, schedule_of
from makespan.flow.kinds import KINDS, kind_named, kind_of
from makespan.flow.result import Result
from makespan.flow.serialize import as_json, result_as_dict, schedule_as_dict

VERSIONS = {"makespan.problem": 1, "makespan.result": 1, "makespan.schedule": 1}
PROBLEMS = (".toml", ".json", documents.ARRAYS, *documents.GRAPHS)
PICTURES = (".svg", ".png", ".pdf", ".html", ".trace.json")
PROBLEM_PICTURES = PICTURES[:-1]
TEXTS = {
    "problem": (".json", ".toml", documents.ARRAYS),
    "result": (".json", ".csv", documents.ARRAYS),
    "schedule": (".json", ".csv", documents.ARRAYS),
}


def read_problem(
    path: PathLike | Mapping[str, Any], *, files_in: PathLike | None = None, **parts: Any
) -> Problem:
    """Read a problem from a TOML or JSON file, a task graph from WfFormat, STG, DOT, GraphML, GXL
    or DAX, or measured costs from CSV; or from a dictionary that holds what a file does.

    Parameters
    ----------
    path
        The suffix ``.toml``, ``.json``, ``.npz``, ``.stg``, ``.dot``, ``.gv``, ``.graphml``,
        ``.gxl``, ``.dax`` or ``.xml`` (DAX) says what the file holds; with another suffix, and for
        ``"-"``, which is the standard input, the content decides. WfFormat is JSON with a
        ``workflow``. Files that name no machines get four equal ones, and the notes of results say
        so.
        A file ``.csv`` holds the columns ``resource``, ``count``, ``time`` and perhaps ``energy``
        of a partition. A dictionary is what a JSON file holds.
    files_in
        A folder beneath which files that the problem names may lie, besides its own folder.
    **parts
        Parts of the problem that a TOML, JSON or CSV file lacks, or that replace its own, such as
        ``tasks=100000``. What has no use for them refuses them.

    Raises
    ------
    FileError
        If the file can't be read or is in none of these formats.
    ProblemError
        With every mistake found, each with its place in the file.

    Of a graph, ``network`` (a table, or the path of a file that holds one), ``machines`` (how many)
    or ``speeds`` name the machines that its file lacks.

    >>> tasks = {"kind": "independent", "machines": 2, "durations": {"a": 3, "b": 1}}
    >>> list(read_problem(tasks).tasks)
    ['a', 'b']
    """
    if isinstance(path, Mapping):
        return _with_parts(path, parts, None if files_in is None else Path(files_in), files_in)
    if Path(path).suffix.lower() == ".csv":
        try:
            from makespan.partition.file import from_csv

            return from_csv(str(path), **parts)
        except ProblemError as error:
            raise ProblemError(error.mistakes, heading=shown_path(path)) from None
    if documents.is_arrays(path):
        return stated(documents.parsed(path), path, parts, files_in)
    return problem_in(read_text(path, pipes=True), path, parts, files_in)


def problem_in(
    text: str, path: PathLike, parts: Mapping[str, Any], files_in: PathLike | None = None
) -> Problem:
    """Return the problem in the text of a file."""
    suffix = documents.format_of(path, text)
    if suffix in documents.GRAPHS:
        return _graph_in(text, path, suffix, parts)
    return stated(documents.parsed_text(text, path, suffix), path, parts, files_in)


def stated(
    data: Mapping[str, Any],
    path: PathLike,
    parts: Mapping[str, Any],
    files_in: PathLike | None = None,
) -> Problem:
    """Return the problem in the contents of a file."""
    with headed(shown_path(path)):
        return _with_parts(data, parts, Path(path).parent, files_in)


def _with_parts(
    data: Mapping[str, Any],
    parts: Mapping[str, Any],
    folder: Path | None,
    files_in: PathLike | None,
) -> Problem:
    if parts and "kind" not in data and "workflow" in data:
        from makespan.taskgraph.formats import BYTES_PER_SECOND, beside_graph, on_machines, wfformat

        return on_machines(wfformat.read(data), BYTES_PER_SECOND, beside_graph(resolved(parts)))
    return problem_of(with_parts(data, parts) if parts else data, folder, files_in)


def _graph_in(text: str, path: PathLike, suffix: str, parts: Mapping[str, Any]) -> Problem:
    from makespan.taskgraph.formats import problem_in as graph_in

    try:
        return graph_in(text, suffix, shown_path(path), given=resolved(parts))
    except FileError as error:
        if Path(path).suffix.lower() in documents.KNOWN:
            raise
        raise FileError(f"{error}; {documents.READABLE}") from None


def problem_of(
    data: Mapping[str, Any], folder: Path | None = None, files_in: PathLike | None = None
) -> Problem:
    """Return the problem that stands in a file's contents; files it names are in ``folder``."""
    _check_format(data, "makespan.problem")
    if "kind" not in data and "workflow" in data:  # WfFormat
        return kind_named("taskgraph").read(data)
    if "kind" not in data:
        raise ProblemError(f"kind: is missing; it is {' or '.join(map(repr, KINDS))}")
    return kind_named(data["kind"]).read(data, folder, files_in)


@suggesting
def read_result(path: PathLike | Mapping[str, Any]) -> Result:
    """Read a result from a JSON file, or a plan of a collective from MSCCL (``.msccl.xml``).

    A dictionary, such as that of :meth:`Result.to_dict`, is what a JSON file holds. A schedule made
    elsewhere is read, too: a file with a ``problem`` and a ``schedule`` is enough.

    Raises
    ------
    FileError
        If the file can't be read, or does not hold a result; with every mistake found.
    ProblemError
        If the problem in it breaks its own statement.

    >>> import makespan
    >>> import tempfile
    >>> tasks = makespan.IndependentTasks(machines=2, durations=[3, 3, 2, 2, 2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     makespan.save(makespan.solve(tasks), f"{folder}/plan.json")
    ...     print(makespan.read_result(f"{folder}/plan.json").makespan)
    6.0
    """
    if isinstance(path, Mapping):
        data, heading = dict(path), ""
    else:
        data, heading = documents.parsed(path), shown_path(path)
    with headed(heading):
        _refuse_parts(data)
        _check_format(data, "makespan.result")
        return result_of(data, problem_of)


def read_schedule(path: PathLike, problem: Problem) -> Schedule:
    """Read a schedule of ``problem`` from its own file or a result's, or raise FileError."""
    data = documents.parsed(path, problem)
    with headed(shown_path(path)):
        if "activities" in data:
            _check_format(data, "makespan.schedule")
            return schedule_of(data, "", problem)
        _check_format(data, "makespan.result")
        if data.get("schedule") is None:
            raise FileError("holds no schedule")
        return schedule_of(data["schedule"], "schedule", problem)


@suggesting
def save(
    thing: Result | Problem | Schedule | Exportable,
    path: PathLike | IO[Any],
    *,
    format: str | None = None,  # noqa: A002
    beside: Result | Schedule | None = None,
    view: str | None = None,
    by: str | None = None,
    fold: bool = False,
    width: float | None = None,
    landscape: bool = False,
) -> None:
    """Write a result, a problem, a schedule or a comparison to a file, whole or not at all.

    An open stream takes the place of a path, for what is never to be a file.

    Parameters
    ----------
    thing
        What to write.
    path
        The suffix decides: ``.json``, ``.svg``, ``.png`` and ``.pdf`` (a picture) and ``.html`` (a
        page) for all of them; ``.npz``, columns in binary, too;
        ``.toml`` for problems; ``.csv`` for the activities of results and
        schedules, and the rows of comparisons; ``.trace.json`` (trace events, for Perfetto) for
        results and schedules; ``.msccl.xml`` for results of collectives.
    format
        What to write, as a suffix says it (``"json"``); an open stream needs it. The stream takes
        text, and for ``"png"``, ``"pdf"`` and ``"npz"`` bytes.
    beside
        A second result or schedule, drawn below the first on a page.
    view, by, fold
        Which picture, what its colours tell apart, and whether transfers are left out: see
        :func:`makespan.plot`.
    width, landscape
        Of a picture: its width in inches, and whether the layers of a graph stand side by side.

    Raises
    ------
    FileError
        If the suffix is another, or the file can't be written.
    InputError
        If there is something ``beside`` what is not a page, or the schedule can't be drawn.

    >>> import io, makespan
    >>> stream = io.StringIO()
    >>> save(makespan.IndependentTasks(2, [3.0, 1.0]), stream, format="toml")
    >>> stream.getvalue().splitlines()[1:3]
    ['kind = "independent"', 'machines = 2']
    """
    asked: dict[str, Any] = {"beside": beside, "view": view, "by": by, "fold": fold}
    asked |= {"width": width, "landscape": landscape}
    if isinstance(path, (str, os.PathLike)):
        if format is not None:
            raise InputError("format: is for a stream; the suffix of a path says what to write")
        write_whole(path, file_of(thing, path, **asked))
        return
    known = [suffix[1:] for suffix in suffixes_of(thing)]
    if format not in known:
        found = "is missing" if format is None else f"{quoted(format)} is not allowed"
        raise InputError(f"format: {found}; a stream takes one of {', '.join(known)}")
    content = file_of(thing, f"stream.{format}", **asked)
    try:
        path.write(content)
    except TypeError:
        mode = "text" if isinstance(content, str) else "bytes"
        raise InputError(f"format: {format!r} is {mode}; the stream does not take it") from None


def file_of(
    thing: Result | Problem | Schedule | Exportable,
    path: PathLike,
    *,
    problem: Problem | None = None,
    beside: Result | Schedule | None = None,
    **asked: Any,
) -> str | bytes:
    """Return what :func:`save` writes; a schedule alone is drawn as one of a ``problem``."""
    suffix = refuse_suffix(path, *suffixes_of(thing))
    if beside is not None and suffix != ".html":
        raise InputError(f"beside: only a page (.html) shows two plans, not {suffix}")
    if isinstance(thing, Exportable):
        return thing._in_form(suffix)
    if suffix in PICTURES:
        from makespan.flow.plot import picture_file

        return picture_file(thing, suffix, problem=problem, beside=beside, **asked)
    if any(value not in (None, False) for value in asked.values()):
        raise InputError(f"{', '.join(asked)}: are for pictures; {suffix} is none")
    if suffix == documents.ARRAYS:
        return documents.packed(as_dict(thing, columns=True))
    return as_text(thing, suffix, path)


def as_text(thing: Result | Problem | Schedule, suffix: str, path: PathLike = "-") -> str:
    """Return what stands in a file whose ``suffix`` is that of a text."""
    if suffix == documents.MSCCL:
        assert isinstance(thing, Result)
        return documents.msccl_text(thing)
    if suffix == ".toml":
        import tomli_w

        try:
            return tomli_w.dumps(as_dict(thing))
        except (TypeError, ValueError) as error:
            why = f"can't be written as TOML ({error}); .json can hold it"
            raise FileError(f"{path}: {why}") from error
    if suffix == ".csv":
        schedule = thing.schedule if isinstance(thing, Result) else thing
        assert isinstance(schedule, Schedule)
        return as_csv(schedule._columns())
    return as_json(as_dict(thing)) + "\n"


def refuse_suffix(path: PathLike, *allowed: str) -> str:
    """Return the suffix of ``path`` if it is ``allowed``; else raise FileError, saying what is."""
    suffix = documents.suffix_of(path)
    if suffix not in allowed:
        found = (
            f"can't write {suffix} here" if suffix else "has no suffix, which says what to write"
        )
        raise FileError(f"{path}: {found}; allowed are {', '.join(allowed)}")
    return suffix


def refuse_target(path: PathLike | None, *allowed: str, source: PathLike | None = None) -> None:
    """Refuse a file, if one is named, that can't or should not be written, before long work.

    Raises FileError if the suffix is not ``allowed``, there is no such folder, or it is the
    ``source`` that is read.
    """
    if path is None:
        return
    refuse_suffix(path, *allowed)
    target = Path(path)
    if source is not None and os.path.realpath(target) == os.path.realpath(source):
        raise FileError(f"{path}: is the file that is read; choose another name")
    if not target.parent.is_dir():
        raise FileError(f"{path}: there is no folder {target.parent}")
    if target.is_dir():
        raise FileError(f"{path}: is a folder, not a file")


def as_dict(thing: Result | Problem | Schedule, *, columns: bool = False) -> dict[str, Any]:
    """Return what stands in a file of a thing; with ``columns`` a plan is columns, not rows."""
    if isinstance(thing, Result):
        return result_as_dict(thing, columns=columns)
    if isinstance(thing, Schedule):
        return schedule_as_dict(thing, columns=columns)
    return kind_of(thing).file.write(thing)


def suffixes_of(thing: object) -> tuple[str, ...]:
    """Return the suffixes of files that a thing can be written to."""
    if isinstance(thing, Exportable):
        return thing.SUFFIXES
    if isinstance(thing, Result):
        if thing.schedule is None:
            return (".json",)
        return (
            TEXTS["result"] + PICTURES + ((documents.MSCCL,) if documents.fits_msccl(thing) else ())
        )
    if isinstance(thing, Schedule):
        return TEXTS["schedule"] + PICTURES
    if hasattr(type(thing), "kind"):
        return TEXTS["problem"] + PROBLEM_PICTURES
    raise FileError(
        f"{quoted(thing)} can't be saved; a result, a problem, a schedule or a comparison can"
    )


def _check_format(data: Mapping[str, Any], expected: str) -> None:
    """Refuse what is newer than this version reads, and what is something else."""
    found = data.get("format")
    if found is None:
        return
    name, _, version = found.partition("/") if isinstance(found, str) else ("", "", "")
    if name not in VERSIONS or not (version.isascii() and version.isdigit()):
        raise FileError(f"format: {quoted(found)} is not a format; here it is '{expected}/1'")
    if name != expected:
        what, wanted = name.rpartition(".")[2], expected.rpartition(".")[2]
        raise FileError(f"format: this is a {what} ({found!r}); a {wanted} is needed here")
    if len(version) > 9 or int(version) > VERSIONS[name]:
        raise FileError(
            f"format: {quoted(found)} is newer than this makespan reads ('{name}/{VERSIONS[name]}')"
        )


def _refuse_parts(data: Mapping[str, Any]) -> None:
    """Refuse a problem or a schedule alone, where a result is needed."""
    if "problem" in data:
        return
    if "activities" in data:
        raise FileError("is a schedule alone; check it with its problem (--problem FILE)")
    if "kind" in data and "schedule" not in data:
        raise FileError("is a problem, not a result; solve it first")
