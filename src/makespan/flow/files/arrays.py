"""Files of columns in binary (``.npz``): a document in JSON, and its long columns as arrays.

The entry ``document`` is the text that a ``.json`` file would hold, without its columns; any other
entry is a column, named by its place in the document: ``columns.work``,
``schedule.activities.start``. Entries are read by their headers alone: nothing is unpickled, and
what would take more memory than a file may have is refused before it is read.
"""

import io
import math
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from makespan.core.errors import FileError
from makespan.core.inputs.documents import table_in
from makespan.core.inputs.files import PathLike, read_bytes, shown_path
from makespan.core.inputs.rules import quoted
from makespan.flow.serialize import as_json

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
