"""The fastest way of a collective: predicted from what was measured of the links, then timed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from makespan.core.display import Displayable, Table, counted
from makespan.core.errors import InputError
from makespan.execute.collectives.calibration import Calibration
from makespan.execute.collectives.pipelines import Pipeline, best_pipeline
from makespan.execute.collectives.together import ROOT, on_root, timed
from makespan.reduction.problem import Collective

TRIAL = 0.15  # seconds for the calls of each that are compared, and one call at least
MOST_CALLS = 9
HOPELESS = 1.2  # times the library's time: what is predicted to take longer is not tried
WORTH = 0.97  # of the library's time: what takes longer is not used

Way = TypeVar("Way", bound=Callable[..., object])


class Choice(NamedTuple):
    """What was seen with arrays of about so many bytes: seconds of each way, and which is used.

    ``planned`` and ``shared`` are infinite where a plan or shared memory was not tried;
    ``segments`` is that of the plan; ``used`` is "library", "plan" or "shared memory".
    """

    collective: str
    bytes: int
    library: float
    planned: float
    shared: float
    segments: int
    used: str


def fastest(
    comm: Any,
    found: Calibration,
    what: tuple[Collective, int, int | None],
    library: Callable[..., object],
    arrays: tuple[Any, ...],
    ways_of: Callable[[Pipeline, bool], Mapping[str, Way]],
) -> tuple[Choice, Way | None]:
    """Return what was seen and the fastest way, None for the library's own; every rank calls this.

    ``what`` is the collective, its bytes and its root. ``ways_of`` makes the ways to compare: of
    the best pipeline, and whether that is predicted to be worth a trial. All are called with
    ``arrays``, which are copies.
    """
    name, nbytes, root = what
    pipeline = on_root(comm, lambda: best_pipeline(found, nbytes, name, root))
    took = [timed(comm, library, *arrays)[0]]
    if pipeline.predicted > HOPELESS * took[0] and took[0] < TRIAL:
        took.append(timed(comm, library, *arrays)[0])  # the first makes connections
    ways = ways_of(pipeline, pipeline.predicted <= HOPELESS * min(took))
    seen: dict[str, list[float]] = {way: [] for way in ways}
    if ways:
        calls = comm.bcast(int(max(1, min(MOST_CALLS, TRIAL / max(1e-9, took[0])))), root=ROOT)
        for turn in range(calls + (calls > 1)):
            for way, call in ways.items():
                seen[way].append(timed(comm, call, *arrays)[0])
            if turn:
                took.append(timed(comm, library, *arrays)[0])
    least = {way: min(times) for way, times in seen.items()}
    used = min(least, key=least.__getitem__, default="library")
    if used != "library" and least[used] >= WORTH * min(took):
        used = "library"
    planned, shared = (least.get(way, np.inf) for way in ("plan", "shared memory"))
    choice = Choice(name, nbytes, min(took), planned, shared, pipeline.segments, used)
    return choice, ways.get(used)


class Chosen(Displayable):
    """What was chosen among the ways of ranks; ``calibration`` is None for one rank alone."""

    def __init__(self, size: int, calibration: Calibration | None) -> None:
        self.calibration: Calibration | None = calibration
        self.choices: list[Choice] = []
        self._size = size

    def _facts(self) -> list[str]:
        return [counted(self._size, "rank")]

    def _tables(self) -> list[Table]:
        choices = self.choices
        return [
            Table.of(
                {
                    "collective": [each.collective for each in choices],
                    "bytes": [each.bytes for each in choices],
                    "library (s)": [each.library for each in choices],
                    "plan (s)": [each.planned for each in choices],
                    "shared memory (s)": [each.shared for each in choices],
                    "used": [each.used for each in choices],
                }
            )
        ]


def known_or_measured(comm: Any, given: Any, measure: Callable[[], Calibration]) -> Calibration:
    """Return the calibration that was given, or that of a file, or measure; a file keeps that."""
    is_path = isinstance(given, (str, os.PathLike))

    def known() -> Calibration | None:
        if given is None or (is_path and not Path(given).exists()):
            return None
        found = Calibration.given(given)
        if found.ranks != comm.size:
            raise InputError(
                f"calibration: is of {counted(found.ranks, 'rank')}, but there are {comm.size}"
            )
        return found

    found: Calibration | None = on_root(comm, known)
    if found is not None:
        return found
    found = measure()
    if is_path:
        on_root(comm, lambda: found.save(given))
    return found
