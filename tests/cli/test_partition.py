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


def test_gpus_answers_in_a_sentence(tmp_path, capsys):
    """Who takes how many, when that ends, whether it is proved; a page to choose on."""
    table = tmp_path / "gpus.csv"
    table.write_text("gpu,items,seconds,joules\na,0,0,0\na,4,1.5,9\nb,0,0,0\nb,8,2.0,5\n")
    gpus = ["gpus", str(table), "--tasks"]
    assert run([*gpus, "12"]) == 0
    said = capsys.readouterr().out
    assert said == "12 items: a 4, b 8; this ends at 2 s and takes 14 J (no split is faster)\n"
    page = tmp_path / "page.html"
    assert run([*gpus, "6", "-o", str(page)]) == 0
    said = capsys.readouterr().out
    assert "costs between measured counts are interpolated" in said
    assert page.stat().st_size > 1000
    assert run([*gpus, "8", "--objective", "energy", "--deadline", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answer"]["counts"] == {"a": 0, "b": 8}
    assert run([*gpus, "8", "--deadline", "0.1"]) == 3
    assert "infeasible: no split was found" in capsys.readouterr().out
    assert run(["gpus", str(table)]) == 2
    assert run([*gpus, "6", "-o", "page.svg"]) == 2
