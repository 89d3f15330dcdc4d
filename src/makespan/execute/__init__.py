"""Running functions and plans on real engines.

A function over data on any pool of workers: :func:`map`, :func:`imap`, and :class:`Executor`, the
interface of ``concurrent.futures``. Stages in turn: :func:`run_pipeline`. ``makespan.execute.dask``
and ``makespan.execute.mpi`` measure clusters, and run plans on them; ``makespan.execute.torch``
trains on unlike ranks: distributions of their own bring these three.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from makespan._public import lazily, names_of
from makespan.execute.engines import Absent, folders

if TYPE_CHECKING:
    from makespan.execute.dealing.items import Files as Files
    from makespan.execute.execution import Execution as Execution, ItemsFailed as ItemsFailed
    from makespan.execute.intervals import (
        PipelineExecution as PipelineExecution,
        run_pipeline as run_pipeline,
    )
    from makespan.execute.pools.executor import Executor as Executor
    from makespan.execute.pools.map import forget as forget, imap as imap, map as map  # noqa: A004

__path__ = folders(__path__)
sys.meta_path.append(Absent)
__all__ = names_of(__name__)  # noqa: PLE0605
__getattr__ = lazily(__name__)
