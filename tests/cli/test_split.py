"""Tests split over shards by the seconds that they took."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys

import pytest

from makespan.cli.main import run
from makespan.core.errors import InputError, MakespanError
from makespan.flow.timings import read, split, split_by_speeds, split_within, times_of, written

JUNIT = """<?xml version="1.0"?>
<testsuites><testsuite name="s">
<testcase classname="a.A" name="x" file="a.py" time="1.5"/>
<testcase classname="a.A" name="y" file="a.py" time="1,000.5"/>
<testcase classname="b.B" name="z" file="b.py" time="2"><failure/></testcase>
</testsuite></testsuites>"""
DURATIONS = '{"a.py::A::x": 1.5, "a.py::A::y": 1000.5, "b.py::z": 2}'
PLAYWRIGHT = json.dumps(
    {
        "suites": [
            {
                "suites": [
                    {
                        "specs": [
                            {
                                "file": "a.spec.ts",
                                "line": 7,
                                "tests": [{"results": [{"duration": 500}, {"duration": 250}]}],
                            }
                        ]
                    }
                ],
                "specs": [{"file": "a.spec.ts", "line": 3, "tests": []}],
            }
        ]
    }
)
VITEST = json.dumps(
    {
        "testResults": [
            {
                "name": "a.test.ts",
                "assertionResults": [
                    {"fullName": "x", "duration": 500},
                    {"fullName": "y", "duration": None},
                ],
            }
        ]
    }
)
GO = """{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestA/in","Elapsed":0.5}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0.5}
{"Action":"fail","Package":"q","Test":"TestB","Elapsed":2}
{"Action":"pass","Package":"q","Test":"TestA","Elapsed":1}
{"Action":"pass","Package":"q","Elapsed":3}
"""
CSV = "name,seconds\na.py::x,3\na.py::y,1\nb.py::z,2.5\n"
SAMPLES = [JUNIT, DURATIONS, PLAYWRIGHT, VITEST, GO, CSV]


@pytest.mark.parametrize(
    ("text", "by", "expected"),
    [
        (JUNIT, None, {"a.py::x": 1.5, "a.py::y": 1000.5, "b.py::z": 2}),
        (JUNIT, "file", {"a.py": 1002, "b.py": 2}),
        (JUNIT, "class", {"a.A": 1002, "b.B": 2}),
        (DURATIONS, "class", {"a.py::A": 1002, "b.py": 2}),
        (PLAYWRIGHT, None, {"a.spec.ts": 0.75}),
        (PLAYWRIGHT, "case", {"a.spec.ts:3": 0, "a.spec.ts:7": 0.75}),
        (VITEST, None, {"a.test.ts": 0.5}),
        (VITEST, "case", {"a.test.ts::x": 0.5, "a.test.ts::y": 0}),
        (GO, None, {"TestA": 1.5, "TestB": 2}),
        (GO, "file", {"p": 0.5, "q": 3}),
        (CSV, None, {"a.py::x": 3, "a.py::y": 1, "b.py::z": 2.5}),
    ],
)
def test_each_report_is_read(text, by, expected):
    assert times_of(read(text), by, None) == expected


@pytest.mark.parametrize("text", SAMPLES)
def test_changed_bytes_are_read_or_refused(text):
    draw = random.Random(1)
    for _ in range(300):
        data = bytearray(text.encode())
        for _ in range(draw.randint(1, 4)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        try:
            found = read(data.decode("utf-8", "replace"))
        except MakespanError:
            continue
        assert found.timings
        assert all(each.seconds >= 0 for each in found.timings)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (JUNIT.replace("1.5", "-1"), r"testcase\[0\].time: '-1' is not allowed"),
        (JUNIT.replace("<testsuites>", '<!DOCTYPE a [<!ENTITY b "c">]><testsuites>'), "entities"),
        (JUNIT[:-5], "not JUnit XML"),
        ('{"a": "long"}', "a: 'long' is not allowed"),
        (CSV + "c,-1\n", "line 5.seconds: '-1' is not allowed"),
        (CSV + "c\n", "line 5: must hold"),
        (GO + "{\n", "line 7: is not an object"),
        (VITEST.replace("500", '"x"'), r"assertionResults\[0\].duration: 'x'"),
        (PLAYWRIGHT.replace("500", "null"), "duration: None is not allowed"),
        ("", "line 1: is not allowed"),
        ("{}", "holds no times"),
    ],
)
def test_what_is_broken_is_refused_with_its_place(text, said):
    with pytest.raises(MakespanError, match=said):
        read(text)


def test_many_tests_are_split_within_a_hundredth_of_the_bound():
    for seed in range(200):
        draw = random.Random(seed)
        shards = draw.randint(2, 8)
        number = shards * draw.randint(25, 40)
        times = {f"t{index:03}": draw.expovariate(1) for index in range(number)}
        found = split(times, shards)
        assert sorted(name for tests in found.tests for name in tests) == sorted(times)
        assert all(found.tests)
        sums = [sum(times[name] for name in tests) for tests in found.tests]
        assert found.seconds == pytest.approx(sums)
        assert -1e-9 <= found.gap <= 0.01


def test_the_fewest_shards_within_a_time():
    times = {str(index): 1.0 for index in range(10)}
    found = split_within(times, 4.0, None, 1.0)
    assert (len(found.tests), max(found.seconds)) == (4, 4.0)
    with pytest.raises(InputError, match="too short"):
        split_within(times, 1.5, None, 1.0)


def test_equal_numbers_and_at_most_so_many():
    times = {str(index): float(index == 0) * 9 + 1 for index in range(9)}
    assert [len(tests) for tests in split(times, 3, "equal").tests] == [3, 3, 3]
    assert max(len(tests) for tests in split(times, 3, 4).tests) <= 4
    with pytest.raises(InputError, match="--counts"):
        split(times, 3, 2)
    with pytest.raises(InputError, match="--shards"):
        split(times, 10)


def test_what_is_new_is_estimated_and_what_is_gone_is_left_out():
    listed = ["a.py::x", "a.py::new", "c.py::new"]
    expected = {"a.py::x": 3, "a.py::new": 2, "c.py::new": pytest.approx(6.5 / 3)}
    assert times_of(read(CSV), None, listed) == expected


def test_a_new_test_is_estimated_by_those_most_like_it():
    text = "name,seconds\na.py::T::t[1],6\na.py::T::t[2],2\na.py::T::u,10\nb.ts:7,5\n"
    expected = {"a.py::T::t[3]": 4, "a.py::T::new": 6, "a.py::w": 6, "b.ts:9": 5, "c": 5.75}
    assert times_of(read(text), None, list(expected)) == expected


def test_shards_of_unlike_speeds_end_together():
    for seed in range(20):
        draw = random.Random(seed)
        speeds = [draw.choice((1.0, 2.0, 3.5)) for _ in range(draw.randint(1, 5))]
        times = {str(index): draw.expovariate(1) for index in range(draw.randint(5, 60))}
        found = split_by_speeds(times, speeds, 2.0)
        assert sorted(name for tests in found.tests for name in tests) == sorted(times)
        assert all(found.tests)
        for tests, speed, seconds in zip(found.tests, speeds, found.seconds, strict=True):
            assert seconds == pytest.approx(2.0 + sum(times[name] for name in tests) / speed)
        ideal = 2.0 + max(sum(times.values()) / sum(speeds), max(times.values()) / max(speeds))
        assert ideal <= found.bound * (1 + 1e-9) <= max(found.seconds) * (1 + 2e-9)


def test_a_slow_shard_has_a_test_too():
    found = split_by_speeds({"a": 1.0, "b": 1.0, "c": 1.0}, [1e-6, 1.0], 0.0)
    assert sorted(map(len, found.tests)) == [1, 2]
    with pytest.raises(InputError, match="--speeds"):
        split_by_speeds({"a": 1.0}, [1.0, 2.0], 0.0)


def test_go_takes_a_pattern():
    assert written(["TestA", "TestB"], "go") == "^(TestA|TestB)$"
    for name in ("ex/b::TestB", "ex/b", "TestA/in"):  # which would match nothing, and pass
        with pytest.raises(InputError, match=r"--for go: .* is not the name of a Go test"):
            written(["TestA", name], "go")


def test_each_process_computes_the_same_parts(tmp_path):
    draw = random.Random(3)
    path = tmp_path / "times.csv"
    rows = [f"t{index},{draw.choice([1, 2, 3, 0.5])}" for index in range(60)]
    path.write_text("\n".join(["name,seconds", *rows]))
    command = [sys.executable, "-m", "makespan", "split", str(path), "--shards", "4", "--json"]
    said = {
        subprocess.run(
            command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1


def test_the_command_prints_a_table_a_shard_or_json(tmp_path, capsys):
    path, now = tmp_path / "t.csv", tmp_path / "now.txt"
    path.write_text(CSV)
    now.write_text("a.py::x\n\nb.py::z\n")
    told = ["split", str(path)]
    assert run([*told, "--shards", "2", "--startup", "60", "--price", "1"]) == 0
    said = capsys.readouterr().out
    assert "bound 63.50 s, gap 0.00 %" in said
    assert "price 2.11" in said
    shards = []
    for shard in ("1", "2"):
        assert run([*told, "--shards", "2", "--shard", shard]) == 0
        shards.append(capsys.readouterr().out.splitlines())
    assert sorted(map(sorted, shards)) == [["a.py::x"], ["a.py::y", "b.py::z"]]
    assert run([*told, "--within", "10", "--list", str(now), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["format"] == "makespan.split/1"
    assert data["shards"] == [{"tests": ["a.py::x", "b.py::z"], "seconds": 5.5}]
    assert run(told) == 2
    assert run([*told, "--shards", "2", "--shard", "3"]) == 2
    assert "there are 2" in capsys.readouterr().err
