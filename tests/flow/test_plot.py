"""Plans as pictures: axes in, axes out; SVG, HTML and files."""

from dataclasses import replace
from xml.etree import ElementTree

import matplotlib as mpl
import matplotlib.image
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from makespan import Dag, IndependentTasks, Network, Reduction, TaskGraph, save, solve
from makespan.core.errors import FileError, InputError
from makespan.core.picture import Curves, Line
from makespan.core.schedule import Activity, Schedule
from makespan.core.solution import Objective, Status
from makespan.divisible.model.machines import Worker
from makespan.divisible.model.plan import Plan
from makespan.divisible.model.platform import Star
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing import timed
from makespan.drawing.diagram.curves import curves_svg
from makespan.drawing.diagram.draw import diagram_svg
from makespan.drawing.diagram.layout import lay_out
from makespan.drawing.text import short
from makespan.flow.picture import drawing, picture, title_of
from makespan.flow.plot import plot, svg
from makespan.flow.result import Result

ODD = '<b>&"$x$'


def plan(*, bound=10.0, **changes):
    star = Star([Worker(name=ODD, send=1.0, compute=3.0), Worker(name="B", send=2.0, compute=5.0)])
    problem = DivisibleLoad(load=4.0, platform=star)
    schedule = timed(problem, Plan.of([0, 1], [3.0, 1.0]))
    result = Result(
        problem=problem,
        status=Status.FEASIBLE,
        schedule=schedule,
        makespan=schedule.makespan,
        lower_bound=bound,
        gap=(schedule.makespan - bound) / schedule.makespan,
        method="equal-split",
        options={},
        seed=0,
        runtime=0.1,
    )
    return replace(result, **changes)


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_axes_in_axes_out():
    """The given axes are drawn into and returned."""
    ax = Figure().add_subplot()
    assert plot(plan(), ax=ax) is ax
    assert ax.get_xlabel() == "time (s)"
    assert ax.get_title(loc="left") == "divisible, equal-split: makespan 12 s, gap 16.7 %"
    assert [label.get_text() for label in ax.get_yticklabels()] == ["P0", ODD, "B"]


def test_axes_show_makespan_and_bound():
    """Both lines stand at their times, with labels."""
    ax = plot(plan(), ax=Figure().add_subplot())
    assert sorted(line.get_xdata()[0] for line in ax.lines) == [10.0, 12.0]
    assert {"makespan 12", "bound 10"} <= set(texts(ax))


def test_optimal_plan_has_one_line():
    """Where the bound is met one line says so."""
    ax = plot(plan(bound=12.0, status=Status.OPTIMAL), ax=Figure().add_subplot())
    assert len(ax.lines) == 1
    assert "makespan = bound 12" in texts(ax)
    assert ax.get_title(loc="left").endswith("makespan 12 s, optimal")


def test_legend_explains_the_roles():
    """The legend holds the roles that occur and idle time, and can be left out."""
    legend = plot(plan(), ax=Figure().add_subplot()).get_legend()
    assert [text.get_text() for text in legend.get_texts()] == [
        "send",
        "receive",
        "compute",
        "idle",
    ]
    assert plot(plan(), ax=Figure().add_subplot(), legend=False).get_legend() is None


def test_without_axes_pyplot_makes_a_figure():
    """plot(ax=None) makes the current figure of pyplot, as people expect."""
    import matplotlib.pyplot as plt

    with mpl.rc_context({"backend": "agg"}):
        ax = plot(plan())
        assert isinstance(ax, Axes)
        assert plt.gcf() is ax.figure
        ax.figure.canvas.draw()
        plt.close(ax.figure)


def test_odd_names_are_drawn_as_they_are():
    """Dollar signs and markup in names are no mathematics."""
    ax = plot(plan(), ax=Figure().add_subplot(), title="$\\frac$")
    ax.figure.canvas.draw()
    assert ax.get_title(loc="left") == "$\\frac$"


def test_rows_can_be_limited():
    """max_rows shows the first machines, and sums the others up."""
    ax = plot(plan(), ax=Figure().add_subplot(), max_rows=1)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["P0", "2 more machines"]
    assert "2 more machines" in svg(plan(), max_rows=1)


def test_names_in_low_axes_do_not_pile_up():
    """Where there is no room for all names, every second or third is written."""
    machines = [f"M{k}" for k in range(50)]
    schedule = Schedule.of_rows(machines, [("compute", k, -1, 0, 1.0, 0.0, 1.0) for k in range(50)])
    tall = plot(schedule, ax=Figure(figsize=(8, 12)).add_subplot())
    low = plot(schedule, ax=Figure(figsize=(8, 2)).add_subplot())
    assert len(tall.get_yticklabels()) == 50
    assert 5 <= len(low.get_yticklabels()) <= 25


@pytest.mark.parametrize("rows", [0, -1, 2.5, True])
def test_senseless_row_limits_are_refused(rows):
    """A limit is a whole number from 1."""
    with pytest.raises(InputError, match="max_rows"):
        svg(plan(), max_rows=rows)


def test_bare_schedule_is_drawn_without_its_problem():
    """A schedule alone has a lane for each kind of activity, and its makespan."""
    drawn = picture(plan().schedule)
    assert [row.lanes for row in drawn.rows] == [("send",), ("compute",), ("compute",)]
    assert drawn.title == "makespan 12 s"
    assert [mark.label for mark in drawn.marks] == ["makespan"]
    assert [row.note for row in drawn.rows] == ["", "3, busy 75 %", "1, busy 41.7 %"]


def test_schedule_with_its_problem_is_drawn_by_its_kind():
    """With the problem, receives are seen and the bound is marked."""
    drawn = picture(plan().schedule, problem=plan().problem)
    assert drawn.rows[1].lanes == ("receive", "compute")
    assert drawn.title == "divisible: makespan 12 s"
    assert {mark.label for mark in drawn.marks} == {"makespan", "bound"}


def test_empty_schedule_is_drawn():
    """A schedule without activities shows its machines, idle."""
    schedule = Schedule.of_rows(["A", "B"], [])
    found = svg(schedule)
    assert found.count(">idle<") >= 2
    plot(schedule, ax=Figure().add_subplot()).figure.canvas.draw()


def test_result_without_plan_is_refused_with_its_status():
    """There is nothing to draw for an infeasible problem, but a notebook still shows it."""
    result = plan(
        schedule=None, makespan=None, gap=None, status=Status.INFEASIBLE, notes=("no <room>",)
    )
    with pytest.raises(InputError, match="infeasible"):
        plot(result, ax=Figure().add_subplot())
    fragment = result._repr_html_()
    assert "infeasible" in fragment
    assert "no &lt;room&gt;" in fragment


def test_what_is_no_plan_is_refused():
    """A list is no schedule."""
    with pytest.raises(TypeError, match="neither a result nor a schedule"):
        svg([1, 2, 3])


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ([("compute", 0, -1, 0, 1.0, 0.0, float("nan"))], "finite"),
        ([("compute", 7, -1, 0, 1.0, 0.0, 1.0)], "machine"),
        ([("compute", 0, -1, 0, 1.0, 2.0, 1.0)], "ends before"),
    ],
)
def test_schedules_that_have_no_picture_are_refused(rows, fault):
    """Times that are no numbers and machines that are not there can't be drawn."""
    with pytest.raises(InputError, match=fault):
        svg(Schedule.of_rows(["A"], rows))


def test_foreign_machines_are_refused():
    """A schedule of other machines is not drawn as this problem's."""
    schedule = Schedule.of_rows(["stranger"], [("compute", 0, -1, 0, 1.0, 0.0, 1.0)])
    with pytest.raises(InputError, match="stranger"):
        svg(schedule, problem=plan().problem)


def test_objective_is_named_in_the_title():
    """Where the load is maximised the title says how much."""
    objective = Objective(name="load", value=4.0, bound=5.0, maximise=True)
    said = title_of(plan(lower_bound=None, gap=0.2, objective=objective))
    assert said == "divisible, equal-split: load 4, makespan 12 s, gap 20 %"


def test_html_escapes_everything():
    """Names, notes and methods are text in a notebook, never markup."""
    fragment = plan(method="<i>m</i>", notes=('<img src="x">',))._repr_html_()
    assert "<b>" not in fragment
    assert "<i>" not in fragment
    assert "<img" not in fragment
    ElementTree.fromstring(fragment)


def test_svg_and_png_files(tmp_path):
    """The suffix decides, in either case of letters."""
    save(plan(), tmp_path / "plan.svg")
    save(plan(), tmp_path / "plan.PNG")
    ElementTree.fromstring((tmp_path / "plan.svg").read_text(encoding="utf-8"))
    assert (tmp_path / "plan.PNG").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plan.PNG", "plan.svg"]


def test_png_leaves_pyplot_alone(tmp_path):
    """Writing a file opens no figure of pyplot and changes no backend."""
    import matplotlib.pyplot as plt

    before = (plt.get_fignums(), mpl.rcParams["backend"])
    save(plan(), tmp_path / "plan.png")
    assert (plt.get_fignums(), mpl.rcParams["backend"]) == before


def test_names_without_glyphs_make_no_noise(tmp_path):
    """A name that the font can't show is no warning."""
    schedule = Schedule.of_rows(["机器 🖥"], [("compute", 0, -1, 0, 1.0, 0.0, 1.0)])
    save(schedule, tmp_path / "plan.png")
    assert (tmp_path / "plan.png").stat().st_size > 1000


def test_other_suffixes_are_refused(tmp_path):
    """A suffix that is no picture's is refused by name, and nothing is written."""
    with pytest.raises(FileError, match=r"can't write \.gif here"):
        save(plan(), tmp_path / "plan.gif")
    assert not list(tmp_path.iterdir())


def test_same_plan_same_picture():
    """Two drawings of one plan are the same to the byte."""
    assert svg(plan()) == svg(plan())


def test_svg_needs_no_matplotlib(tmp_path):
    """An SVG is written without importing matplotlib."""
    import subprocess
    import sys

    code = (
        "import sys\n"
        "from makespan.core.schedule import Schedule\n"
        "from makespan import save\n"
        "schedule = Schedule.of_rows(['A'], [('compute', 0, -1, 0, 1.0, 0.0, 1.0)])\n"
        f"save(schedule, {str(tmp_path / 'plan.svg')!r})\n"
        "print('matplotlib' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_pictures_are_as_wide_as_asked(tmp_path):
    """In inches: SVG has 96 units an inch, images have their dots; a page has no width."""
    result = plan()
    save(result, tmp_path / "plan.svg", width=5)
    assert ElementTree.parse(tmp_path / "plan.svg").getroot().get("width") == "480"
    save(result, tmp_path / "star.svg", view="platform", width=5)
    root = ElementTree.parse(tmp_path / "star.svg").getroot()
    _, _, across, down = map(float, root.get("viewBox").split())
    assert float(root.get("width")) == 480
    assert float(root.get("height")) == pytest.approx(480 * down / across, rel=1e-3)
    for view in ("gantt", "platform"):
        save(result, tmp_path / "plan.png", view=view, width=4)
        image = mpl.image.imread(tmp_path / "plan.png")
        assert image.shape[1] == pytest.approx(4 * 144, abs=1)
    with pytest.raises(InputError, match=r"width: 0\.1 is not allowed"):
        save(result, tmp_path / "plan.svg", width=0.1)
    with pytest.raises(InputError, match="width"):
        save(result, tmp_path / "plan.html", width=5)


def test_layers_stand_side_by_side_on_slides(tmp_path):
    """A chain goes down, and across in landscape."""
    chain = Dag(dict.fromkeys("abcd", 1.0), [("a", "b", 1.0), ("b", "c", 1.0), ("c", "d", 1.0)])
    problem = TaskGraph(chain, Network.complete(speeds=[1.0, 1.0]))
    shapes = []
    for landscape in (False, True):
        save(problem, tmp_path / "graph.svg", landscape=landscape)
        view = ElementTree.parse(tmp_path / "graph.svg").getroot().get("viewBox").split()
        boxes = ElementTree.parse(tmp_path / "graph.svg").iter("{http://www.w3.org/2000/svg}rect")
        tops = {box.get("y") for box in boxes}
        shapes.append((float(view[3]), len(tops)))
    assert shapes[0][0] > shapes[1][0]
    assert shapes[0][1] > shapes[1][1]


def test_short_plans_are_in_milliseconds():
    """The axis and the marks; the coordinates of matplotlib stay seconds."""
    star = Star([Worker(send=1e-3, compute=3e-3)])
    result = solve(DivisibleLoad(load=4, platform=star))
    ax = plot(result, ax=Figure().add_subplot())
    assert ax.get_xlabel() == "time (ms)"
    assert any("makespan" in text and "16" in text for text in texts(ax))
    assert ax.get_xlim()[1] == pytest.approx(0.016, rel=0.1)
    assert "time (ms)" in svg(result)


def test_machines_that_send_in_circles_stand_in_one():
    """An all-reduce has no root, and no line of it is behind a box; a reduce has its root."""
    times = {"machines": 4, "segments": 2, "latency": 1, "transfer": 1, "reduce": 1}
    ring = drawing(solve(Reduction(**times, collective="all-reduce")), "graph")
    places = lay_out(ring)
    assert ring.nodes.bold is None
    assert not places.unlabelled
    assert "the root" not in diagram_svg(ring)
    assert len({round(top) for _, top, _, _ in places.boxes.tolist()}) > 2
    tree = drawing(solve(Reduction(**times)), "graph")
    assert tree.nodes.x is None
    assert "the root" in diagram_svg(tree)


def test_colours_of_tasks_have_a_legend():
    """The machines are named; tasks are counted in whole numbers."""
    result = solve(IndependentTasks(machines=2, durations=[3, 3, 2, 2, 2]))
    drawn = svg(result, view="tasks")
    assert all(f">{name}</text>" in drawn for name in ("M1", "M2"))
    ax = plot(result, view="tasks", ax=Figure().add_subplot())
    assert [entry.get_text() for entry in ax.get_legend().get_texts()] == ["M1", "M2"]
    assert all(tick == int(tick) for tick in ax.get_xticks())


def test_points_of_a_long_front_are_seen_one_by_one():
    """Every point can be chosen; those on others are not drawn."""
    curve = Line(name="front", x=np.arange(900.0), y=900.0 - np.arange(900.0), look="points")
    drawn = curves_svg(Curves(lines=[curve], across="makespan (s)", up="energy"))
    points = [part for part in drawn.split("<g ") if 'class="point"' in part]
    seen = [part for part in points if 'opacity="0"' not in part]
    assert len(points) == 900
    assert 20 < len(seen) < 200


def test_a_run_bears_the_labels_of_a_plan():
    """Chunks have their amounts, machines what they computed in all."""
    star = Star([Worker(send=1, compute=3), Worker(send=2, compute=5)])
    schedule = solve(DivisibleLoad(load=10, platform=star)).schedule
    drawn = picture(schedule)
    rows = schedule.rows_of(Activity.COMPUTE)
    amounts = [short(float(schedule.amount[row])) for row in rows.tolist()]
    assert [drawn.labels[row] for row in rows.tolist()] == amounts
    assert {row.note.partition(",")[0] for row in drawn.rows if row.note} == set(amounts)
