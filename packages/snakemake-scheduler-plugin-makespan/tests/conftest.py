"""The clock of the scheduler is the real one again after each test."""

import time
from collections.abc import Iterator

import pytest
from snakemake_scheduler_plugin_makespan import scheduler


@pytest.fixture(autouse=True)
def _real_clock() -> Iterator[None]:
    yield
    scheduler.time = time
