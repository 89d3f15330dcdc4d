"""Inputs that went wrong: each ends in a plan or in an error that a person can use."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import pytest

from makespan.cli.main import run
from makespan.cli.process import CHECK_FAILED, DONE, INFEASIBLE, NOTHING_FOUND, USAGE

FOUND = Path(__file__).parent / "cases" / "found"
ALLOWED = {DONE, INFEASIBLE, NOTHING_FOUND, USAGE}
CONTROL = {*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A)} - {9, 10}


@pytest.mark.parametrize("path", sorted(FOUND.iterdir()), ids=lambda path: path.name)
def test_ends_in_a_plan_or_a_clear_error(path: Path) -> None:
    code, out, err = outcome("solve", str(path), "--time-limit", "0.3")
    assert code in ALLOWED, out + err
    assert "internal error" not in err
    assert "not believed" not in out + err
    if code == USAGE:
        assert err.startswith("error: "), err
    assert not CONTROL & set(map(ord, out + err))


def outcome(*arguments: str) -> tuple[int, str, str]:
    """Run a command; return its exit code and what it prints."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(arguments)
    return code, out.getvalue(), err.getvalue()


PLANNED = {
    "auckland_Weight.dot": "makespan     342",
    "a_weight_upper.dot": "makespan     171",
    "b_weight_lower.dot": "makespan     171",
    "c_cost.dot": "makespan     12",
    "dot_bom.dot": "note: no node has a work: 1 is assumed",
    "stg_bom.stg": "makespan     7",
    "j.dax": "makespan     16",
    "i.graphml": "note: the file names no machines: 4 of speed 1 are assumed",
}


@pytest.mark.parametrize("name", PLANNED)
def test_graphs_of_others_are_planned(name: str) -> None:
    """Works and sizes are read as their authors meant them, and what is assumed is said."""
    code, out, _ = outcome("solve", str(FOUND / name), "--time-limit", "1")
    assert code == DONE
    assert PLANNED[name] in out


REFUSED = {
    "e_label.dot": "line 1: work '2x' is not a number",
    "dot_comment.dot": "line 1: '/* /* /* /* /* /* /*' is opened and never closed",
    "dot_product.dot": "groups make more than 1000000 edges",
    "wf_files_str.json": "workflow.tasks[0].files: 'overlap' is not a list",
    "wf_parents_int.json": "workflow.tasks[0].parents: 5 is not a list",
    "wf_unhashable_parent.json": "workflow.tasks[0].children: {'link': 'input'",
    "stg_400.stg": "line 3: '999",
    "stg_count5000.stg": "line 1: '999",
    "stg_digits.stg": "line 3: '999",
    "stg_inf.stg": "line 2: processing time '1e400' is infinite",
    "o_comm.stg": "variants with communication are not read. Graphs with sizes are read from WfF",
    "kind_hex.toml": "a number can't be read: it has thousands of digits",
    "devzero.toml": "/dev/zero: leads out of the folder of the file that names it",
    "escape_cycle.json": r"edges: form a cycle: \u001b[2Ja → b → \u001b[2Ja",
    "html_inf.json": "resources[1].cost.per_unit: 1.7976931348623157e+308 is above 1e+100",
}


@pytest.mark.parametrize("name", REFUSED)
def test_odd_files_are_refused(name: str) -> None:
    """The error says where and what."""
    code, out, err = outcome("solve", str(FOUND / name))
    assert (code, out) == (USAGE, "")
    assert err.startswith(f"error: {FOUND / name}: ")
    assert REFUSED[name] in err


@pytest.mark.parametrize("suffix", [".html", ".svg", ".trace.json"])
def test_schedules_that_can_not_be_drawn(suffix: str, tmp_path: Path) -> None:
    """Items that are not there and times beyond the range are said, and nothing is written."""
    target = tmp_path / f"plan{suffix}"
    for name, command, fault in (
        ("result_item_index.json", "plot", "activity 7 names edge 10; there is none"),
        ("schedule_html_inf.json", "convert", "is not a finite number up to 1e+250"),
    ):
        code, _, err = outcome(command, str(FOUND / name), str(target))
        assert code == USAGE
        assert fault in err
        assert not target.exists()
    code, out, _ = outcome("check", str(FOUND / "result_item_index.json"))
    assert (code, "activity 7 names edge 10" in out) == (CHECK_FAILED, True)


def test_names_steer_no_terminal(tmp_path: Path) -> None:
    """Escapes and formulas in names are shown as text, in every output."""
    path = str(FOUND / "escape_names.json")
    for suffix in (".csv", ".json", ".html", ".svg"):
        code, out, _ = outcome("convert", path, str(tmp_path / f"r{suffix}"))
        assert code == DONE
        text = (tmp_path / f"r{suffix}").read_text() + out
        assert not CONTROL & set(map(ord, text)), suffix
    assert ",'=cmd|" in (tmp_path / "r.csv").read_text()
