"""Data as items in a row."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from makespan import InputError
from makespan.execute.dealing.items import Files, Items, joined
from makespan.execute.pickles import payload
from makespan.execute.remote import FileChunk


@given(st.integers(0, 200), st.lists(st.floats(0.0, 100.0), min_size=1, max_size=20))
def test_cuts_are_ordered_and_cover_everything(count: int, amounts: list[float]) -> None:
    """Pieces follow one another from the first item to the last."""
    cuts = Items(range(count)).cut(amounts)
    assert len(cuts) == len(amounts) + 1
    assert cuts[0] == 0
    assert cuts[-1] == count
    assert cuts == sorted(cuts)


@given(st.integers(1, 500), st.lists(st.floats(0.01, 1.0), min_size=1, max_size=20))
def test_cuts_are_the_nearest(count: int, parts: list[float]) -> None:
    """No running sum of pieces is off by more than half an item."""
    amounts = np.array(parts) * (count / sum(parts))
    cuts = Items(range(count)).cut(amounts.tolist())
    assert np.abs(np.array(cuts[1:]) - np.cumsum(amounts)).max() <= 0.5 + 1e-6


@pytest.mark.parametrize("data", [7, None, np.float64(3.0), np.array(3.0), iter([1])])
def test_what_cannot_be_divided_is_refused(data: object) -> None:
    """What can't be iterated over, or has no length."""
    with pytest.raises(InputError, match="data:"):
        Items(data)


def test_files_are_measured_in_bytes(tmp_path: Path) -> None:
    """The load of files is their size, an empty one counts as one byte, and cuts follow it."""
    for name, size in (("a", 10), ("b", 0), ("c", 30)):
        (tmp_path / name).write_bytes(b"x" * size)
    items = Items(Files(sorted(tmp_path.iterdir())))
    assert items.load == 41.0
    assert items.cut([11.0, 30.0]) == [0, 2, 3]
    (sent,), *_ = payload(items, 0, 2)
    assert pickle.loads(sent) == FileChunk(("a", "b"), (b"x" * 10, b""))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """Files that are not there are refused before anything is sent."""
    with pytest.raises(InputError, match="nowhere is not a file"):
        Files([tmp_path / "nowhere"])


def test_payloads_are_slices() -> None:
    """A list is pickled as a whole; an array gives its rows, not copied."""
    sent, count, _ = payload(Items((1, 2, 3, 4)), 1, 4)
    assert [pickle.loads(part) for part in sent] == [[2, 3, 4]]
    assert count == sum(map(len, sent))
    data = np.arange(6).reshape(3, 2)
    rows, count, _ = payload(Items(data), 1, 2)
    assert rows.tolist() == [[2, 3]]
    assert np.shares_memory(rows, data)
    assert count == rows.nbytes


def test_results_are_joined() -> None:
    """Arrays become one array, anything else a list."""
    assert joined([np.array([1]), np.array([2, 3])]).tolist() == [1, 2, 3]
    assert joined([np.array([1]), [2]]) == [1, 2]
    assert joined([]) == []
