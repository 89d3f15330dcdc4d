"""``makespan.execute.map`` on Dask."""

from __future__ import annotations

from typing import Any

from makespan import execute
from tests.execute.pools import pools


def test_a_dask_client_is_a_pool(client: Any) -> None:
    """With what only Dask takes."""
    execution = execute.map(
        pools.square, range(30), on=client, workers=["0"], priority=1, progress=False
    )
    assert execution.results == [item**2 for item in range(30)]
    assert [one.name for one in execution.workers] == ["0"]
    assert list(execute.imap(pools.square, range(5), on=client)) == [0, 1, 4, 9, 16]
