"""Files → what they hold, by their suffix or by their first words.

Files of columns in binary (``.npz``) are a document in JSON, and its long columns as arrays. The
entry ``document`` is the text that a ``.json`` file would hold, without its columns; any other
entry is a column, named by its place in the document: ``columns.work``,
``schedule.activities.start``. Entries are read by their headers alone: nothing is unpickled, and
what would take more memory than a file may have is refused before it is read.
"""

import io
import math
import os
import re
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from makespan.core.errors import FileError, Mistake, ProblemError, headed
from makespan.core.inputs.documents import table_in
from makespan.core.inputs.files import PathLike, read_bytes, read_text, shown_path
from makespan.core.inputs.rules import quoted
from makespan.core.problem import Problem
from makespan.core.report import InvalidSchedule
from makespan.flow.kinds import kind_of
from makespan.flow.result import Result
from makespan.flow.serialize import RESULT_FORMAT, as_json, schedule_as_dict

GRAPHS = (".stg", ".dot", ".gv", ".graphml", ".gxl", ".dax", ".xml")
TABLES = (".toml", ".json")
ARRAYS = ".npz"
MSCCL = ".msccl.xml"  # plans of collectives in a format of others
KNOWN = (*TABLES, *GRAPHS, ".csv", ARRAYS, MSCCL)
OF_TWO_PARTS = (".trace.json", MSCCL)
READABLE = (
    "read are problems in TOML (.toml), JSON (.json) and arrays (.npz); task graphs in WfFormat "
    "(.json), STG (.stg), DOT (.dot, .gv), GraphML (.graphml), GXL (.gxl) and DAX (.dax, .xml); "
    "plans of collectives in MSCCL (.msccl.xml); and measured costs in CSV (.csv)"
)

# groups are atomic, not possessive: CPython before 3.11.5 goes wrong behind possessive ones
_SKIPPED = r"(?>(?:\s|//[^\n]*\n|\#[^\n]*\n|/\*(?>(?s:.*?)\*/))*)"
_PROLOGUE = r"(?>(?:\s|<\?[^>]*+>|<!DOCTYPE[^>]*+>|<!--(?>(?s:.*?)-->))*)"
_FIRST_WORDS = (
    (".json", re.compile(r"\s*+\{")),
    (".gxl", re.compile(_PROLOGUE + r"<gxl\b")),
    (".dax", re.compile(_PROLOGUE + r"<(?:\w++:)?adag\b")),
    (MSCCL, re.compile(_PROLOGUE + r"<algo\b")),
    (".graphml", re.compile(r"\s*+<")),
    (".dot", re.compile(_SKIPPED + r'(?:strict\s++)?(?:di)?graph\s*+(?:"|<|\w++\s*+\{|\{)', re.I)),
    (".stg", re.compile(r"(?>(?:\s|\#[^\n]*\n)*)\d++[^\S\n]*+(?:\#[^\n]*+)?\n\s*+\d++\s")),
)


def format_of(path: PathLike, text: str) -> str:
    """Return the suffix that says what a text is: the file's own where that is known.

    >>> format_of("-", "digraph { a -> b }"), format_of("p.txt", "kind = 'divisible'")
    ('.dot', '.toml')
    """
    suffix = suffix_of(path)
    if suffix in KNOWN and suffix != ".xml":
        return suffix
    assumed = suffix if suffix in KNOWN else ".toml"
    return next((name for name, words in _FIRST_WORDS if words.match(text)), assumed)


def suffix_of(path: PathLike) -> str:
    """Return what the name of a file says of its contents.

    >>> suffix_of("plan.MSCCL.xml"), suffix_of("plan.xml"), suffix_of("plan")
    ('.msccl.xml', '.xml', '')
    """
    name = Path(path).name.lower()
    return next((two for two in OF_TWO_PARTS if name.endswith(two)), Path(name).suffix)


def parsed(path: PathLike, problem: Problem | None = None) -> dict[str, Any]:
    """Return the contents of a TOML, JSON or NPZ file as dictionaries, lists, texts and numbers.

    A plan in a format of others is that of ``problem``, and stands there like a result. The path
    ``"-"`` is the standard input. The suffix, otherwise the first character, decides what is read:
    JSON starts with a brace. Raises FileError naming the file, what is wrong, and the line and
    column where they are known.
    """
    if is_arrays(path):
        return unpacked(path)
    text = read_text(path, pipes=True)
    return parsed_text(text, path, format_of(path, text), problem)


def is_arrays(path: PathLike) -> bool:
    """Whether a file holds columns in binary, by its name."""
    return Path(path).suffix.lower() == ARRAYS


def parsed_text(
    text: str, path: PathLike, suffix: str, problem: Problem | None = None
) -> dict[str, Any]:
    """Return what a text holds that is said to be TOML, JSON or a plan in a format of others."""
    name = shown_path(path)
    if suffix == MSCCL:
        return msccl_document(text, name, problem)
    if suffix not in TABLES and text.strip():
        raise FileError(f"{name}: is a graph; TOML or JSON is needed here")
    try:
        return table_in(text, name, suffix)
    except FileError as error:
        if Path(path).suffix.lower() in KNOWN or not text.strip():
            raise
        raise FileError(f"{error}; {READABLE}") from None


MSCCL_KIND = "reduction"
ASSUMED = (
    "the file says no times: every transfer is taken to last 1 second, and all else no time; "
    "with --problem FILE costs are those of a problem"
)


def msccl_document(text: str, name: str, problem: Problem | None) -> dict[str, Any]:
    """Return the plan in the text of a file called ``name`` as it stands in a result's file."""
    from makespan.reduction.formats import msccl
    from makespan.reduction.problem import Reduction

    if problem is not None and not isinstance(problem, Reduction):
        raise FileError(f"{name}: is a plan of a reduction; the problem is of kind {problem.kind}")
    with headed(name):
        stated, schedule = msccl.read(text, problem)
    return {
        "format": RESULT_FORMAT,
        "problem": kind_of(stated).file.write(stated),
        "schedule": schedule_as_dict(schedule, columns=True),
        "notes": [ASSUMED] if problem is None else [],
    }


def fits_msccl(result: Result) -> bool:
    """Whether a result may be written in the format."""
    return result.schedule is not None and result.problem.kind == MSCCL_KIND


def msccl_text(result: Result) -> str:
    """Return the plan of a result as the text of a file.

    Raises InvalidSchedule if the referee refuses the plan. Raises ProblemError with everything that
    the format can't say.
    """
    from makespan.flow.check import check
    from makespan.reduction.formats import msccl
    from makespan.reduction.problem import Reduction

    assert isinstance(result.problem, Reduction)
    assert result.schedule is not None
    report = check(result.problem, result.schedule)
    if not report.ok:
        raise InvalidSchedule(f"{report.violations[0].message}; check says more")
    return msccl.write(result.problem, result.schedule)


def with_parts(data: Mapping[str, Any], parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the contents of a file with parts in the place of its own.

    A name with dots reaches into tables: ``network.rate``. Of a task graph ``machines`` (how many)
    and ``speeds`` stand for machines that are linked each to each, at the rate of the file. A
    ``network`` may be the path of a file that holds one.

    >>> with_parts({"kind": "divisible", "load": 1}, {"load": 2, "platform.send": 3})
    {'kind': 'divisible', 'load': 2, 'platform': {'send': 3}}
    """
    found = dict(data)
    for name, value in resolved(parts).items():
        *tables, last = name.split(".")
        inside = found
        for table in tables:
            inner = inside.get(table, {})
            if not isinstance(inner, Mapping):
                raise ProblemError([Mistake(name, f"{table} is not a table of keys and values")])
            inside[table] = inside = dict(inner)
        inside[last] = value
    if found.get("kind") == "taskgraph" and ("machines" in found or "speeds" in found):
        machines, speeds = found.pop("machines", None), found.pop("speeds", None)
        before = found.get("network")
        rate = before.get("rate", 1.0) if isinstance(before, Mapping) else 1.0
        entries = [{"speed": speed} for speed in _speeds(machines, speeds)]
        found["network"] = {"machines": entries, "rate": 1.0 if isinstance(rate, list) else rate}
    elif found.get("kind") == "independent" and "speeds" in parts and "machines" not in parts:
        found["machines"] = len(parts["speeds"])
    return found


def _speeds(machines: Any, speeds: Any) -> list[Any]:
    if speeds is None:
        return [1.0] * machines
    if machines not in (None, len(speeds)):
        text = f"holds {len(speeds)} for {machines} machines; one of the two is enough"
        raise ProblemError([Mistake("speeds", text)])
    return list(speeds)


def resolved(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return parts with the network in place of its file's path, or raise FileError."""
    found = dict(parts)
    network = found.get("network")
    if isinstance(network, (str, os.PathLike)):
        data = parsed(network)
        table = data.get("network", data)
        if not isinstance(table, dict) or "machines" not in table:
            raise FileError(f"{os.fspath(network)}: holds no network; it is a table with machines")
        found["network"] = table
    return found


def named_with(name: str, parts: Mapping[str, Any]) -> str:
    """Return the name of an instance that is read with parts: another name for another problem.

    >>> named_with("a/b.dot", {"machines": 8, "network": "nets/slow.toml"})
    'a/b.dot machines=8 network=slow.toml'
    """
    words = [f"{key}={str(value).rpartition('/')[2]}" for key, value in sorted(parts.items())]
    return " ".join([name, *words])


DOCUMENT = "document"
TABLES_OF_COLUMNS = ("columns", "activities")  # the tables whose lists of numbers become arrays
LARGEST = 2**32  # bytes of all arrays together, the most that is read
FAULTS = (
    zipfile.BadZipFile,  # not a zip file, or one whose checksums don't agree
    zlib.error, EOFError, OSError,  # an entry that is spoilt or cut off: OSError by bzip2
    RuntimeError,  # an entry with a password; NotImplementedError: packed in a way not known
    ValueError,  # places in the file that can't be; names and a document that are not UTF-8
    MemoryError,
)  # fmt: skip
"""What reading the entries of a broken file raises."""


def packed(data: Mapping[str, Any]) -> bytes:
    """Return the contents of a file that holds ``data``; see :func:`unpacked`."""
    arrays: dict[str, np.ndarray] = {}
    document = as_json(_without(data, "", arrays)).encode()
    file = io.BytesIO()
    np.savez(file, **{DOCUMENT: np.frombuffer(document, dtype=np.uint8)}, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def _without(table: Mapping[str, Any], place: str, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Return a table without its columns, which go to ``arrays``."""
    kept: dict[str, Any] = {}
    for key, value in table.items():
        here = f"{place}.{key}" if place else key
        if isinstance(value, Mapping):
            kept[key] = _without(value, here, arrays)
            continue
        if place.rpartition(".")[2] in TABLES_OF_COLUMNS and isinstance(value, (list, np.ndarray)):
            array = np.asarray(value)
            if array.dtype.kind in "iuf" and array.ndim in (1, 2):
                arrays[here] = array
                continue
        kept[key] = value
    return kept


def unpacked(path: PathLike) -> dict[str, Any]:
    """Return what a file holds as dictionaries, lists, texts and numbers, and arrays as columns.

    A table of two dimensions is a list of rows. Raises FileError naming the file, the entry, and
    what is wrong with it.
    """
    name = shown_path(path)
    content = read_bytes(path, LARGEST)
    try:
        arrays = _arrays(io.BytesIO(content))
        if DOCUMENT not in arrays:
            raise FileError(f"has no entry {DOCUMENT!r}, a text in JSON as bytes")
        letters = arrays.pop(DOCUMENT)
        if letters.dtype != np.uint8 or letters.ndim != 1:
            raise FileError(f"{DOCUMENT}: is not a text in JSON as bytes, a column of uint8")
        data = table_in(letters.tobytes().decode(), DOCUMENT, ".json")
        for place, array in arrays.items():
            _put(data, place, array)
    except FileError as error:
        raise FileError(f"{name}: {error}") from None
    except FAULTS as error:
        raise FileError(f"{name}: is not a whole file of arrays (.npz): {error}") from None
    return data


def _arrays(file: io.BytesIO) -> dict[str, np.ndarray]:
    """Return the entries of a zip file, each a plain array of numbers in NumPy's format."""
    found: dict[str, np.ndarray] = {}
    with zipfile.ZipFile(file) as entries:
        infos = entries.infolist()
        if sum(info.file_size for info in infos) > LARGEST:
            raise FileError(f"holds more than {LARGEST // 2**20} MiB, the most that is read")
        for info in infos:
            place = info.filename.removesuffix(".npy")
            if place == info.filename or place in found:
                raise FileError(f"{quoted(info.filename)}: is not an array of its own (.npy)")
            with entries.open(info) as entry:
                found[place] = _array(place, entry, info.file_size)
    return found


def _array(place: str, entry: Any, length: int) -> np.ndarray:
    """Return the array of an entry that has ``length`` bytes, its header included."""
    try:
        version = np.lib.format.read_magic(entry)
        read = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }
        shape, by_column, dtype = read[version](entry)
    except (ValueError, KeyError) as error:
        raise FileError(f"{place}: is not an array in NumPy's format: {error}") from None
    if dtype.hasobject or dtype.kind not in "iuf":
        raise FileError(f"{place}: holds {dtype}; columns hold whole or real numbers")
    if len(shape) not in (1, 2) or (by_column and len(shape) > 1):
        raise FileError(f"{place}: has shape {shape}; a column has one dimension, a table rows")
    due = length - entry.tell()
    if math.prod(shape) * dtype.itemsize != due:
        raise FileError(f"{place}: has {due} bytes for shape {shape} of {dtype}")
    return np.frombuffer(entry.read(), dtype=dtype).reshape(shape)


def _put(data: dict[str, Any], place: str, array: np.ndarray) -> None:
    *tables, key = place.split(".")
    for name in tables:
        data = data.setdefault(name, {})
        if not isinstance(data, dict):
            raise FileError(f"{place}: {name} is not a table of keys and values")
    if not tables or tables[-1] not in TABLES_OF_COLUMNS or key in data:
        allowed = " and ".join(TABLES_OF_COLUMNS)
        raise FileError(f"{place}: is not a place for a column; they stand in {allowed}, once each")
    data[key] = array if array.ndim == 1 else list(array)
