"""What is wrong with the fields of a divisible load problem, each alone and together."""

from __future__ import annotations

from dataclasses import fields

from makespan.core.inputs.mistakes import Mistakes, quoted
from makespan.core.inputs.rules import DEADLINE, Rule, whole
from makespan.divisible.model.machines import Master
from makespan.divisible.model.named import Named
from makespan.divisible.model.platform import Star
from makespan.divisible.model.sources import Sources
from makespan.divisible.model.statement import Statement
from makespan.divisible.model.tree import Tree

LOAD = Rule("a load is 0 or more units")
OBJECTIVES = ("makespan", "price", "pareto")
BUDGET = Rule("a budget is 0 or more")
ROUNDS = whole("rounds are", words=("auto",))
MAX_UNITS = 2.0**53


def checked(problem: Statement) -> dict[str, dict[str, int]]:
    """Raise an error with every mistake of a problem; return its index of names, if it was needed.

    Raises
    ------
    ProblemError
        With every mistake found, each with its place.
    """
    mistakes = Mistakes()
    if not isinstance(problem.platform, (Star, Tree, Sources)):
        text = f"{quoted(problem.platform)} is not a platform; it is a Star, a Tree or Sources"
        mistakes.add("platform", text)
        mistakes.raise_if_any()
    problem.platform.collect_mistakes(mistakes)
    _numbers(problem, mistakes)
    _choices(problem, mistakes)
    named = Named(problem, mistakes)
    named.sequences()
    named.loads(LOAD)
    if problem.platform.FIELDS is not None:
        _only(problem, problem.platform.FIELDS, mistakes)
    if isinstance(problem.platform, Sources):
        _of_sources(problem, problem.platform, mistakes)
    elif isinstance(problem.platform, Star):
        named.everyone()
        _together(problem, mistakes)
        if problem.transfers is not None and not mistakes.found:
            named.returns()
    mistakes.raise_if_any()
    return {} if named.indexed is None else {"_position": named.indexed}


def _numbers(problem: Statement, mistakes: Mistakes) -> None:
    if problem.load is not None:
        load = mistakes.number("load", problem.load, LOAD)
        if problem.integral is True and load > MAX_UNITS:
            allowed = "of whole units there are at most 2^53, as floats count no further"
            mistakes.add("load", f"{quoted(problem.load)} is too much; {allowed}")
    elif problem.deadline is None and problem.loads is None and problem.held is None:
        mistakes.add("load", "is missing; give a load, or a deadline to maximise it")
    if problem.deadline is not None:
        mistakes.number("deadline", problem.deadline, DEADLINE)
    if problem.budget is not None:
        mistakes.number("budget", problem.budget, BUDGET)


def _choices(problem: Statement, mistakes: Mistakes) -> None:
    if not isinstance(problem.rounds, str) or problem.rounds != "auto":
        mistakes.number("rounds", problem.rounds, ROUNDS)
    mistakes.choice("ports", problem.ports, (1, 2, "many"))
    if problem.discipline is not None:
        mistakes.choice("discipline", problem.discipline, ("fifo", "lifo"))
    mistakes.choice("use", problem.use, ("any", "all"))
    mistakes.choice("objective", problem.objective, OBJECTIVES)
    mistakes.flag("front_end", problem.front_end)
    mistakes.flag("integral", problem.integral)


def _only(problem: Statement, allowed: tuple[str, ...], mistakes: Mistakes) -> None:
    """Note the fields that the platform does not know."""
    for each in fields(problem):
        known = each.name == "platform" or each.name in allowed
        if not known and getattr(problem, each.name) != each.default:
            *others, last = (name for name in allowed if name != "options")
            words = f"{', '.join(others)} and {last}"
            mistakes.add(each.name, f"is for stars; {problem.platform.IS}, which knows {words}")


def _of_sources(problem: Statement, platform: Sources, mistakes: Mistakes) -> None:
    """Note where the load is not what the sources hold."""
    if platform.held is None or problem.load is None or mistakes:
        return
    held = float(platform.held.sum())
    if abs(held - problem.load) > 1e-9 * max(held, problem.load):
        text = f"{problem.load!r} is not what the sources hold; that adds up to {held!r}"
        mistakes.add("load", text)


def _together(problem: Statement, mistakes: Mistakes) -> None:
    """Note which fields of a star contradict each other."""
    add = mistakes.add
    if problem.objective != "makespan" and problem.load is None and problem.loads is None:
        add("objective", f"{problem.objective!r} needs a load; without one, it is sought")
    if problem.activation is not None:
        if problem.order is not None:
            add("order", "can't stand beside activation, which fixes it")
        if problem.rounds != 1:
            add("rounds", "can't stand beside activation, which fixes them")
    if problem.transfers is not None:
        for name in ("order", "activation", "return_order", "discipline"):
            if getattr(problem, name) is not None:
                add(name, "can't stand beside transfers, which fixes it")
        if problem.rounds != 1:
            add("rounds", "can't stand beside transfers, which fixes them")
        if problem.ports != 1:
            add("ports", "transfers is a sequence on one port")
    if problem.discipline is not None and problem.return_order is not None:
        add("discipline", "can't stand beside return_order, which fixes it")
    master = problem.platform.master
    if isinstance(master, Master) and problem.ports != "many":
        for name in ("uplink", "sends"):
            if getattr(master, name) is not None:
                add(f"platform.master.{name}", "needs ports = 'many'")
    if problem.chooses_master and any(
        getattr(problem, name) is not None for name in ("activation", "transfers", "loads")
    ):
        add("platform.master", "'choose' can't stand beside activation, transfers or loads")
