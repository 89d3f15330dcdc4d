"""Steps of methods that place tasks, one after another."""

from collections.abc import Iterable, Sequence
from typing import Any

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.core.steps import MAX_COLUMNS, MAX_ROWS, Slot, Step, Table, listed, number
from makespan.taskgraph.list_scheduling import Placement
from makespan.taskgraph.problem import TaskGraph

QUEUED = 6  # tasks of the queue in a line


class Steps:
    """The steps of a method, and a record of each for programs, where ``control`` keeps a log."""

    def __init__(self, control: Control) -> None:
        self.wanted = control.log_steps
        self._control = control
        self.records: list[dict[str, Any]] = []

    def add(self, step: Step | str, **record: Any) -> None:
        """Add a step."""
        if self.wanted:
            self._control.step(step)
            self.records.append(record)

    def details(self) -> dict[str, Any]:
        """Return the records as ``details`` of a solution, where any are kept."""
        return {"log": self.records} if self.wanted else {}


def placing_step(
    problem: TaskGraph,
    placed: Placement,
    task: int,
    *,
    queue: Sequence[int],
    priority: Floats,
    word: str,
    options: Iterable[Placement],
    text: str | None = None,
    time: float | None = None,
    gap: tuple[float, float] | tuple[()] | None = None,
    values: dict[int, float] | None = None,
    value: str = "",
) -> Step:
    """Return the step that places a task of the ``queue`` of ready tasks, in the order of
    ``priority``.

    ``options`` are what placing it on machines would give. ``text``: the line of the log; None: one
    of the same form for all methods. ``gap``: from when to when the machine was free, where the
    task is inserted before others; empty where it goes behind all; None where nothing is ever
    inserted. ``values``, called ``value``, were compared on the machines where that is not the end.
    """
    names, machines, options = problem.dag.names, problem.machines, list(options)
    machine = machines[placed.machine]
    ends = {machines[option.machine]: option.end for option in options}
    compared = {machines[each]: v for each, v in (values or {}).items()}
    cells: dict[str, str | float] = {} if time is None else {"t": time}
    cells |= {"task": names[task], word: float(priority[task])}
    cells |= {"ready": listed((names[each] for each in queue if each != task), QUEUED)}
    if len(machines) <= MAX_COLUMNS:
        cells |= {f"on {name}": ends.get(name, "") for name in machines}
    cells |= {"to": machine, "start": placed.start, "end": placed.end}
    if gap is not None:
        cells["in the gap"] = f"{number(gap[0])} to {number(gap[1])}" if gap else ""
    candidates = sorted(options, key=lambda option: (option.end, option.machine))[:MAX_ROWS]
    rows: tuple[tuple[str | float, ...], ...] = tuple(
        (machines[o.machine], o.start, o.end, compared.get(machines[o.machine], ""))[
            : 3 + bool(value)
        ]
        for o in candidates
    )
    if text is None:
        first = listed((f"{names[each]} ({number(priority[each])})" for each in queue), QUEUED)
        text = f"queue {first}; {names[task]} would end at {_at_each(ends)}"
        text += f", {value} {_at_each(compared)}" if compared else ""
        text += f"; {names[task]} to {machine}, {number(placed.start)} to {number(placed.end)}"
        text += f", in the gap {number(gap[0])} to {number(gap[1])}" if gap else ""
    slots = [Slot(machines[o.machine], o.start, o.end) for o in candidates]
    if gap:
        slots.insert(0, Slot(machine, *gap, "gap"))
    places = [option.machine for option in candidates]
    chosen = places.index(placed.machine) if placed.machine in places else -1
    return Step(
        text=text,
        cells=cells,
        items={"ready": tuple(queue), "chosen": (task,), "placed": (task,)},
        slots=(*slots, Slot(machine, placed.start, placed.end, "chosen")),
        tables=(
            queue_table(problem, queue, priority, word, task),
            Table(
                f"{names[task]} on the machines",
                ("machine", "start", "end", *([value] * bool(value))),
                rows,
                chosen,
            ),
        ),
    )


def _at_each(values: dict[str, float]) -> str:
    return listed((f"{name}: {number(value)}" for name, value in values.items()), MAX_ROWS)


def braced(names: Iterable[str]) -> str:
    """Return the names of a cluster."""
    return f"{{{' '.join(names)}}}"


def queue_table(
    problem: TaskGraph, queue: Sequence[int], priority: Floats, word: str, chosen: int = -1
) -> Table:
    """Return the first tasks of a queue with their priorities."""
    shown = list(queue[:MAX_ROWS])
    if chosen >= 0 and chosen not in shown:
        shown[-1:] = [chosen]
    rows = tuple((problem.dag.names[task], float(priority[task])) for task in shown)
    left = f", {len(queue) - len(shown)} more" if len(queue) > len(shown) else ""
    return Table(f"ready{left}", ("task", word), rows, shown.index(chosen) if chosen >= 0 else -1)
