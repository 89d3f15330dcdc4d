"""In place of a client of Dask: the engine inside this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import pytest

import makespan.execute.dask.maps.map as mapped
import makespan.execute.dask.maps.run as planned
from makespan.execute import dask
from tests.execute.dealing.engine import InProcess
from tests.execute.dealing.virtual import carried_out


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[InProcess]:
    """Three workers of one thread, by a clock that jumps."""
    for module in (mapped, planned):
        monkeypatch.setattr(module, "carried_out", carried_out)
    monkeypatch.setattr(mapped, "client_or_local", nullcontext)
    monkeypatch.setattr(planned, "checked_client", lambda client: client)
    engine = InProcess()
    yield engine
    dask.forget(engine)
