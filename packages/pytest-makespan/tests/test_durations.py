"""What is kept, read and estimated."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_makespan.durations import (
    Durations,
    Estimate,
    class_of,
    file_of,
    function_of,
    junit_name,
)
from pytest_makespan.plugin import summary


@pytest.mark.parametrize(
    ("test", "file", "group", "function", "junit"),
    [
        ("a/b.py::test_c", "a/b.py", "a/b.py", "a/b.py::test_c", "a.b::test_c"),
        (
            "a/test_b.py::TestD::test_c[x::y]",
            "a/test_b.py",
            "a/test_b.py::TestD",
            "a/test_b.py::TestD::test_c",
            "a.test_b.TestD::test_c[x::y]",
        ),
    ],
)  # fmt: skip
def test_names(test: str, file: str, group: str, function: str, junit: str) -> None:
    """The parts of a node id, and how JUnit XML calls it."""
    assert (file_of(test), class_of(test), function_of(test), junit_name(test)) == (
        file, group, function, junit,
    )  # fmt: skip


def test_estimates_by_the_nearest_that_is_known() -> None:
    """A test, its other parameters, its file, all; nothing where nothing is known."""
    known = {"a.py::f[1]": 4.0, "a.py::f[2]": 6.0, "a.py::g": 1.0, "b.py::h": 0.5}
    new = ["a.py::f[3]", "a.py::new", "c.py::new"]
    found = Durations(known).estimates([*known, *new])
    assert [found[name] for name in new] == [
        Estimate(6.0, True),
        Estimate(4.0, False),
        Estimate(4.0, False),
    ]
    assert found["a.py::g"] == Estimate(1.0, True)
    assert Durations().estimates(new) == dict.fromkeys(new)


def test_runs_are_smoothed_and_failures_are_not_believed() -> None:
    """Half of what is new; of a failure only where nothing was known."""
    durations = Durations({"a": 2.0})
    durations.record("a", 1.0)
    assert durations.tests["a"] == 1.5
    durations.failed.update({"a", "b"})
    durations.record("a", 0.1)
    durations.record("b", 0.2)
    assert durations.tests == {"a": 1.5, "b": 0.2}


def test_fixtures_are_kept_apart() -> None:
    """A test doesn't take what a shared fixture took that was made for it."""
    durations = Durations()
    durations.record_fixtures("a", {"session ::db": 3.0}, ["session ::db"])
    durations.record("a", 3.5)
    assert durations.tests == {"a": 0.5}
    assert durations.fixtures_of("a") == {"session ::db"}
    durations.record_fixtures("a", {}, [])
    assert durations.fixtures_of("a") == frozenset()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".test_durations", '{"t/test_a.py::C::test_b[x]": 2.5}'),
        ("times.csv", "name,seconds\nt/test_a.py::C::test_b[x],2.5\n"),
        (
            "junit.xml",
            '<testsuites><testsuite><testcase classname="t.test_a.C" name="test_b[x]" time="2.5"/>'
            "</testsuite></testsuites>",
        ),
        (
            "xunit1.xml",
            '<testsuites><testsuite><testcase classname="t.test_a.C" name="test_b[x]" '
            'file="t/test_a.py" time="2.5"/></testsuite></testsuites>',
        ),
    ],
)
def test_files_are_read(name: str, text: str, tmp_path: Path) -> None:
    """Own runs count for more."""
    (tmp_path / name).write_text(text)
    test = "t/test_a.py::C::test_b[x]"
    durations = Durations()
    durations.read(str(tmp_path / name))
    assert durations.estimates([test]) == {test: Estimate(2.5, True)}
    durations.record(test, 1.0)
    assert durations.estimates([test]) == {test: Estimate(1.0, True)}


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    """With the option and the file."""
    with pytest.raises(pytest.UsageError, match=r"--makespan-durations: .*nothing"):
        Durations().read(str(tmp_path / "nothing"))
    (tmp_path / "bad").write_text("name;seconds")
    with pytest.raises(pytest.UsageError, match=r"--makespan-durations: .*line 1"):
        Durations().read(str(tmp_path / "bad"))


def test_the_line_at_the_end() -> None:
    """The longest test is a bound, and so is the mean of workers; a third worker saves 1 s."""
    assert summary(7.0, 1.0, [3.0, 3.0, 2.0, 2.0], 2) == (
        "makespan: 7.00 s on 2 workers; no order takes less than 6.00 s; 3 workers: about 6.00 s"
    )
    assert "less than 5.50 s" in summary(6.0, 0.5, [5.0, 1.0], 2)
