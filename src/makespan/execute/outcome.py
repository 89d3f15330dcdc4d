"""What came of a part of a chunk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from makespan.execute.remote import Told


@dataclass(frozen=True, slots=True)
class Failure:
    """An item whose function raised: its place in the data, and what was raised where.

    ``last`` is the last item of a batch that failed as a whole; ``first`` itself otherwise.
    ``traceback`` is the text that Python would have printed on the worker.
    """

    first: int
    last: int
    error: BaseException
    traceback: str

    def __str__(self) -> str:
        items = f"item {self.first}"
        if self.last > self.first:
            items = f"items {self.first} to {self.last}"
        text = str(self.error)
        return f"{items}: {type(self.error).__name__}{': ' if text else ''}{text}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of a part of a chunk, and when the worker's clock showed what.

    ``rows`` are the first and the last but one of the items in a row, in the order of the results.
    """

    rows: tuple[tuple[int, int], ...]
    values: Any
    failures: tuple[Failure, ...]
    start: float
    end: float

    @classmethod
    def of(
        cls,
        rows: tuple[tuple[int, int], ...],
        values: Any,
        failures: tuple[Told, ...],
        start: float,
        end: float,
    ) -> Outcome:
        """Read what :func:`makespan.execute.remote.work` returned."""
        return cls(rows, values, tuple(Failure(*told) for told in failures), start, end)
