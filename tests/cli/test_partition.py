"""The command line on tables of measurements."""

from __future__ import annotations

import json

from makespan.cli.main import run

CSV = "resource,count,time\na,0,0\na,4,1.5\nb,0,0\nb,8,2.0\n"


def test_a_csv_is_solved_for_a_number_of_tasks(tmp_path, capsys):
    """``makespan solve TABLE.csv --tasks N`` plans; without tasks it says what is missing."""
    table = tmp_path / "table.csv"
    table.write_text(CSV)
    solve = ["solve", str(table)]
    assert run([*solve, "--tasks", "12", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answer"]["counts"] == {"a": 4, "b": 8}
    assert run([*solve, "--tasks", "9", "--interpolation", "step", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["makespan"] == 2.0
    assert run([*solve, "--tasks", "12", "--objective", "total", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["objective"]["value"] == 3.5
    assert run([*solve, "--tasks", "9"]) == 3
    assert run(solve) == 2
    assert "tasks: is missing" in capsys.readouterr().err
