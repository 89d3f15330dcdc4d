"""What if costs change, or there is one worker more: rates of a plan, and problems with a copy.

Rates are dual values of the programme that sizes a plan, its decisions fixed. On a star and of
several sources that is the programme of the plan's sequence. Every number of the problem stands
linearly in its rows and limits; so a step of one number, with everything else in place, gives the
change of the optimum by the dual values of that side.

On a tree the load has no row of its own. The makespan is homogeneous of degree 1 in the load and
the fixed costs: a share more of the load is worth that share of the makespan, and what it changes
to have as much less of all fixed costs. Of the most load by a deadline the same holds with that.
"""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from makespan.backends.highs import Programme
from makespan.backends.repeated import SECONDS, Number, Sides, one_sided
from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.core.schedule import Activity, Schedule
from makespan.core.sensitivity import Copied, Varied
from makespan.divisible.model.plan import computed, price_of
from makespan.divisible.model.platform import Star
from makespan.divisible.model.sources import Sources
from makespan.divisible.model.tree import RULES, Tree
from makespan.divisible.problem import MASTER, DivisibleLoad
from makespan.divisible.returns.decisions import Terms
from makespan.divisible.returns.transfer_programme import TransferProgramme
from makespan.divisible.returns.transfer_sequence import Decided
from makespan.divisible.sources.programme import ChunksProgramme, sequence_of
from makespan.divisible.sources.sums import Scaled
from makespan.divisible.timing import matched
from makespan.divisible.trees.programme import TreeProgramme, siblings_of

GIVEN = ("activation", "transfers", "loads")


def varied(problem: DivisibleLoad, schedule: Schedule, machines: Sequence[str]) -> Varied:
    """Return the dual values of the programme of the plan's sequence, a rate for each number."""
    if problem.is_star:
        return varied_star(problem, schedule, machines)
    if isinstance(problem.platform, Sources):
        return varied_sources(problem, problem.platform, schedule, machines)
    return varied_tree(problem, schedule, machines)


def copies(
    problem: DivisibleLoad, machines: Sequence[str], *, named: bool
) -> tuple[list[Copied], tuple[str, ...]]:
    """Return the problem with a copy of each worker, behind it, or of each node, without children.

    A given ``order`` serves the copy right behind the worker.
    """
    given = next((name for name in GIVEN if getattr(problem, name) is not None), None)
    if given is not None:
        return [], (f"a worker more: {given} says who is served, and has no place for one",)
    platform = problem.platform
    columns = [getattr(platform, name) for name in platform.RULES]
    if isinstance(platform, Tree):
        columns.append(platform.parent)
    if isinstance(platform, Sources):
        columns += [*platform.send_fixed, *platform.send_per_unit]
    position = problem._position
    found, known = [], set()
    for name in machines:
        index = position.get(name)
        if index is None or (isinstance(platform, Tree) and index == platform.root):
            continue  # what holds the load is not doubled
        alike: tuple[object, ...] = tuple(float(column[index]) for column in columns)
        if isinstance(platform, Star):
            alike = (*alike, platform.beyond.of_worker(index))
        if problem.order is not None or problem.return_order is not None or named:
            alike = (float(index),)
        if alike not in known:
            known.add(alike)
            more = _with_copy(problem, index)
            found.append(Copied(machine=name, problem=more, optional=problem.use == "any"))
    return found, ()


def _with_copy(problem: DivisibleLoad, index: int) -> DivisibleLoad:
    platform, at = problem.platform, index + 1
    own = platform.names[index]
    name = f"{own} (copy)"
    while name in problem.machines:
        name += "'"
    if isinstance(platform, Sources):
        return replace(problem, platform=platform.with_copy(index, name))
    names = (*platform.names[:at], name, *platform.names[at:])
    rows = np.insert(np.arange(len(platform)), at, index)
    if isinstance(platform, Tree):
        above = (platform.parent + (platform.parent > index))[rows]
        more = {name: getattr(platform, name)[rows] for name in RULES}
        return replace(problem, platform=Tree.from_arrays(names=names, parent=above, **more))
    star = platform.at(rows, names=names, master=platform.master)

    def behind(order: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if order is None:
            return None
        place = order.index(own) + 1
        return (*order[:place], name, *order[place:])

    return replace(
        problem,
        platform=star,
        order=behind(problem.order),
        return_order=behind(problem.return_order),
    )


AT_ALL = 1e-30  # a release time that delays nothing, but has its row in the programme
SAME = 1e-6  # relative: amounts as near as that to the best are the best
COSTS = {
    "send.fixed": "send_fixed",
    "send.per_unit": "send",
    "compute.fixed": "compute_fixed",
    "compute.per_unit": "compute",
    "return.fixed": "back_fixed",
    "return.per_unit": "back",
    "memory": "memory",
    "release": "release",
    "deadline": "deadline",
    "price.fixed": "price_fixed",
    "price.per_unit": "price",
    "price.per_second": "rent",
}
"""The terms of the costs of a worker, by the names that these have in files."""
Path = tuple[Any, ...]  # where a number of the terms stands: a field, and where in that


def _varied(
    programme: Programme,
    out: float,
    value: float,
    numbers: Callable[[float], Iterator[Number]],
    *notes: str,
) -> Varied:
    """Return the rates of a plan of some value by its programme, whose optimum counts ``out``.

    ``numbers`` yields what the plan depends on, from the value of the optimum.
    """
    sides = Sides(programme)
    if not sides.answer.found:
        return Varied(rates=(), notes=("costs: the programme of the plan has no optimum",))
    best = sides.answer.value * out
    if abs(best - value) > SAME * value:
        said = f"costs: of the best amounts in the order of the plan, which give {best:.8g}"
        notes = (said, *notes)
    rates, more = one_sided(sides, numbers(best), Control(time_limit=SECONDS))
    return Varied(rates=tuple(rates), notes=(*notes, *more))


def varied_star(problem: DivisibleLoad, schedule: Schedule, machines: Sequence[str]) -> Varied:
    """Return the rates of a plan on a star, by one linear programme and O(chunks) a number."""
    problem, schedule = matched(problem, schedule)
    if getattr(problem.star.master, "uplink", None) is not None:
        return Varied(rates=(), notes=("costs: the shares of an uplink have no dual values",))
    plan = Decided.of(problem, schedule)
    base = Terms.of(problem)
    base = replace(base, whole=False, release=np.where(base.release > 0, base.release, AT_ALL))
    fixed = plan.amount / base.unit if problem.integral else None
    if problem.objective == "price":
        out, value = base.paid, price_of(problem.star, schedule)
    elif problem.load is not None:
        out, value = base.second, schedule.makespan
    else:
        out, value = -base.unit, float(computed(schedule).sum())

    def numbers(best: float) -> Iterator[Number]:
        for machine, cost, value, scale, path in _steps(problem, base, machines):
            used = machine in plan.used or not machine

            def stepped(by: float, path: Path = path) -> Programme:
                return _built(plan, _more(base, path, by), fixed).programme

            yield Number(machine, cost, value, out * scale, stepped if used else None)

    whole = ("costs: the amounts, whole units, stay as they are",) if problem.integral else ()
    return _varied(_built(plan, base, fixed).programme, out, value, numbers, *whole)


def _built(plan: Decided, terms: Terms, fixed: Floats | None) -> TransferProgramme:
    """Return the programme of a sequence; of ``fixed`` amounts only the times are open."""
    found = TransferProgramme(terms, plan.transfers, own=plan.own, behind=plan.behind)
    if fixed is not None:
        found.programme.rows(found.amount[:, np.newaxis], 1.0, low=fixed, high=fixed)
    return found


def _steps(
    problem: DivisibleLoad, base: Terms, machines: Sequence[str]
) -> Iterator[tuple[str, str, float, float, Path]]:
    """Yield machine, cost, its value, what 1 in the programme is worth, and where it stands."""
    second, unit = 1.0 / base.second, 1.0 / base.unit
    rate = second * base.unit
    scales = dict.fromkeys(COSTS, second)
    scales |= dict.fromkeys(("send.per_unit", "compute.per_unit", "return.per_unit"), rate)
    scales |= {"memory": unit, "price.fixed": 1.0 / base.paid}
    scales |= {"price.per_unit": base.unit / base.paid, "price.per_second": base.second / base.paid}
    if np.isfinite(base.end):
        yield "", "deadline", base.end * base.second, second, ("end",)
    if problem.load is not None and problem.loads is None and not problem.integral:
        yield "", "load", problem.load, unit, ("load",)
    if problem.budget is not None:
        yield "", "budget", problem.budget, 1.0 / base.paid, ("budget",)
    position = {name: index for index, name in enumerate(problem.machines)}
    own = problem.star.master_cost
    for name in machines:
        index = position[name]
        worker = index - 1
        if index == MASTER:
            if base.own is not None:
                yield name, "compute.fixed", own.fixed, second, ("own", "fixed")
                yield name, "compute.per_unit", own.per_unit, rate, ("own", "per_unit")
            continue
        for cost, term in COSTS.items():
            if _is_there(problem, base, cost, worker):
                value = float(getattr(problem.star, cost.replace(".", "_"))[worker])
                yield name, cost, value, scales[cost], (term, (worker,))
        for level, pair in enumerate(problem.star.beyond.of_worker(worker)):
            cost, at = f"compute.beyond[{level}]", (level, worker)
            yield name, f"{cost}[0]", pair[0], unit, ("beyond", "above", at)
            yield name, f"{cost}[1]", pair[1], rate, ("beyond", "per_unit", at)


def _more(values: Any, path: Path, by: float) -> Any:
    """Return numbers of which the one at the end of a path is so much more."""
    if not path:
        return float(values) + by
    if isinstance(path[0], str):
        changed = copy(values)
        object.__setattr__(changed, path[0], _more(getattr(values, path[0]), path[1:], by))
        return changed
    more = np.array(values)
    more[path[0]] += by
    return more


def _is_there(problem: DivisibleLoad, base: Terms, cost: str, worker: int) -> bool:
    """Whether a cost is one of the problem: limits where there are any, returns where there are."""
    if cost.startswith("return"):
        return bool(base.returns[worker])
    if cost.startswith("price"):
        return problem.budget is not None or base.by_price
    if cost in ("memory", "deadline"):
        return bool(np.isfinite(getattr(base, cost)[worker]))
    return True


Entry = tuple[str, str, str, tuple[int, ...], float]
"""The machine, the cost, the array of :class:`Scaled` and the place of it there, its value."""


def varied_sources(
    problem: DivisibleLoad, platform: Sources, schedule: Schedule, machines: Sequence[str]
) -> Varied:
    """Return the rates of a plan of several sources, by one linear programme."""
    schedule = schedule.renamed(problem.machines)
    horizon = schedule.makespan if problem.load is not None else problem.deadline
    if not horizon:
        return Varied(rates=(), notes=("costs: nothing is done",))
    links, computes = sequence_of(schedule, len(platform.source_names))
    source, worker = np.array(links, dtype=np.int64).reshape(-1, 2).T

    def built(scaled: Scaled) -> ChunksProgramme:
        return ChunksProgramme(scaled, source, worker, computes)

    scaled = Scaled(problem, horizon)
    out = horizon if problem.load is not None else -scaled.unit
    value = horizon if problem.load is not None else float(computed(schedule).sum())

    def numbers(best: float) -> Iterator[Number]:
        for machine, cost, name, at, number in _entries(problem, platform, set(machines)):

            def stepped(by: float, path: Path = (name, at) if at else (name,)) -> Programme:
                return built(_more(scaled, path, by)).programme

            measure = scaled.unit if cost == "load" else horizon
            if cost.startswith(("compute.per_unit", "send.per_unit")):
                measure = horizon / scaled.unit
            yield Number(machine, cost, number, out / measure, stepped)

    return _varied(built(scaled).programme, out, value, numbers)


def _entries(problem: DivisibleLoad, platform: Sources, asked: set[str]) -> list[Entry]:
    """Return the load or the deadline, and the costs of the machines that are asked for."""
    found: list[Entry] = []
    if problem.load is None:
        found.append(("", "deadline", "end", (), problem.latest))
    elif platform.held is None:
        found.append(("", "load", "load", (), problem.load))
    parts = (("fixed", "_fixed"), ("per_unit", ""))
    for index, name in enumerate(platform.source_names):
        if name not in asked:
            continue
        if platform.held is not None:
            found.append((name, "load", "held", (index,), float(platform.held[index])))
        for part, suffix in parts if platform.computes[index] else ():
            number = float(getattr(platform, f"own_{part}")[index])
            found.append((name, f"compute.{part}", f"own{suffix}", (index,), number))
    for index, name in enumerate(platform.names):
        if name not in asked:
            continue
        for part, suffix in parts:
            number = float(getattr(platform, f"compute_{part}")[index])
            found.append((name, f"compute.{part}", f"compute{suffix}", (index,), number))
        for source in np.flatnonzero(np.isfinite(platform.send_per_unit[:, index])).tolist():
            for part, suffix in parts:
                number = float(getattr(platform, f"send_{part}")[source, index])
                cost = f"send.{part} from {platform.source_names[source]}"
                found.append((name, cost, f"send{suffix}", (source, index), number))
    return found


MAX_PAIRS = 2_000  # of siblings, each of which has rows in the programme


def varied_tree(problem: DivisibleLoad, schedule: Schedule, machines: Sequence[str]) -> Varied:
    """Return the rates of a plan on a tree, by one linear programme and O(nodes) a number."""
    tree = problem.tree
    if sum(len(children) ** 2 for children in tree.children) > 2 * MAX_PAIRS:
        note = f"costs: of more than {MAX_PAIRS:,} pairs of siblings there are no dual values"
        return Varied(rates=(), notes=(note,))
    schedule = schedule.renamed(tree.names)
    horizon = schedule.makespan if problem.load is not None else problem.deadline
    if not horizon:
        return Varied(rates=(), notes=("costs: nothing is done",))
    choices = _choices_of(tree, schedule)
    built = TreeProgramme(problem, horizon, choices)
    out = horizon if problem.load is not None else -built.unit
    value = schedule.makespan if problem.load is not None else float(computed(schedule).sum())
    columns = {name: getattr(tree, name) for name in RULES}
    used = choices[len(tree) : 2 * len(tree)] > 0
    per_unit = horizon / built.unit

    def changed(more: dict[str, Floats]) -> Programme:
        """Return the programme with other columns, measured alike."""
        other = Tree.from_arrays(names=tree.names, parent=tree.parent, **{**columns, **more})
        again = replace(problem, platform=other)
        return TreeProgramme(again, horizon, choices, built.unit).programme

    def numbers(best: float) -> Iterator[Number]:
        yield _whole(problem, best, out, columns, changed)
        for index in sorted(tree.names.index(name) for name in machines):
            for name, column in columns.items():
                there = tree.computes[index] if name.startswith("compute") else index != tree.root
                if not there:
                    continue
                measure = horizon if name.endswith("fixed") else per_unit

                def stepped(
                    by: float, index: int = index, name: str = name, column: Floats = column
                ) -> Programme:
                    more = column.copy()
                    more[index] += by * (horizon if name.endswith("fixed") else per_unit)
                    return changed({name: more})

                cost, number = name.replace("_", ".", 1), float(column[index])
                yield Number(
                    tree.names[index], cost, number, out / measure, stepped if used[index] else None
                )

    return _varied(built.programme, out, value, numbers)


def _whole(
    problem: DivisibleLoad,
    best: float,
    out: float,
    columns: dict[str, Floats],
    changed: Callable[[dict[str, Floats]], Programme],
) -> Number:
    """Return the load, or the deadline: a share more of it is as much less of all fixed costs."""
    name, goal = ("load", problem.load) if problem.load else ("deadline", problem.deadline)
    assert goal is not None

    def stepped(by: float) -> Programme:
        fixed = (each for each in columns if each.endswith("fixed"))
        return changed({each: columns[each] * (1 - by) for each in fixed})

    return Number("", name, goal, out / goal, stepped, always=best / goal)


def _choices_of(tree: Tree, schedule: Schedule) -> Floats:
    """Return who computes, who is served and who before whom in a plan, as the programme has it."""
    count = len(tree)
    computes, used = np.zeros((2, count))
    computes[schedule.machine[schedule.kind == Activity.COMPUTE]] = 1.0
    sends = schedule.rows_of(Activity.SEND)
    used[schedule.peer[sends]] = 1.0
    used[tree.root] = 1.0
    begun = np.full(count, np.inf)
    begun[schedule.peer[sends]] = schedule.start[sends]
    first = [float(begun[one] <= begun[other]) for one, other in siblings_of(tree)]
    return np.concatenate([computes, used, first])
