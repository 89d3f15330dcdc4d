"""joblib's ``Parallel`` on a cluster."""

from __future__ import annotations

import multiprocessing
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from makespan import MissingExtra
from makespan.execute import dask
from tests.execute import functions


def test_joblib_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what installs it."""
    monkeypatch.setitem(sys.modules, "joblib", None)
    monkeypatch.setitem(sys.modules, "joblib.parallel", None)
    with pytest.raises(MissingExtra, match=r"makespan\[joblib\]"):
        dask.register_joblib()


@pytest.fixture
def joblib(client: Any) -> Iterator[Any]:
    """joblib, whose backend is ours."""
    import joblib as package

    dask.register_joblib()
    with package.parallel_config(backend="makespan", client=client):
        yield package


def test_calls_are_dealt_out(joblib: Any) -> None:
    """In order, many or none, with arguments of all kinds, again and again."""
    calls = (joblib.delayed(pow)(base, exp=2) for base in range(500))
    assert joblib.Parallel()(calls) == [base**2 for base in range(500)]
    assert joblib.Parallel()([]) == []
    with joblib.Parallel() as parallel:
        for offset in (1, 2):
            calls = (joblib.delayed(lambda item: item + offset)(item) for item in range(20))  # noqa: B023
            assert parallel(calls) == list(range(offset, 20 + offset))
    found = joblib.Parallel(return_as="generator")(joblib.delayed(abs)(-item) for item in range(9))
    assert list(found) == list(range(9))


def test_what_raises_ends_it(joblib: Any) -> None:
    """And the next call works; so it does after a time limit."""
    with pytest.raises(ValueError, match="seven"), joblib.Parallel() as parallel:
        parallel(joblib.delayed(functions.fails_on_seven)(item) for item in range(50))
    with pytest.raises(multiprocessing.TimeoutError):
        joblib.Parallel(timeout=0.2)(joblib.delayed(time.sleep)(1.0) for _ in range(9))
    assert joblib.Parallel()([joblib.delayed(functions.squared)(3)] * 4) == [9] * 4


def nested(item: int) -> list[int]:
    from joblib import Parallel, delayed

    return Parallel(n_jobs=2)(delayed(functions.squared)(each) for each in range(item))


def test_calls_within_calls_are_done(joblib: Any) -> None:
    """On threads of the worker."""
    calls = (joblib.delayed(nested)(item) for item in range(6))
    assert joblib.Parallel()(calls) == [[each**2 for each in range(item)] for item in range(6)]


def paired(item: int, more: Any = None) -> tuple[int, Any]:
    return item, more


def test_futures_in_calls_hold_what_they_hold(joblib: Any, client: Any) -> None:
    """As with joblib's own backend for Dask; a result that can't be pickled is an error."""
    future = client.scatter(41, hash=False)
    found = joblib.Parallel()([joblib.delayed(paired)(future, more=[future])] * 2)
    assert found == [(41, [41])] * 2
    future.release()
    with pytest.raises(TypeError, match="can't be pickled"):
        joblib.Parallel()([joblib.delayed(iter)(range(3)), joblib.delayed(threading.Lock)()])
