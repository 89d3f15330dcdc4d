"""What came of a part of a chunk."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from makespan.execute.remote import Pickled, Told


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
        found = [Failure(first, last, _error(data), text) for first, last, data, text in failures]
        if isinstance(values, Pickled):
            values, more = _unpickled(values, [place for row in rows for place in range(*row)])
            found = sorted(found + more, key=lambda failure: failure.first)
        return cls(rows, values, tuple(found), start, end)


def _error(data: bytes) -> BaseException:
    try:
        error: BaseException = pickle.loads(data)
    except Exception as here:  # of a class that only the worker knows
        return RuntimeError(f"an error of the worker that can't be unpickled here: {here}")
    return error


def _unpickled(values: Pickled, places: Sequence[int]) -> tuple[Any, list[Failure]]:
    """Return results, None for each that can't be unpickled here, and what that failed by."""
    found: list[Any] = []
    failures = []
    ends = [(places[0], places[-1])] if values.whole else [(place, place) for place in places]
    for (first, last), data, buffers in zip(ends, values.data, values.buffers, strict=True):
        try:
            found.append(pickle.loads(data, buffers=buffers))
        except Exception as error:
            text = "".join(traceback.format_exception(error))
            refused = TypeError(f"the result can't be unpickled here: {error}")
            failures.append(Failure(first, last, refused, text))
            found.append([None] * len(places) if values.whole else None)
    return (found[0] if values.whole else found), failures
