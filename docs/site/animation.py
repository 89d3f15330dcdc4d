"""HEFT, step by step, as an animated picture: ``python docs/site/animation.py``.

The steps are those that the player of a page goes through. The picture moves by its style sheet
alone; without motion, and in ``heft-still.svg``, it shows what the last step leaves.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import makespan
from makespan.core.steps import Step, number
from makespan.drawing.colours import FAINT_INK, FILL, GRID, IDLE, INK, LIGHT, PAPER, Role
from makespan.drawing.render import as_svg
from makespan.drawing.svg import Canvas
from makespan.flow.picture import drawing
from makespan.studio.exercises import read_exercise

IMAGES = Path(__file__).parents[1] / "images"
EXERCISE = Path(__file__).parents[2] / "src/makespan/studio/exercises/8-three-machines.toml"
A_STEP, REST = 1.8, 3.0  # seconds that a step is seen, and the last one beyond that
WIDTH, HEIGHT, GRAPH = 780.0, 464.0, 400.0
LEFT, TOP, ROW, SECOND = 46.0, 270.0, 54.0, 57.0  # of the chart
STATES = {"ready": "#8CCBF0", "chosen": "#E69F00", "placed": "#A5D6B7", "": LIGHT["panel"]}
STILL = "@media (prefers-reduced-motion: reduce) { * { animation: none !important; } }"


class Frames:
    """The style sheet of what changes from frame to frame; the first is before the first step."""

    def __init__(self, count: int) -> None:
        self.seconds = count * A_STEP + REST
        self.rules: list[str] = []
        self.named: dict[str, str] = {}

    def change(self, selector: str, name: str, values: Sequence[str]) -> None:
        """Give a property its value in each frame, and that of the last one without motion."""
        shares = [100 * frame * A_STEP / self.seconds for frame in range(len(values))]
        before = ["", *values]
        body = "".join(
            f"{share:.4g}% {{ {name}: {value}; }} "
            for share, value, last in zip(shares, values, before, strict=False)
            if value != last
        )
        known = self.named.setdefault(body, f"k{len(self.named)}")
        length = f"{number(self.seconds)}s"
        self.rules.append(
            f"{selector} {{ {name}: {values[-1]}; animation: {known} {length} step-end infinite; }}"
        )

    def show(self, selector: str, when: Sequence[bool]) -> None:
        """Show something in some frames only."""
        values = ["visible" if shown else "hidden" for shown in when]
        self.change(selector, "visibility", values)

    def style(self) -> str:
        frames = [f"@keyframes {name} {{ {body}}}" for body, name in self.named.items()]
        return "\n".join([*frames, *self.rules, STILL])


def picture(result: makespan.Result, end: str) -> tuple[str, str]:
    """Return the animated picture of a plan, ``end`` below its last step, and the still one."""
    steps = result.steps
    canvas, frames = Canvas("HEFT places one task after another"), Frames(len(steps) + 2)
    canvas.rectangle((0, 0, WIDTH, HEIGHT), PAPER, radius=8)
    with canvas.group("graph"):  # whose place this is
        pass
    states: list[dict[int, str]] = [{}]
    for step in steps:
        kept = {task: "placed" for task, state in states[-1].items() if state != "ready"}
        now = {state: step.items.get(state, ()) for state in ("ready", "chosen")}
        states.append(kept | {task: state for state, tasks in now.items() for task in tasks})
    states.append(dict.fromkeys(states[-1], "placed"))
    for task in range(len(result.problem.dag)):
        fills = [STATES[state.get(task, "")] for state in states]
        frames.change(f'[data-task="{task}"] > rect', "fill", fills)
    _chart(canvas, frames, result)
    for frame, step in enumerate(steps, 1):
        with canvas.group(f"f{frame}"):
            _said(canvas, step)
        frames.show(f".f{frame}", [frame == each for each in range(len(states))])
    keys = ("ready", STATES["ready"]), ("chosen", STATES["chosen"]), ("placed", STATES["placed"])
    for at, (word, fill) in enumerate((*keys, ("data arrive", FILL[Role.RECEIVE]))):
        canvas.rectangle((430 + 78 * at, 186, 14, 12), fill, stroke=GRID)
        canvas.text((449 + 78 * at, 196.5), word, size=12, fill=INK)
    with canvas.group("end"):
        canvas.text((LEFT, TOP - 22), end, size=15, fill=INK, bold=True)
    frames.show(".end", [state is states[-1] for state in states])
    graph = as_svg(
        replace(drawing(result.problem, "graph"), title="", landscape=True), width=GRAPH
    ).replace("<svg ", '<svg x="10" y="8" ', 1)
    whole = canvas.document(WIDTH, HEIGHT).replace('<g class="graph">', f'<g class="graph">{graph}')
    head, end, rest = whole.partition("</title>")
    moving = f"{head}{end}<style>\n{frames.style()}\n</style>{rest}"
    return moving, moving.replace(STILL, "* { animation: none !important; }")


def _said(canvas: Canvas, step: Step) -> None:
    """Draw what a step chooses from: its tables on the right, its times on the chart."""
    left = 430.0
    for table in step.tables:
        canvas.text((left, 40), table.title, size=14, fill=INK, bold=True)
        columns = [left + 66 * column for column in range(len(table.names))]
        for x, name in zip(columns, table.names, strict=True):
            canvas.text((x, 62), name, size=13, fill=FAINT_INK)
        for line, row in enumerate(table.rows):
            y = 84 + 22 * line
            if line == table.chosen:
                canvas.rectangle((left - 6, y - 15, 66 * len(row), 21), STATES["chosen"])
            for x, cell in zip(columns, row, strict=True):
                text = cell if isinstance(cell, str) else number(cell)
                canvas.text((x, y), text, size=14, fill=INK, bold=line == table.chosen)
        left += 66 * len(table.names) + 24
    canvas.text((LEFT, TOP - 22), step.text.rpartition("; ")[2], size=15, fill=INK, bold=True)


def _chart(canvas: Canvas, frames: Frames, result: makespan.Result) -> None:
    """Draw the machines with the bars that steps add to them."""
    names, plan = result.problem.dag.names, result.schedule
    placed = {task: at for at, step in enumerate(result.steps, 1) for task in step.items["chosen"]}
    for row, machine in enumerate(plan.machines):
        y = TOP + ROW * row
        canvas.rectangle((LEFT, y, result.makespan * SECOND, ROW - 6), IDLE)
        canvas.text((LEFT - 8, y + 34), machine, size=14, fill=INK, anchor="end")
    for second in range(0, int(result.makespan) + 1, 2):
        x, y = LEFT + second * SECOND, TOP + ROW * len(plan.machines)
        canvas.line((x, TOP - 4), (x, y), GRID)
        canvas.text((x, y + 12), f"{second} s", size=12, fill=FAINT_INK, anchor="middle")
    for activity in plan:
        x, length = (
            LEFT + activity["start"] * SECOND,
            (activity["end"] - activity["start"]) * SECOND,
        )
        computes = activity["kind"] == "compute"
        task = activity["item"] if computes else int(result.problem.dag.target[activity["item"]])
        role = Role.COMPUTE if computes else Role.RECEIVE
        row = plan.machines.index(activity["machine"] if computes else activity["peer"])
        y, high = TOP + ROW * row + (16 if computes else 2), 32.0 if computes else 12.0
        with canvas.group(f"b{placed[task]}"):
            canvas.rectangle((x, y, length, high), FILL[role], stroke=PAPER)
            if computes:
                at = (x + length / 2, y + 21)
                canvas.text(at, names[task], size=14, fill=INK, anchor="middle", bold=True)
    for at in sorted(placed.values()):
        frames.show(f".b{at}", [at <= frame for frame in range(len(placed) + 2)])


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES
    exercise = read_exercise(EXERCISE.read_text("utf-8"))
    planned = makespan.solve(makespan.read_problem(exercise["problem"]), method="heft", log=True)
    end = (
        f"HEFT ends at {number(planned.makespan)} s, the best plan at {number(exercise['best'])} s."
    )
    for name, drawn in zip(("heft", "heft-still"), picture(planned, end), strict=True):
        (folder / f"{name}.svg").write_text(drawn, "utf-8")
