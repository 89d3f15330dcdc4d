"""The table of an experiment while it grows: whole lines, in a file that is gone on with."""

from __future__ import annotations

import csv
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from makespan.core.display import as_csv
from makespan.core.errors import FileError, MissingExtra
from makespan.core.inputs.files import PathLike, file_fault, write_whole
from makespan.core.system.startup import optional
from makespan.flow.files.files import refuse_target
from makespan.lab.record import COLUMNS, NUMBERS, WHOLE, Record

FORMAT = "makespan.records/1"
CHUNK = 1 << 16
OTHER = "is there, and is not the table of an experiment"


class Form(ABC):
    """How rows stand in lines."""

    head = b""

    @abstractmethod
    def text(self, records: Iterable[Record]) -> str:
        """Return rows as whole lines."""

    @abstractmethod
    def record(self, line: str) -> Record:
        """Return the row in a line, or raise KeyError, ValueError or TypeError."""


class Csv(Form):
    """Texts between commas; a line each, as no text holds a line break."""

    head = (",".join(COLUMNS) + "\n").encode()

    def text(self, records: Iterable[Record]) -> str:
        rows = [record.as_dict() for record in records]
        return as_csv({name: [row[name] for row in rows] for name in COLUMNS}, head=False)

    def record(self, line: str) -> Record:
        (values,) = csv.reader([line], strict=True)
        return Record.from_dict(dict(zip(COLUMNS, values, strict=True)))


class Json(Form):
    def text(self, records: Iterable[Record]) -> str:
        return "".join(json.dumps(row.as_dict(), ensure_ascii=False) + "\n" for row in records)

    def record(self, line: str) -> Record:
        return Record.from_dict(json.loads(line))


LINES: dict[str, Form] = {".csv": Csv(), ".jsonl": Json()}
WHOLE_FILES = (".json", ".parquet")
SUFFIXES = (*LINES, *WHOLE_FILES)


class Journal:
    """Rows in a file, added as they come.

    A table that can't grow, ``.json`` or ``.parquet``, is made of a journal beside it, its name
    with ``.jsonl``, when the journal is closed; once :attr:`complete`, the journal goes. Raises
    FileError if the file can't be written, holds something else, or another process is writing it.
    """

    def __init__(self, path: PathLike) -> None:
        refuse_target(path, *SUFFIXES)
        self.path = Path(path)
        self.suffix = self.path.suffix.lower()
        if self.suffix == ".parquet":
            optional("polars")
        growing = self.suffix in LINES
        self.lines = self.path if growing else self.path.with_name(f"{self.path.name}.jsonl")
        self.form = LINES[self.lines.suffix.lower()]
        self.complete = self._added = False
        self._found = self.lines.exists()
        try:
            if not growing and self.path.exists() and not self._found:
                write_whole(self.lines, self.form.text(_rows_in(self.path)))  # to go on with
            self._file = open(self.lines, "a+b", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise FileError(f"{path}: {file_fault(error, 'written')}") from error
        try:
            _lock(self._file.fileno(), path)
            self._mend()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self.suffix in WHOLE_FILES:
                if self.complete or self._added:
                    write_whole(self.path, self._converted())
                if self.complete or not (self._added or self._found):
                    if os.name == "nt":  # where nobody unlinks what is open
                        self._file.close()
                    self.lines.unlink()
        finally:
            self._file.close()

    def add(self, records: Iterable[Record]) -> None:
        self._added = True
        data = self.form.text(records).encode()
        try:
            while data:
                data = data[self._file.write(data) :]
        except OSError as error:
            raise FileError(f"{self.path}: {file_fault(error, 'written')}") from error

    def __iter__(self) -> Iterator[Record]:
        """Yield the rows that are in the file, in the order in which they came."""
        return _records(self.lines, self.form)

    def _mend(self) -> None:
        """Cut off a line that was torn when its writer was killed; begin where there is none."""
        end = os.fstat(self._file.fileno()).st_size
        while end:
            start = max(0, end - CHUNK)
            self._file.seek(start)
            at = self._file.read(end - start).rfind(b"\n")
            end = start + at + 1 if at >= 0 else start
            if at >= 0:
                break
        head = self.form.head
        self._file.seek(0)
        torn = self._file.read(max(1, len(head)))
        if not end and torn and not (head or b"{").startswith(torn):
            raise FileError(f"{self.path}: {OTHER}")
        self._file.truncate(end)
        if not end:
            self._file.write(head)

    def _converted(self) -> str | bytes:
        if self.suffix == ".json":
            text = self.lines.read_text(encoding="utf-8").rstrip("\n").replace("\n", ",\n")
            return f'{{"format": "{FORMAT}", "rows": [\n{text}\n]}}\n'
        polars = optional("polars")
        types = dict.fromkeys(COLUMNS, polars.String) | dict.fromkeys(NUMBERS, polars.Float64)
        types |= dict.fromkeys(WHOLE, polars.Int64)
        packed = BytesIO()
        data = self.lines.read_bytes()
        frame = polars.read_ndjson(data, schema=types) if data else polars.DataFrame(schema=types)
        frame.write_parquet(packed)
        return packed.getvalue()


def read_records(path: PathLike) -> Iterator[Record]:
    """Yield the rows of a table that is complete, or grows.

    Raises FileError if it can't be read, or is another file.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise FileError(f"{path}: tables of experiments end with {', '.join(SUFFIXES)}")
    try:
        yield from _records(path, LINES[suffix]) if suffix in LINES else _rows_in(path)
    except OSError as error:
        raise FileError(f"{path}: {file_fault(error, 'read')}") from error


def _rows_in(path: Path) -> list[Record]:
    """Return the rows of a table that is written as a whole."""
    try:
        if path.suffix.lower() == ".json":
            rows: list[dict[str, Any]] = json.loads(path.read_bytes())["rows"]
        else:
            rows = optional("polars").read_parquet(path).to_dicts()
        return [Record.from_dict(each) for each in rows]
    except (OSError, MemoryError, MissingExtra):
        raise
    except Exception as error:
        raise FileError(f"{path}: {OTHER}") from error


def _records(path: Path, form: Form) -> Iterator[Record]:
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if number == 1 and form.head:
                if line != form.head:
                    raise FileError(f"{path}: {OTHER}")
                continue
            try:
                yield form.record(line.decode())
            except (KeyError, ValueError, TypeError, csv.Error) as error:
                raise FileError(f"{path}: line {number}: is not a row of an experiment") from error


def _lock(descriptor: int, path: PathLike) -> None:
    """Refuse a file that another process is writing, where the system can tell."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise FileError(f"{path}: another process is writing it") from None
    except OSError:  # a file system without locks
        return
