"""Valid and broken schedules, written by hand, before the referees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from makespan import Schedule, check
from makespan.flow.kinds import kind_named

Case = dict[str, Any]
CASES: list[Case] = json.loads((Path(__file__).parent / "cases" / "referee.json").read_text())


def schedule_of(machines: list[str], records: list[dict[str, Any]]) -> Schedule:
    position: dict[str | None, int] = {name: index for index, name in enumerate(machines)}
    position[None] = -1
    rows = [
        (
            record["kind"],
            position[record["machine"]],
            position[record["peer"]],
            record["item"],
            record["amount"],
            record["start"],
            record["end"],
        )
        for record in records
    ]
    return Schedule.of_rows(machines, rows)


def test_names_of_cases_differ() -> None:
    """Each case has a name of its own, and says that it is fine exactly if no rule is broken."""
    assert len({case["name"] for case in CASES}) == len(CASES) > 0
    assert all(case["ok"] == (not case["rules"]) for case in CASES)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_case(case: Case) -> None:
    """The referee accepts what is valid, and names exactly the rules that are broken."""
    problem = kind_named(case["problem"]["kind"]).read(case["problem"])
    report = check(problem, schedule_of(list(problem.machines), case["schedule"]))
    assert {violation.rule for violation in report.violations} == set(case["rules"]), str(report)
    assert report.ok == case["ok"]
