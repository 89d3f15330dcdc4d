"""What was measured, as a file: a dataclass in JSON, under a format of its own."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict
from typing import Any, TypeVar

from makespan.core.errors import FileError, Mistake
from makespan.core.inputs.files import shown_path, write_whole
from makespan.core.inputs.mistakes import shown
from makespan.flow.files.documents import parsed

Measured = TypeVar("Measured")

INFINITE = re.compile(r"Infinity(?=,?$)", re.MULTILINE)  # JSON has no word for it, but numbers


def write_measured(measured: Any, path: str | os.PathLike[str], form: str) -> None:
    """Write a dataclass to a file (``.json``), for :func:`read_measured`.

    Raises
    ------
    FileError
        If the suffix is another, or the file can't be written.
    """
    from makespan.flow.files.files import refuse_suffix

    refuse_suffix(path, ".json")
    text = json.dumps({"format": form, **asdict(measured)}, indent=1)
    write_whole(path, INFINITE.sub("1e999", text) + "\n")


def read_measured(kind: type[Measured], path: str | os.PathLike[str], form: str) -> Measured:
    """Read what :func:`write_measured` wrote.

    Raises
    ------
    FileError
        If the file can't be read or is of another format; with every mistake found.
    """
    from pydantic import TypeAdapter, ValidationError

    from makespan.core.inputs.forms import place_of

    data = parsed(path)
    found = data.pop("format", None)
    if found != form:
        raise FileError(
            f"{shown_path(path)}: format: {shown(found)} is not {form!r}; a calibration is"
            " written by Calibration.save(path)"
        )
    try:
        return TypeAdapter(kind).validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        mistakes = [
            Mistake(place_of(each["loc"]), each["msg"])
            for each in error.errors(include_url=False, include_input=False)
        ]
        raise FileError(mistakes, heading=shown_path(path)) from None
