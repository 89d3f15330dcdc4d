"""Problems in TOML, JSON and CSV, and frames of pandas and polars."""

from __future__ import annotations

import os
from math import inf

import numpy as np
import pytest

from makespan import Affine, Partition, read_problem, save, solve
from makespan.core.errors import FileError, ProblemError
from makespan.flow.files.files import problem_of
from makespan.partition.file import read, schema, write
from makespan.partition.model.curves import Curve

CSV = """resource,count,time,energy
gpu,0,0,0
gpu,8,1.5,40
cpu,4,2.0,9

cpu,0,0.0,0
gpu,16,,70
"""

TOML = """
format = "makespan.problem/1"
kind = "partition"
tasks = 20
deadline = 50.0
require = "all"
resources = [
  { name = "gpu", costs = [0.0, 1.0, 1.5, 1.9, 4.0] },
  { name = "cpu", first = 1, costs = [2.0, 3.0, inf, 5.0], upper = 3 },
  { name = "npu", counts = [0, 4, 8], time = [0.0, 2.5, 3.0] },
  { name = "dsp", cost = { fixed = 0.5, per_unit = 1.25 }, lower = 0, upper = 5 },
  { name = "tpu", samples = "tpu.csv", interpolation = "linear", granularity = 8 },
]
[options]
method = "threshold"
"""


def written(tmp_path, name: str, text: str):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_affine_costs_beside_tables_are_written_as_they_were_given():
    """A result's file does not hold the ten million costs that one line stands for."""
    entries = [
        {"cost": 1.0, "upper": 999_999_999},
        {"costs": [0.0, 1.0, 2.0]},
        {"cost": {"fixed": 0.5, "per_unit": 2.0}, "lower": 3},
    ]
    problem = read({"kind": "partition", "tasks": 300_000, "resources": entries})
    data = write(problem)
    assert [
        {key: value for key, value in entry.items() if key != "name"} for entry in data["resources"]
    ] == entries
    assert read(data) == problem


def test_affine_energies_are_written_beside_their_costs():
    """A function's energy is a function, too, with counts that have gaps in the next row."""
    entries = [
        {"name": "a", "cost": 1.0, "energy_cost": {"fixed": 1.0, "per_unit": 3.0}},
        {"name": "b", "counts": [0, 2, 5], "time": [0.0, 1.0, 2.0], "energy": [0.0, 4.0, 5.0]},
    ]
    problem = read({"kind": "partition", "tasks": 9, "resources": entries})
    assert write(problem)["resources"] == entries
    assert read(write(problem)) == problem


def test_affine_costs_tabulated_for_fewer_tasks():
    """A table taken over to a problem of more tasks allows no more than before."""
    small = Partition(tasks=4, costs=[Affine(0.0, 1.0), [0.0, 1.0, 2.0]])
    large = Partition(tasks=6, costs=small.costs)
    again = read(write(large))
    assert again.costs_of(np.array([4, 2])).tolist() == [4.0, 2.0]
    assert again.costs_of(np.array([5, 1])).tolist() == [inf, 1.0]


def test_every_form_of_a_resource_in_toml(tmp_path):
    """The example of the format, with samples beside the file."""
    written(tmp_path, "tpu.csv", "count,time\n0,0\n16,2\n32,6\n")
    problem = read_problem(written(tmp_path, "problem.toml", TOML))
    assert problem.machines == ("gpu", "cpu", "npu", "dsp", "tpu")
    assert problem.costs_of(np.array([4, 2, 8, 5, 8])).tolist() == [4.0, 3.0, 3.0, 6.75, 1.0]
    assert problem.costs_of(np.array([5, 3, 7, 6, 4])).tolist() == [inf] * 5
    result = solve(problem)
    assert (result.method, result.status, result.makespan) == ("threshold", "optimal", 2.0)


@pytest.mark.parametrize("suffix", [".json", ".toml"])
@pytest.mark.parametrize(
    "parts",
    [
        {"costs": [[0.0, inf, 2.0], [1.0]], "first": [0, 3], "upper": [2, 9]},
        {"costs": [{0: 0.0, 7: 2.0}, {1: 1.0}], "energy": [{0: 0.0, 7: 1.0}, {1: 3.0}]},
        {"costs": {"a": Affine(1.0, 2.0), "b": Affine(0.0, 1.0)}, "lower": 1, "require": "most"},
        {"costs": [{0: 1.0, 2: 2.0}, {}]},
        {"costs": [{0: 1.0, 2: 2.0}, [1.0], {}], "energy": [{0: 1.0, 2: 1.0}, [1.0], {}]},
        {"costs": [[0.0, 1.0]] * 2, "objective": "total", "prefer": "least-total", "deadline": 3.0},
    ],
)
def test_a_written_problem_is_read_back_equal(tmp_path, parts, suffix):
    """Both formats keep costs, limits, energies and choices."""
    problem = Partition(tasks=2, options={"method": "threshold"}, **parts)
    save(problem, tmp_path / f"problem{suffix}")
    again = read_problem(tmp_path / f"problem{suffix}")
    assert again.costs == problem.costs
    assert list(again.machines) == list(problem.machines)
    assert write(again) == write(problem)


def test_functions_are_written_as_tables(tmp_path):
    """A curve becomes the costs up to the tasks; a trillion of them are refused."""
    problem = Partition(tasks=3, costs=[Curve(lambda count: 2.0 * count)])
    assert read(write(problem)).costs_of(np.array([3])).tolist() == [6.0]
    with pytest.raises(FileError, match="too long"):
        write(Partition(tasks=10**9, costs=[Curve(lambda count: 2.0 * count)]))


@pytest.mark.parametrize(
    ("resource", "mistake"),
    [
        ({}, "resources[0]: has nothing; a resource has one of costs, counts"),
        ({"costs": [0.0], "cost": 1.0}, "resources[0]: has costs and cost; a resource has one of"),
        ({"costs": [0.0, "1"]}, "resources[0].costs[1]: '1' is not a number"),
        ({"costs": [0.0, -1.0]}, "resources[0].costs[1]: -1.0 is negative"),
        ({"costs": [0.0], "lower": -1}, "resources[0].lower: -1 is negative"),
        ({"costs": [0.0], "granularity": 2}, "resources[0]: granularity can't stand beside costs"),
        ({"counts": [0, 1]}, "resources[0]: time is missing"),
        ({"counts": [0, 1], "time": [0.0]}, "resources[0].costs: holds 1 entries for 2 counts"),
        (
            {"counts": [1, 1], "time": [0.0, 1.0]},
            "resources[0].counts: count 1 stands twice; each stands once",
        ),
        ({"counts": [0, -2], "time": [0.0, 1.0]}, "resources[0].counts[1]: -2 is negative"),
        ({"cots": [0.0]}, "resources[0]: unknown key 'cots'; did you mean 'costs'?"),
        ({"costs": [0.0], "lower": 2, "upper": 1}, "resources[0].lower: 2 is above the upper"),
    ],
)
def test_mistakes_in_files_name_their_place(resource, mistake):
    """Text in a number, negative limits, repeated counts, unequal lengths, unknown keys."""
    with pytest.raises(ProblemError) as caught:
        problem_of({"kind": "partition", "tasks": 1, "resources": [resource]})
    assert any(str(found).startswith(mistake) for found in caught.value.mistakes), caught.value


def test_null_stands_for_a_forbidden_count():
    """JSON has no infinity."""
    problem = read({"kind": "partition", "tasks": 2, "resources": [{"costs": [0.0, None, 1.0]}]})
    assert problem.costs_of(np.array([1])).tolist() == [inf]


def test_measurements_in_csv(tmp_path):
    """Long form, any order of lines; an empty time forbids the count."""
    path = written(tmp_path, "table.csv", CSV)
    problem = read_problem(path, tasks=12)
    assert problem.machines == ("gpu", "cpu")
    assert problem.costs_of(np.array([16, 4])).tolist() == [inf, 2.0]
    result = solve(problem)
    assert result.answer["counts"] == {"gpu": 8, "cpu": 4}
    assert result.answer["energy"] == {"gpu": 40.0, "cpu": 9.0}
    without_last = "\n".join(CSV.splitlines()[:-1])
    between = read_problem(written(tmp_path, "t.csv", without_last), tasks=12, interpolation="step")
    assert between.costs_of(np.array([5, 1])).tolist() == [1.5, 2.0]


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("", "has no column 'count'"),
        ("resource,count,tme\na,1,2\n", "unknown column 'tme'; did you mean 'time'?"),
        ("x,count,time\na,1,2\n", "line 1: unknown column 'x'; known are count, energy, resource"),
        ("gpu,count,s\na,1,2\n", "no column 'time'; unknown are 's'; the columns are resource"),
        ("gpu,items,tasks,time\na,1,1,2\n", "column 'tasks' holds what 'items' does"),
        ("resource,count,time\na,one,2\n", "line 2, count: 'one' is not a number"),
        ("resource,count,time\na,1,nan\n", "line 2, time: 'nan' is not a number"),
        ("resource,count,time\n\na,1,-2\n", "line 3, time: '-2' is negative"),
        ("resource,count,time\na,1.5,2\n", "line 2, count: '1.5' is not a whole number"),
        ("resource,count,time\na,1\n", "line 2: has 2 values for 3 columns"),
        ("count,time\n1,2\n", "line 1 has no column 'resource'"),
        ("resource,count,time\na,1,2\na,1,3\n", "count 1 stands twice"),
        ("resource,count,time\n", "are empty"),
    ],
)
def test_mistakes_in_csv_name_their_line(tmp_path, text, mistake):
    """Every refusal says where and what is allowed."""
    with pytest.raises((FileError, ProblemError)) as caught:
        read_problem(written(tmp_path, "table.csv", text), tasks=1)
    assert mistake in str(caught.value)


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("resource;count;time\na;1;2\n", "line 1: separates its columns by semicolons; commas"),
        ("resource\tcount\ttime\n", "line 1: separates its columns by tabs"),
        ("resource,count,time\na\0b,1,2\n", "line 2: holds a character NUL"),
        (f"resource,count,time\n{'a' * 200_000},1,2\n", "is not CSV (field larger than"),
        (f"resource,count,time\na,{'9' * 5000},2\n", "line 2, count: '999"),
        ("resource,count,time\na,9007199254740992,2\n", "a count is a whole number"),
        ("resource,count,time\na,1,1e300\n", "line 2, time: '1e300' is above 1e+100"),
    ],
)
def test_hostile_csv_is_refused_with_its_line(tmp_path, text, mistake):
    """Other separators, NUL, huge fields, thousands of digits, other magnitudes."""
    with pytest.raises(FileError) as caught:
        read_problem(written(tmp_path, "table.csv", text), tasks=1)
    assert mistake in str(caught.value)


def test_a_byte_order_mark_is_skipped(tmp_path):
    """As spreadsheets write it."""
    problem = read_problem(
        written(tmp_path, "t.csv", "\ufeffresource,count,time\na,1,2\n"), tasks=1
    )
    assert problem.machines == ("a",)


@pytest.mark.parametrize("samples", ["/dev/zero", "../outside.csv", "pipe", "link.csv", "."])
def test_samples_are_regular_files_beneath_the_folder(tmp_path, samples):
    """No device, no pipe, nothing outside, also not by a link."""
    folder = tmp_path / "folder"
    folder.mkdir()
    written(tmp_path, "outside.csv", "count,time\n0,0\n")
    (folder / "link.csv").symlink_to(tmp_path / "outside.csv")
    os.mkfifo(folder / "pipe")
    text = f'kind = "partition"\ntasks = 1\n[[resources]]\nsamples = "{samples}"\n'
    with pytest.raises(FileError, match=r"leads out of the folder|is a pipe|is a folder"):
        read_problem(written(folder, "problem.toml", text))


@pytest.mark.parametrize(
    "parts",
    [
        {"tasks": 10**9, "resources": [{"cost": 1.0, "upper": 10**9}, {"costs": [0, 1, 2]}]},
        {"tasks": 10**8, "resources": [{"cost": 1.0, "energy_cost": 2.0}] * 2},
        {"tasks": 10**6, "resources": [{"cost": 1.0, "energy_cost": 2.0}] * 1000},
    ],
)
def test_a_few_bytes_do_not_ask_for_gigabytes(parts):
    """What a table would take is said, and it is not made."""
    with pytest.raises(ProblemError, match=r"too many for a table: .* GB of memory"):
        read({"kind": "partition", **parts})


def test_samples_far_apart_are_not_filled(tmp_path):
    """Nor is the room between two samples."""
    path = written(tmp_path, "t.csv", "resource,count,time\na,0,0\na,9007199254740991,2\n")
    assert solve(read_problem(path, tasks=2**53 - 1)).makespan == 2.0
    with pytest.raises(ProblemError, match="too many for a table"):
        read_problem(path, tasks=5, interpolation="linear")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_are_tables_of_their_own(library):
    """A frame in long form gives the same problem as its file."""
    frames = pytest.importorskip(library)
    frame = frames.DataFrame(
        {"resource": ["a", "b", "a", "b"], "count": [0, 0, 2, 1], "time": [0.0, 0.5, 1.0, 2.0]}
    )
    problem = Partition(tasks=3, costs=frame)
    assert problem.machines == ("a", "b")
    assert solve(problem).answer["costs"] == {"a": 1.0, "b": 2.0}
    with pytest.raises(ProblemError, match="has no column 'time'"):
        Partition(tasks=3, costs=frames.DataFrame({"resource": ["a"], "count": [0]}))


def test_the_schema_names_every_key():
    """Editors complete from the schema."""
    properties = schema()["properties"]
    assert set(properties) >= {"tasks", "objective", "require", "prefer", "deadline", "resources"}


@pytest.mark.parametrize(
    "head", ["resource,count,time,energy", "GPU,Items,Seconds,Joules", "name,tasks,duration,energy"]
)
def test_columns_have_synonyms_and_any_order(tmp_path, head):
    """The same costs under other names and in another order are the same problem."""
    names = head.split(",")
    rows = [("a", "0", "0", "0"), ("a", "2", "1.5", "3"), ("b", "1", "2", "4")]
    turned = "\n".join(",".join(reversed(row)) for row in [names, *rows])
    straight = "\n".join(",".join(row) for row in [("resource", "count", "time", "energy"), *rows])
    problem = read_problem(written(tmp_path, "t.csv", turned), tasks=3)
    assert problem == read_problem(written(tmp_path, "s.csv", straight), tasks=3)
