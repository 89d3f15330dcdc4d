"""Files of columns in binary: what is written is read, and what is broken is named."""

from __future__ import annotations

import io
import json
import pickle
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from makespan import (
    Dag,
    FileError,
    IndependentTasks,
    Network,
    ProblemError,
    TaskGraph,
    check,
    read_problem,
    read_result,
    save,
    solve,
)
from makespan.core.inputs.files import read_bytes
from makespan.flow.files.files import read_schedule
from makespan.flow.files.reading import read_any
from makespan.taskgraph.generate import graphs as generators


def large(**more: Any) -> TaskGraph:
    return TaskGraph(generators.layered(1200, density=0.05, rng=1), Network([1.0, 2.0]), **more)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """Problems, results and schedules are equal after a round trip, names and durations too."""
    dag = large().dag
    named = Dag.from_arrays(
        durations=np.column_stack([dag.work, 2 * dag.work]), source=dag.source, target=dag.target,
        size=dag.size, names=[f"task {index}" for index in range(len(dag))],
    )  # fmt: skip
    for problem in (large(), TaskGraph(named, Network([1.0, 1.0])), IndependentTasks(2, [3.0, 4])):
        save(problem, tmp_path / "problem.npz")
        assert read_problem(tmp_path / "problem.npz") == problem
        assert read_any(tmp_path / "problem.npz") == problem
        result = solve(problem, time_limit=0.1)
        save(result, tmp_path / "result.npz")
        save(result.schedule, tmp_path / "plan.npz")
        again = read_result(tmp_path / "result.npz")
        assert (again.schedule, again.problem) == (result.schedule, problem)
        assert again.answer == result.answer
        assert check(again).ok
        assert read_any(tmp_path / "plan.npz", problem) == result.schedule
        assert read_schedule(tmp_path / "result.npz", problem) == result.schedule


def test_it_is_smaller_than_text(tmp_path: Path) -> None:
    """Columns take eight bytes an entry, and say the same as the columns of a JSON file."""
    for name in ("p.npz", "p.json"):
        save(large(), tmp_path / name)
    assert (tmp_path / "p.npz").stat().st_size < (tmp_path / "p.json").stat().st_size
    assert read_problem(tmp_path / "p.npz") == read_problem(tmp_path / "p.json")


def written(path: Path, document: Any, **arrays: Any) -> Path:
    text = np.frombuffer(json.dumps(document).encode(), dtype=np.uint8)
    with path.open("wb") as file:
        np.savez(file, document=text, **arrays)
    return path


STATED = {"kind": "taskgraph", "network": {"machines": [{"speed": 1.0}]}}


@pytest.mark.parametrize(
    ("arrays", "error", "message"),
    [
        ({"columns.work": np.array([1.0, -2.0])}, ProblemError, "columns.work[1]: -2.0 is neg"),
        ({"columns.work": np.ones(2), "columns.source": np.array([0]),
          "columns.target": np.array([5])}, ProblemError, "columns.target[0]: 5 is not the index"),
        ({"columns.work": np.ones(2), "columns.source": np.array([0.5]),
          "columns.target": np.array([1])}, ProblemError, "columns.source[0]: 0.5"),
        ({"columns.wrok": np.ones(2)}, ProblemError, "wrok"),
        ({"columns.work": np.ones((2, 2))}, ProblemError, "columns.work"),
        ({"columns.work": np.ones((2, 2, 2))}, FileError, "columns.work: has shape (2, 2, 2)"),
        ({"columns.work": np.array(["a"])}, FileError, "columns.work: holds <U1"),
        ({"columns.work": np.array([True])}, FileError, "columns.work: holds bool"),
        ({"columns.work": np.array([1j])}, FileError, "columns.work: holds complex128"),
        ({"kind.work": np.ones(2)}, FileError, "kind.work: kind is not a table"),
        ({"work": np.ones(2)}, FileError, "work: is not a place for a column"),
    ],
)  # fmt: skip
def test_mistakes_name_their_column(
    arrays: dict[str, Any], error: type[Exception], message: str, tmp_path: Path
) -> None:
    """Fields, shapes, types and values are refused with the entry's name and what is allowed."""
    path = written(tmp_path / "broken.npz", STATED, **arrays)
    with pytest.raises(error) as caught:
        read_problem(path)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)


class Dangerous:
    """What runs code when it is unpickled."""

    def __reduce__(self) -> Any:
        return (Path.touch, (Path("/tmp/unpickled"),))


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    """An array of objects is refused by its header; a file that is a pickle is not a zip file."""
    objects = np.array([Dangerous()], dtype=object)
    path = written(tmp_path / "objects.npz", STATED, **{"columns.work": objects})
    with pytest.raises(FileError, match=r"columns\.work: holds object"):
        read_problem(path)
    path.write_bytes(pickle.dumps(objects))
    with pytest.raises(FileError, match="is not a whole file of arrays"):
        read_problem(path)
    assert not Path("/tmp/unpickled").exists()


def test_a_small_file_takes_little_memory(tmp_path: Path) -> None:
    """No room is taken for the largest that may be read."""
    path = written(tmp_path / "small.npz", STATED)
    tracemalloc.start()
    read_bytes(path, 2**32)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5e6


def test_files_of_any_length_are_read_whole(tmp_path: Path) -> None:
    """Up to the largest, and no byte more; also where the length is not known before."""
    content = np.random.default_rng(0).bytes(3 * 2**20 + 1)
    (tmp_path / "large").write_bytes(content)
    assert read_bytes(tmp_path / "large", len(content)) == content
    assert read_bytes("/proc/self/status", 2**20, pipes=True).startswith(b"Name:")
    with pytest.raises(FileError, match="is larger than 3 MiB"):
        read_bytes(tmp_path / "large", len(content) - 1)


def test_broken_files_are_named(tmp_path: Path) -> None:
    """Files cut off, empty, without a document, or whose headers promise what isn't there."""
    save(large(), tmp_path / "whole.npz")
    whole = (tmp_path / "whole.npz").read_bytes()
    path = tmp_path / "broken.npz"
    for cut in (0, 10, 1000, len(whole) // 2, len(whole) - 10):
        path.write_bytes(whole[:cut])
        with pytest.raises(FileError, match=r"broken\.npz: is not a whole file"):
            read_problem(path)
    spoilt = bytearray(whole)
    spoilt[len(whole) // 2] ^= 1
    path.write_bytes(bytes(spoilt))
    with pytest.raises(FileError, match=r"broken\.npz"):
        read_problem(path)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("columns.work.npy", b"no array")
    with pytest.raises(FileError, match=r"columns.work: is not an array in NumPy's format"):
        read_problem(path)
    header = io.BytesIO()
    told = {"descr": "<f8", "fortran_order": False, "shape": (10**15,)}
    np.lib.format.write_array_header_1_0(header, told)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("columns.work.npy", header.getvalue())
    with pytest.raises(FileError, match=r"columns.work: has 0 bytes for shape"):
        read_problem(path)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("columns.work", b"no array")
    with pytest.raises(FileError, match=r"'columns.work': is not an array of its own"):
        read_problem(path)
    with path.open("wb") as file:
        np.savez(file, **{"columns.work": np.ones(2)})
    with pytest.raises(FileError, match="has no entry 'document'"):
        read_problem(path)


def test_plans_in_columns_are_checked(tmp_path: Path) -> None:
    """Codes and indices beyond their ranges, times that are none, and columns that lack."""
    problem = large()
    plan = solve(problem, method="heft").schedule
    columns = {
        f"activities.{name}": np.array(getattr(plan, name))
        for name in ("kind", "machine", "peer", "item", "amount", "start", "end")
    }
    stated = {"format": "makespan.schedule/1", "machines": ["M1", "M2"]}
    assert read_schedule(written(tmp_path / "s.npz", stated, **columns), problem) == plan
    for name, value, message in (
        ("kind", 99, "activities.kind[3]: 99 is not allowed"),
        ("machine", 2, "activities.machine[3]: 2 is not allowed; it is from 0 to 1"),
        ("peer", -2, "activities.peer[3]: -2 is not allowed"),
        ("start", np.nan, "activities.start[3]: nan is not finite"),
    ):
        broken = columns[f"activities.{name}"].copy()
        broken[3] = value
        path = written(tmp_path / "s.npz", stated, **{**columns, f"activities.{name}": broken})
        with pytest.raises(FileError) as caught:
            read_schedule(path, problem)
        assert message in str(caught.value)
    del columns["activities.end"]
    with pytest.raises(FileError, match=r"activities\.end: is not a column"):
        read_schedule(written(tmp_path / "s.npz", stated, **columns), problem)
