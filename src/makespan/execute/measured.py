"""What was measured, as a file: a dataclass in JSON, under a format of its own."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict
from typing import Any, ClassVar, Self

from makespan.core.display import Displayable
from makespan.core.errors import FileError, InputError, Mistake
from makespan.core.inputs.files import shown_path, write_whole
from makespan.core.inputs.rules import quoted
from makespan.flow.files.documents import parsed

INFINITE = re.compile(r"Infinity(?=,?$)", re.MULTILINE)  # JSON has no word for it, but numbers


class Measurement(Displayable):
    """A dataclass of what the call ``MADE_BY`` measured, kept in files of its ``FORMAT``."""

    __slots__ = ()
    FORMAT: ClassVar[str]
    MADE_BY: ClassVar[str]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all that was measured to a file (``.json``), for :meth:`read`.

        Raises FileError if the suffix is another, or the file can't be written.
        """
        from makespan.flow.files.files import refuse_suffix

        refuse_suffix(path, ".json")
        text = json.dumps({"format": self.FORMAT, **asdict(self)}, indent=1)  # type: ignore[call-overload]
        write_whole(path, INFINITE.sub("1e999", text) + "\n")

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read what :meth:`save` wrote; raise FileError with every mistake found."""
        from pydantic import TypeAdapter, ValidationError

        from makespan.core.inputs.forms import place_of

        data = parsed(path)
        found = data.pop("format", None)
        if found != cls.FORMAT:
            raise FileError(
                f"{shown_path(path)}: format: {quoted(found)} is not {cls.FORMAT!r}; a calibration"
                " is written by Calibration.save(path)"
            )
        try:
            read = TypeAdapter(cls).validate_json(json.dumps(data), strict=True)
        except ValidationError as error:
            mistakes = [
                Mistake(place_of(each["loc"]), each["msg"])
                for each in error.errors(include_url=False, include_input=False)
            ]
            raise FileError(mistakes, heading=shown_path(path)) from None
        read._check()
        return read

    def _check(self) -> None:
        """Raise what is wrong with values that were read."""

    @classmethod
    def given(cls, calibration: Any) -> Self:
        """Return a calibration, or the one in a file. Raises InputError if it is something else."""
        if isinstance(calibration, (str, os.PathLike)):
            return cls.read(calibration)
        if not isinstance(calibration, cls):
            raise InputError(
                f"calibration: {quoted(calibration)} is not a Calibration; "
                f"pass what {cls.MADE_BY} returns, or a file of it"
            )
        return calibration
