"""Pages as data: columns that say what the schedule says, and nothing that could run."""

import json
import re
from dataclasses import replace

import pytest

from makespan import DivisibleLoad, IndependentTasks, Reduction, Star, Worker, save, solve
from makespan.core.errors import InputError
from makespan.flow.plot import html

ODD = "</script><script>alert(1)</script><!-- &\u2028\ud800"


def problem(name="A"):
    return DivisibleLoad(load=7.0, platform=Star([Worker(name=name, send=1.0, compute=3.0)]))


def data_of(page):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(found[1])


def test_columns_are_the_schedule():
    """Each activity stands once, each bar points to its activity, rows name machines."""
    plan = solve(problem())
    chart = data_of(html(plan))["charts"][0]
    columns = chart["activities"]
    assert columns["start"] == plan.schedule.start.tolist()
    assert columns["end"] == plan.schedule.end.tolist()
    assert [chart["machines"][index] for index in columns["machine"]] == ["P0", "A"]
    assert columns["peer"] == [1, -1]
    assert sorted(chart["bars"]["activity"]) == [0, 0, 1]
    assert chart["rows"] == ["P0", "A"]
    assert ["status", "optimal"] in chart["facts"]
    assert "start" not in chart["bars"]


def test_bars_that_are_not_at_their_activity_say_when():
    """In a reduction the receiver is busy later than the sender; its bar says when."""
    plan = solve(Reduction(machines=2, segments=1, latency=2.0, transfer=1.0, reduce=1.0))
    bars = data_of(html(plan))["charts"][0]["bars"]
    assert sorted(zip(bars["start"], bars["end"], strict=True)) == [(0, 1), (2, 3), (3, 4)]


def test_notes_and_steps_are_there():
    """What a method noted and logged stands on the page."""
    plan = replace(solve(problem()), notes=("a note",), log=("step 1", "step 2"))
    chart = data_of(html(plan))["charts"][0]
    assert chart["notes"] == ["a note"]
    assert chart["log"] == ["step 1", "step 2"]


def test_odd_names_stay_text():
    """A name that looks like markup ends no element, and comes back as it was."""
    page = html(solve(problem(ODD)))
    assert ODD not in page
    assert page.count("</script>") == 3
    assert "<!--" not in page
    assert data_of(page)["charts"][0]["rows"] == ["P0", ODD]
    page.encode("utf-8")


def test_page_asks_for_nothing_elsewhere():
    """No address is loaded, and the page itself forbids it."""
    page = html(solve(problem()))
    assert "default-src 'none'" in page
    assert not re.search(r"(src|href)\s*=\s*[\"'](?!data:,)", page)
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


def test_second_plan_stands_below(tmp_path):
    """A result, or a schedule alone, is drawn beside the first with the problem of the first."""
    plan = solve(problem())
    charts = data_of(html(plan, beside=plan.schedule))["charts"]
    assert len(charts) == 2
    assert charts[0]["rows"] == charts[1]["rows"]
    assert charts[1]["tables"] == charts[0]["tables"]
    save(plan, tmp_path / "two.html", beside=plan)
    assert len(data_of((tmp_path / "two.html").read_text())["charts"]) == 2
    with pytest.raises(InputError, match=r"only a page \(.html\)"):
        save(plan, tmp_path / "two.svg", beside=plan)


def test_schedule_alone(tmp_path):
    """A schedule without its problem has a page, too."""
    schedule = solve(problem()).schedule
    save(schedule, tmp_path / "schedule.html")
    chart = data_of((tmp_path / "schedule.html").read_text())["charts"][0]
    assert chart["tables"] == []
    assert chart["rows"] == ["P0", "A"]


def test_a_million_idle_machines_are_counted():
    """Machines that do nothing are not written down beyond a thousand."""
    plan = solve(problem())
    platform = Star.from_arrays(send_per_unit=[1.0] * 5000, compute_per_unit=[3.0] * 5000)
    many = DivisibleLoad(load=7.0, platform=platform)
    schedule = replace(plan.schedule, machines=many.machines)
    chart = data_of(html(schedule, problem=many))["charts"][0]
    assert chart["rows"]["count"] == 1000
    assert chart["hidden"] == 4001
    assert len(chart["machines"]) == 2


def test_pages_are_the_same_each_time():
    """The same result gives the same page."""
    plan = solve(IndependentTasks(machines=3, durations=[4, 4, 4, 4, 3, 2]))
    assert html(plan) == html(plan)
