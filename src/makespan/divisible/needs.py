"""What methods for divisible loads need of a problem."""

from collections.abc import Callable
from typing import Any

import numpy as np

from makespan.core.registry import Need, at_most as at_most_of, condition, one_of
from makespan.divisible.model.platform import Star
from makespan.divisible.model.sources import Sources
from makespan.divisible.model.tree import Tree
from makespan.divisible.problem import DivisibleLoad

Unmet = Callable[[DivisibleLoad], str | None]


def is_given(*names: str) -> Unmet:
    """Return a test that names the first of these fields that is given."""

    def unmet(problem: DivisibleLoad) -> str | None:
        for name in names:
            if getattr(problem, name) is not None:
                return f"{name} is given"
        return None

    return unmet


def _without(wrong: Callable[[Any], Any], end: int, *columns: str) -> Unmet:
    """Return a test that names the first entry that is wrong, if one at an end of its range is."""

    def unmet(problem: DivisibleLoad) -> str | None:
        for name in columns:
            if wrong(_range(problem, name)[end]):
                return _entry(problem, name, wrong(getattr(problem.platform, name)))
        return None

    return unmet


def nonzero(*columns: str) -> Unmet:
    """Return a test that names the first machine with a positive entry in one of the columns."""
    return _without(lambda entry: entry > 0, 1, *columns)


def positive(*columns: str) -> Unmet:
    """Return a test that names the first machine, or the master, with a 0 in one of the columns."""
    of_workers = _without(lambda entry: entry == 0, 0, *columns)

    def unmet(problem: DivisibleLoad) -> str | None:
        own = problem.is_star and problem.master_computes and not problem.star.master_cost.per_unit
        return of_workers(problem) or ("platform.master.compute.per_unit is 0" if own else None)

    return unmet


def _entry(problem: DivisibleLoad, name: str, wrong: np.ndarray) -> str:
    """Name the first of the entries of a column that are wrong."""
    index = int(np.argmax(wrong))
    value = float(getattr(problem.platform, name)[index])
    return f"{problem.platform.place(name)(index)} is {value!r}"


def _range(problem: DivisibleLoad, name: str) -> tuple[float, float]:
    if isinstance(problem.platform, Star):
        return problem.platform.range_of(name)
    column = getattr(problem.platform, name)
    return column.min(initial=np.inf), column.max(initial=-np.inf)


def _fixed_costs(problem: DivisibleLoad) -> str | None:
    obstacle = nonzero("send_fixed", "compute_fixed", "return_fixed")(problem)
    if obstacle is not None:
        return obstacle
    fixed = problem.star.master_cost.fixed
    return f"platform.master.compute.fixed is {fixed!r}" if fixed else None


def _beyond(problem: DivisibleLoad) -> str | None:
    if not problem.is_star or not problem.star.beyond:
        return None
    first = int(np.argmax(problem.star.beyond.there[0]))
    return f"{problem.star.place('compute_beyond')(first)} is given"


def _broken_load(problem: DivisibleLoad) -> str | None:
    load = problem.load
    if not problem.integral or load is None or float(load).is_integer():
        return None
    return f"integral is true and load is {load!r}"


def _other_goal(problem: DivisibleLoad) -> str | None:
    """Name what methods that plan for the makespan alone don't ask about."""
    if not problem.is_star:
        return problem.platform.IS
    if problem.objective != "makespan":
        return f"objective is {problem.objective!r}"
    return "the budget is also for time" if problem.pays_for_time else None


def _not_a(platform: type) -> Unmet:
    def unmet(problem: DivisibleLoad) -> str | None:
        return None if isinstance(problem.platform, platform) else problem.platform.IS

    return unmet


def _other_returns(problem: DivisibleLoad) -> str | None:
    if problem.discipline == "lifo":
        return "discipline is 'lifo'"
    if problem.return_order is not None and problem.return_order != problem.order:
        return "return_order is given"
    return None


ANY_STAR = Need("a star", _not_a(Star), decisive=True)
A_STAR = Need("a star, its makespan to be least", _other_goal, decisive=True)
FOR_MAKESPAN = Need("the makespan to be least", _other_goal)
ONE_GOAL = one_of("objective", "makespan", "price", text="one goal")
A_FRONT = one_of("objective", "pareto", text="objective 'pareto'")
A_TREE = Need("a tree", _not_a(Tree), decisive=True)
SOURCES = Need("several sources", _not_a(Sources), decisive=True)
NO_LATENCIES = Need("no fixed costs", _fixed_costs)
NO_RETURNS = Need("no return costs", nonzero("return_fixed", "return_per_unit"))
ONE_ROUND = one_of("rounds", 1, text="one round")
ONE_SEND_AT_A_TIME = one_of("ports", 1, 2, text="one send at a time (ports 1 or 2)")
DIVISIBLE = one_of("integral", False, text="a load that can be cut anywhere")
ANY_WORKERS = one_of("use", "any")
NO_MEMORY = Need("no memory limits", _without(np.isfinite, 0, "memory"))
AFFINE_WORK = Need("affine computing costs", _beyond)
NO_RELEASE = Need("no release times", nonzero("release"))
NO_WORKER_DEADLINES = Need("no deadlines of workers", _without(np.isfinite, 0, "deadline"))
NO_BUDGET = Need("no budget", is_given("budget"))
NO_GIVEN_LOADS = Need("loads that are not given", is_given("loads"))
NO_GIVEN_ORDER = Need("an order that is not given", is_given("order", "activation", "transfers"))
NO_GIVEN_SEQUENCE = Need("no activation and no transfers", is_given("activation", "transfers"))
A_LOAD = condition("a load", lambda problem: problem.load is not None, "load is open")
WHOLE_LOAD = Need("a whole load, where units are whole", _broken_load)
NO_DEADLINE = Need("no deadline", is_given("deadline"))
A_MASTER = condition(
    "a given master", lambda problem: not problem.chooses_master, "platform.master is 'choose'"
)
A_BUS = condition(
    "a bus (one send cost for all)",
    lambda problem: problem.star.is_bus,
    "the workers' send costs differ",
)
RETURNS = condition("returns", lambda problem: problem.has_returns, "nothing returns")

A_FRONT_END = condition(
    "a front end, or one chunk a worker",
    lambda problem: problem.front_end or problem.served_once,
    "front_end is false",
)
A_WORKER = condition("a worker", lambda problem: len(problem.star), "there is no worker")
IDLE_MASTER = condition(
    "a master that does not compute",
    lambda problem: not problem.master_computes,
    "the master computes",
)
ONE_PORT = one_of("ports", 1, text="one port")
SEVERAL_ROUNDS = condition("several rounds", lambda problem: problem.rounds != 1, "rounds is 1")
FINITE_SPEED = Need("a finite speed", positive("compute_per_unit"))
A_GOAL = condition(
    "a load, or time for one",
    lambda problem: problem.deadline if problem.load is None else problem.load,
    "nothing is to be done",
)
SOME_LOAD = condition("a load above 0", lambda problem: problem.load != 0, "load is 0")
NO_UPLINK = condition(
    "no shared uplink",
    lambda problem: getattr(problem.star.master, "uplink", None) is None,
    "platform.master.uplink is given",
)


def _free_machine(problem: DivisibleLoad) -> str | None:
    """Name a machine that handles any load in no time but its fixed costs."""
    star = problem.star
    free = np.flatnonzero(star.send_per_unit + star.compute_per_unit == 0)
    if len(free):
        return f"platform.workers[{free[0]}] has no cost per unit"
    if getattr(star.master, "compute", None) is not None and star.master_cost.per_unit == 0:
        return "platform.master.compute.per_unit is 0"
    return None


FINITE_RATES = Need("costs per unit above 0", _free_machine)


def _or_transfers(need: Need) -> Need:
    """Need the same only where no transfers are given."""

    def unmet(problem: DivisibleLoad) -> str | None:
        return need.unmet(problem) if problem.transfers is None else None

    return Need(f"{need.text}, or transfers", unmet)


NO_WINDOWS = (NO_MEMORY, NO_RELEASE, NO_WORKER_DEADLINES, NO_BUDGET)
OPEN_ONE_ROUND = (
    A_STAR,
    ONE_ROUND,
    ONE_SEND_AT_A_TIME,
    NO_GIVEN_LOADS,
    NO_GIVEN_SEQUENCE,
    AFFINE_WORK,
)
LINEAR_ONE_ROUND = (*OPEN_ONE_ROUND, NO_LATENCIES, NO_RETURNS, DIVISIBLE, *NO_WINDOWS)
AFFINE_ONE_ROUND = (
    *OPEN_ONE_ROUND,
    NO_RETURNS,
    DIVISIBLE,
    condition(
        "use = 'any' or a load",
        lambda problem: problem.use == "any" or problem.load is not None,
        "use is 'all' and load is open",
    ),
    *NO_WINDOWS,
)
SPLIT_ONE_ROUND = (
    A_STAR,
    NO_UPLINK,
    ONE_ROUND,
    DIVISIBLE,
    A_MASTER,
    A_LOAD,
    SOME_LOAD,
    NO_DEADLINE,
    NO_GIVEN_LOADS,
    NO_GIVEN_SEQUENCE,
    *NO_WINDOWS,
)
RETURNS_ONE_ROUND = (
    *OPEN_ONE_ROUND,
    RETURNS,
    DIVISIBLE,
    NO_RELEASE,
    NO_WORKER_DEADLINES,
    NO_BUDGET,
)
ORDERED_ONE_ROUND = (
    ANY_STAR,
    ONE_GOAL,
    ONE_ROUND,
    ONE_SEND_AT_A_TIME,
    Need("no activation", is_given("activation")),
    *map(_or_transfers, (FOR_MAKESPAN, DIVISIBLE, NO_GIVEN_LOADS, NO_RELEASE)),
    *map(_or_transfers, (NO_WORKER_DEADLINES, NO_BUDGET, AFFINE_WORK)),
)
GIVEN = (A_STAR, A_MASTER, A_LOAD)
SEQUENCE_OF_CHUNKS = (
    *GIVEN,
    NO_RETURNS,
    ONE_SEND_AT_A_TIME,
    DIVISIBLE,
    NO_GIVEN_LOADS,
    A_FRONT_END,
    AFFINE_WORK,
)
OPEN_ROUNDS = condition(
    "rounds = 'auto'", lambda problem: problem.rounds == "auto", "rounds are given"
)
POLICY = (
    *GIVEN,
    SOME_LOAD,
    WHOLE_LOAD,
    NO_DEADLINE,
    FINITE_RATES,
    OPEN_ROUNDS,
    NO_RETURNS,
    ONE_SEND_AT_A_TIME,
    ANY_WORKERS,
    NO_GIVEN_LOADS,
    NO_GIVEN_ORDER,
    A_FRONT_END,
    A_WORKER,
    AFFINE_WORK,
    *NO_WINDOWS,
)
UNIFORM_ROUNDS = (
    *SEQUENCE_OF_CHUNKS,
    NO_DEADLINE,
    NO_GIVEN_ORDER,
    SOME_LOAD,
    *NO_WINDOWS,
    ANY_WORKERS,
    IDLE_MASTER,
    A_WORKER,
    Need("positive costs per unit", positive("send_per_unit", "compute_per_unit")),
)
ROUNDS_WITH_RETURNS = (
    *GIVEN,
    RETURNS,
    DIVISIBLE,
    ANY_WORKERS,
    NO_DEADLINE,
    NO_GIVEN_LOADS,
    NO_GIVEN_SEQUENCE,
    *NO_WINDOWS,
    AFFINE_WORK,
    IDLE_MASTER,
    A_FRONT_END,
    Need("results in the order of sending", _other_returns),
    FINITE_SPEED,
)


def at_most(
    most: int,
    what: str = "workers",
    number: Callable[[DivisibleLoad], int] = lambda problem: len(problem.platform),
    *,
    otherwise: str = "",
    verb: str = "are",
) -> Need:
    """Need that there are not more workers, or of what else ``number`` counts: a method's reach.

    ``otherwise`` says for which problems ``number`` counts nothing.
    """
    need = at_most_of(most, what, number, said=f"there {verb} {{:,}}")
    return need._replace(text=otherwise + need.text)


def equal_workers(*columns: str, what: str = "equal workers") -> Need:
    """Need that all workers have the same entry in each of these columns."""

    def unmet(problem: DivisibleLoad) -> str | None:
        for name in columns:
            least, greatest = problem.star.range_of(name)
            if least < greatest:
                column = getattr(problem.star, name)
                return f"{_entry(problem, name, column != column[0])}, not {float(column[0])!r}"
        return A_WORKER.unmet(problem)

    return Need(what, unmet)
