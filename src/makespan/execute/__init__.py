"""Running functions and plans on real engines.

A function over data on any pool of workers: :func:`map`, :func:`imap`, and :class:`Executor`, the
interface of ``concurrent.futures``. Stages in turn: :func:`run_pipeline`. ``makespan.execute.dask``
and ``makespan.execute.mpi`` measure clusters, and run plans on them; ``makespan.execute.torch``
trains on unlike ranks: distributions of their own bring these three.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from os.path import isdir, join
from typing import TYPE_CHECKING

from makespan._public import lazily, names_of
from makespan.core.errors import MissingExtra
from makespan.core.system.startup import brought_by

if TYPE_CHECKING:
    from makespan.execute.dealing.items import Files as Files
    from makespan.execute.execution import Execution as Execution, ItemsFailed as ItemsFailed
    from makespan.execute.intervals import (
        PipelineExecution as PipelineExecution,
        run_pipeline as run_pipeline,
    )
    from makespan.execute.pools.map import (
        Executor as Executor,
        forget as forget,
        imap as imap,
        map as map,  # noqa: A004
    )


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


__path__ = folders(__path__)
sys.meta_path.append(Absent)
__all__ = names_of(__name__)  # noqa: PLE0605
__getattr__ = lazily(__name__)
