"""The first use of kernels: who compiles, who waits for nothing, and what is believed of a disk."""

from __future__ import annotations

import importlib.util
import logging
import multiprocessing
import os
import pickle
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np
import pytest

from makespan.core.errors import MakespanError
from makespan.core.numeric import files, first_use, jit
from makespan.core.numeric.jit import loop

needs_compiler = pytest.mark.skipif(not jit.compiles(), reason="the compiler is off")
pytestmark = needs_compiler


@loop(pays_from=10)
def doubled(numbers):
    total = 0.0
    for number in numbers:
        total += 2.0 * number
    return total


HALVED = """
from makespan.core.numeric.jit import kernel
@kernel
def halved(numbers):
    total = numbers[0] * 0
    for number in numbers:
        total += number / 2
    return total
"""


def kernel_of(folder: Path) -> Any:
    """Return the kernel of a file."""
    path = folder / "halved_kernel.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None  # noqa: PT018
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module.halved


@pytest.fixture
def halved(tmp_path: Path) -> Iterator[Any]:
    """A kernel with an empty folder."""
    (tmp_path / "halved_kernel.py").write_text(HALVED)
    numba.core.config.reload_config()  # which holds the folder of another test
    yield kernel_of(tmp_path)
    del sys.modules["halved_kernel"]


NAME = f"{__name__}.doubled"


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """As in a new process with an empty folder; gives what processes that compile are handed."""
    handed: list[bytes] = []
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv(first_use.VARIABLE, "beside")
    new = {"_listed": set(), "_read": (-1.0, (-1, 0.0)), "_asked": -1e9, "_told": set()}
    for name, value in new.items():
        monkeypatch.setattr(first_use, name, value)
    monkeypatch.setattr(first_use, "LOOK", -1.0)

    def spawn(held: object, job) -> SimpleNamespace:
        handed.append(first_use._pickled(job()))
        return SimpleNamespace(pid=os.getpid())

    monkeypatch.setattr(first_use, "_spawn", spawn)
    monkeypatch.setattr(jit, "forced", None)
    return handed


def test_no_limit_is_spent_on_a_compiler(started, caplog) -> None:
    """The loop is plain until its kernel is listed; one process is started, and said so once."""
    with caplog.at_level(logging.WARNING), first_use.limited(2.0, lambda: "job") as solve:
        assert [doubled.pays(size) for size in (9, 10, 10)] == [False] * 3
        assert doubled.at(10) is doubled.plain
        assert solve.missed
        (first_use.folder() / first_use._paths()[0].name).write_text(f"{first_use._tag} {NAME}\n")
        assert doubled.pays(10)
    assert [pickle.loads(each) for each in started] == ["job"]
    assert [first_use.VARIABLE in record.message for record in caplog.records] == [True]


def test_a_loop_says_whether_its_kernel_is_missing(started) -> None:
    """Of work that is worth it; not where the kernel is listed, or all loops are plain."""
    with first_use.limited(2.0, lambda: None):
        assert [doubled.lacks(size) for size in (9, 10)] == [False, True]
        with jit.always(False):
            assert not doubled.lacks(10)
        (first_use.folder() / first_use._paths()[0].name).write_text(f"{first_use._tag} {NAME}\n")
        assert not doubled.lacks(10)


@pytest.mark.parametrize(
    ("mode", "limit", "pays"),
    [
        ("beside", None, True),
        ("beside", 1_000.0, True),
        ("beside", 10.0, False),
        ("now", 0.0, True),
        ("never", None, False),
        ("never", 1_000.0, False),
    ],
)
def test_who_may_compile(started, monkeypatch, mode: str, limit: float | None, pays: bool) -> None:
    """What has time for it, or is told to; only beside others is a process started."""
    monkeypatch.setenv(first_use.VARIABLE, mode)
    with first_use.limited(limit, lambda: None):
        assert doubled.pays(10) is pays
    assert len(started) == (mode == "beside" and not pays)


def test_outside_of_solves_and_for_comparisons_everything_is_compiled(started) -> None:
    """Nothing says how long what reads, checks or simulates may take."""
    assert doubled.pays(10)
    with first_use.patiently(), first_use.limited(1.0, lambda: None):
        assert doubled.pays(10)
    assert not started


def test_a_mode_that_is_unknown_is_named(monkeypatch) -> None:
    """Before anything is done."""
    monkeypatch.setenv(first_use.VARIABLE, "later")
    said = "MAKESPAN_COMPILE: 'later' is not one of now, beside"
    with pytest.raises(MakespanError, match=said), first_use.limited(1.0, lambda: None):
        pytest.fail("it was begun")


def test_types_that_a_kernel_is_not_compiled_for_run_plain(started, halved) -> None:
    """The result is right, nothing is compiled, and a process is started for them."""
    with first_use.limited(1.0, lambda: "types"):
        assert halved(np.array([1.0, 2.0], dtype=np.float32)) == 1.5
    assert not halved.signatures
    assert [pickle.loads(each) for each in started] == ["types"]
    assert halved(np.array([1.0, 2.0], dtype=np.float32)) == 1.5
    assert len(halved.signatures) == 1
    with first_use.limited(1.0, lambda: "types"):
        assert halved(np.array([4.0], dtype=np.float32)) == 2.0
    assert len(started) == 1


def test_one_process_at_a_time(started, monkeypatch) -> None:
    """None is started where one is at it, nor again at once where it was killed."""
    with first_use.lock(wait=False) as held, first_use.limited(1.0, lambda: None):
        assert held is not None
        assert not doubled.pays(10)
    assert not started
    for expected, age in ((1, 0), (1, 0), (2, 2 * first_use.PAUSE)):
        monkeypatch.setattr(first_use, "_asked", -1e9)  # in another process
        path = first_use.folder() / "makespan.lock"
        os.utime(path, (time.time() - age,) * 2)
        with first_use.limited(1.0, lambda: None):
            assert not doubled.pays(10)
        assert len(started) == expected


@pytest.mark.parametrize(
    "text", [b"", b"\xff\xfe torn", b"0123456789ab " + NAME.encode(), NAME.encode()[:9]]
)
def test_a_list_of_others_is_not_trusted(started, text: bytes) -> None:
    """Nor one that is torn, or of another processor or version."""
    first_use.folder().mkdir(exist_ok=True)
    first_use._paths()[0].write_bytes(text)
    with first_use.limited(1.0, lambda: None):
        assert not doubled.pays(10)


def test_a_folder_that_cant_be_written_is_said_once(started, tmp_path, monkeypatch, caplog) -> None:
    """And the plan is made, nevertheless."""
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    for _ in range(3):
        monkeypatch.setattr(first_use, "_asked", -1e9)
        with caplog.at_level(logging.WARNING), first_use.limited(1.0, lambda: None):
            assert not doubled.pays(10)
    assert ["can't be written" in record.message for record in caplog.records] == [True]
    assert not started


def test_a_full_disk_is_not_begun_to_be_filled(started, monkeypatch, caplog) -> None:
    """What the process compiled would be lost."""
    monkeypatch.setattr(first_use, "LEAST_FREE", 1 << 80)
    with caplog.at_level(logging.WARNING), first_use.limited(1.0, lambda: None):
        assert not doubled.pays(10)
    assert not started
    assert "the disk is full" in caplog.text


def test_a_large_problem_is_not_handed_on() -> None:
    """It would be held twice."""
    with pytest.raises(ValueError, match="too large"):
        first_use._pickled(b"0" * (first_use.LARGEST + 1))
    assert pickle.loads(first_use._pickled([1, 2])) == [1, 2]


def test_files_that_are_cut_short_are_made_anew(halved, tmp_path: Path) -> None:
    """By a full disk, or a machine that went off: the kernel is compiled once more, and kept."""
    numbers = np.array([1.0, 2.0])
    assert halved(numbers) == 1.5
    for kind in ("nbi", "nbc", "nbi"):
        (path,) = (tmp_path / "__pycache__").glob(f"halved_kernel.halved-*.{kind}")
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        again = jit.kernel(halved.py_func)
        assert again(numbers) == 1.5
        last = jit.kernel(halved.py_func)
        assert last(numbers) == 1.5
        assert sum(last.stats.cache_hits.values()) == 1


def meet(barrier: Any) -> None:
    """Keep what three processes wait for before they begin."""
    globals()["met"] = barrier


def compiled_by(folder: Path) -> int:
    """Return how often a process of its own compiled the kernel."""
    kernel = kernel_of(folder)
    globals()["met"].wait(60)
    assert kernel(np.array([1.0, 2.0])) == 1.5
    return sum(kernel.stats.cache_misses.values())


@pytest.mark.thorough
def test_processes_compile_a_kernel_once(tmp_path: Path) -> None:
    """One of three compiles; the others wait, and find it on disk."""
    (tmp_path / "halved_kernel.py").write_text(HALVED)
    spawning = multiprocessing.get_context("spawn")
    with spawning.Pool(3, meet, [spawning.Barrier(3)]) as pool:
        counts = pool.map(compiled_by, [tmp_path] * 3, chunksize=1)
    assert sum(counts) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
def test_nobody_waits_for_good(halved, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the process that has the file is stopped, the kernel is compiled twice."""
    import fcntl

    monkeypatch.setattr(files, "PATIENCE", 0.1)
    with (tmp_path / "halved_kernel.py").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert halved(np.array([1.0, 2.0])) == 1.5
    assert sum(halved.stats.cache_misses.values()) == 1


def test_what_is_on_disk_waits_for_nobody(halved, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another kernel of its file may compile for seconds."""
    numbers = np.array([1.0, 2.0])
    assert halved(numbers) == 1.5
    again = jit.kernel(halved.py_func)
    monkeypatch.setattr(files, "_alone", lambda path: pytest.fail(f"waits for {path}"))
    assert again(numbers) == 1.5
    assert sum(again.stats.cache_hits.values()) == 1
