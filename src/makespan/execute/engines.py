"""Engines that distributions of their own bring: where they lie, and what is said without them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from os.path import isdir, join

from makespan.core.errors import MissingExtra
from makespan.core.system.startup import brought_by

EXTRAS = {"collectives": "mpi", "dask": "dask", "mpi": "mpi", "torch": "torch"}
"""By module of ``makespan.execute``: the extra that installs it."""


def folders(own: Iterable[str]) -> list[str]:
    """Return where modules of ``makespan.execute`` lie: here, and where distributions have them.

    A wheel puts its engine beside this file. One that is installed as it is edited, or stands on
    ``PYTHONPATH``, has a folder ``makespan/execute`` of its own.
    """
    others = (join(place, "makespan", "execute") for place in sys.path)
    return [*dict.fromkeys([*own, *(place for place in others if isdir(place))])]


class Absent:
    """The last of Python's finders: an engine that no other found gets an error that helps."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Raise MissingExtra for an engine that is in none of the folders; find nothing."""
        above, _, engine = name.rpartition(".")
        if above == "makespan.execute" and engine in EXTRAS:
            places = sys.modules[above].__path__
            if not any(isdir(join(place, engine)) for place in places):
                said = f"{name} is not installed: {brought_by(EXTRAS[engine])}"
                raise MissingExtra(said, name=name)
