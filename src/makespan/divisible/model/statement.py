"""What a divisible load problem states, and all that may be wrong with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from makespan.core.inputs.rules import DEADLINE, Mistakes, Rule, quoted, whole
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.names import index_by_name
from makespan.core.numeric.arrays import Floats
from makespan.divisible.model.machines import Master
from makespan.divisible.model.platform import Star
from makespan.divisible.model.sources import Sources
from makespan.divisible.model.tree import Tree

Transfer = tuple[Literal["send", "return"], str]


@dataclass(frozen=True, kw_only=True, repr=False)
class Statement:
    """The fields of a :class:`~makespan.divisible.problem.DivisibleLoad`, right or wrong."""

    platform: Star | Tree | Sources
    load: float | None = None
    rounds: int | Literal["auto"] = 1
    ports: Literal[1, 2, "many"] = 1
    order: tuple[str, ...] | None = None
    activation: tuple[str, ...] | None = None
    return_order: tuple[str, ...] | None = None
    discipline: Literal["fifo", "lifo"] | None = None
    transfers: tuple[Transfer, ...] | None = None
    loads: Mapping[str, float] | None = None
    use: Literal["any", "all"] = "any"
    front_end: bool = True
    integral: bool = False
    deadline: float | None = None
    budget: float | None = None
    objective: Literal["makespan", "price", "pareto"] = "makespan"
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def chooses_master(self) -> bool:
        """Whether the master is part of the answer."""
        return self.platform.master == "choose"

    @property
    def is_star(self) -> bool:
        """Whether the platform is a star (a bus among them)."""
        return isinstance(self.platform, Star)

    @property
    def star(self) -> Star:
        """The platform, where it is a star; a TypeError where it is not."""
        if not isinstance(self.platform, Star):
            raise TypeError(f"the platform is not a star: {self.platform.IS}")
        return self.platform

    @property
    def tree(self) -> Tree:
        """The platform, where it is a tree."""
        if not isinstance(self.platform, Tree):
            raise TypeError(f"the platform is not a tree: {self.platform.IS}")
        return self.platform

    @property
    def grid(self) -> Sources:
        """The platform, where it has several sources."""
        if not isinstance(self.platform, Sources):
            raise TypeError(f"the platform has no sources: {self.platform.IS}")
        return self.platform

    @property
    def total(self) -> float:
        """The load, where it is not open."""
        assert self.load is not None
        return self.load

    @property
    def latest(self) -> float:
        """The deadline, infinite where there is none."""
        return float("inf") if self.deadline is None else self.deadline

    @property
    def held(self) -> Floats | None:
        """The loads that lie at several sources, where each says its own."""
        return self.platform.held if isinstance(self.platform, Sources) else None


class NameChecks:
    """Notes the mistakes in the names of one problem. ``indexed``: the names, where looked up."""

    def __init__(self, problem: Statement, mistakes: Mistakes) -> None:
        self.problem = problem
        self.mistakes = mistakes
        self.indexed: dict[str, int] | None = None

    @property
    def known(self) -> dict[str, int]:
        """The workers' names, indexed on first use: there may be a million."""
        if self.indexed is None:
            self.indexed = index_by_name(self.problem.platform.names)
        return self.indexed

    def sequences(self) -> None:
        """Orders hold every worker once, activations and transfers only workers."""
        problem = self.problem
        if problem.order is not None:
            self._permutation("order", problem.order)
        if problem.activation is not None:
            self._worker_names("activation", problem.activation)
        if problem.return_order is not None:
            if problem.activation is None:
                self._permutation("return_order", problem.return_order)
            elif sorted(problem.return_order) != sorted(problem.activation):
                self.mistakes.add(
                    "return_order", "does not hold the same workers as activation, as often"
                )
        if problem.transfers is not None:
            for index, transfer in enumerate(problem.transfers):
                if len(transfer) != 2 or transfer[0] not in ("send", "return"):
                    self.mistakes.add(
                        f"transfers[{index}]",
                        f"{quoted(transfer)} is not allowed; it is a send or a return, and a name",
                    )
                else:
                    self._worker_names(f"transfers[{index}].{transfer[0]}", transfer[1:], one=True)

    def _worker_names(self, place: str, names: Any, *, one: bool = False) -> bool:
        if not isinstance(names, tuple):
            self.mistakes.add(place, f"{quoted(names)} is not a list of workers' names")
            return False
        unknown = [(index, name) for index, name in enumerate(names) if name not in self.known]
        for index, name in unknown:
            where = place if one else f"{place}[{index}]"
            hint = did_you_mean(name, list(self.known)[:200])
            self.mistakes.add(where, f"{quoted(name)} is not a worker{hint}")
        return not unknown

    def _permutation(self, place: str, names: tuple[str, ...]) -> None:
        if not self._worker_names(place, names):
            return
        seen: dict[str, int] = {}
        for index, name in enumerate(names):
            if name in seen:
                self.mistakes.add(f"{place}[{index}]", f"{name!r} stands twice; each stands once")
                return
            seen[name] = index
        missing = [name for name in self.known if name not in seen]
        if missing:
            few = ", ".join(missing[:5]) + (", …" if len(missing) > 5 else "")
            self.mistakes.add(place, f"lacks {few}; an order holds every worker once")

    def loads(self, rule: Rule) -> None:
        """Given loads are of machines that compute, and add up to the load."""
        problem = self.problem
        if problem.loads is None:
            return
        if not isinstance(problem.loads, Mapping):
            self.mistakes.add("loads", f"{quoted(problem.loads)} is not a table of name = load")
            return
        master = problem.platform.master
        computes = {master.name} if isinstance(master, Master) and master.compute else set()
        total = 0.0
        for name, amount in problem.loads.items():
            if name not in self.known and name not in computes:
                hint = did_you_mean(name, [*list(self.known)[:200], *computes])
                self.mistakes.add(f"loads.{name}", f"no such machine computes{hint}")
            total += self.mistakes.number(f"loads.{name}", amount, rule)
        load = problem.load
        if isinstance(load, (int, float)) and abs(total - load) > 1e-9 * max(total, load):
            self.mistakes.add("loads", f"add up to {total!r}, but load is {load!r}")

    def everyone(self) -> None:
        """Where every worker takes part, nothing that is given leaves one out."""
        problem = self.problem
        if problem.use != "all":
            return
        if problem.activation is not None:
            place, served = "activation", set(problem.activation)
        elif problem.transfers is not None:
            place = "transfers"
            served = {each[1] for each in problem.transfers if each[0] == "send"}
        elif isinstance(problem.loads, Mapping):
            place, served = "loads", {name for name, load in problem.loads.items() if load}
        else:
            return
        left_out = set(self.known) - served
        if left_out:
            name = min(left_out, key=self.known.__getitem__)
            self.mistakes.add(place, f"gives {name} nothing, but use is 'all'")

    def returns(self) -> None:
        """In given transfers, what was sent returns, and nothing else."""
        returns = self.problem.star.returns
        waiting: dict[str, int] = {}
        for place, (what, name) in enumerate(self.problem.transfers or ()):
            if not returns[self.known[name]]:
                continue
            waiting[name] = waiting.get(name, 0) + (1 if what == "send" else -1)
            if waiting[name] < 0:
                self.mistakes.add(f"transfers[{place}]", f"{name} has nothing to return there")
                return
        for name in (name for name, chunks in waiting.items() if chunks):
            self.mistakes.add("transfers", f"what {name} was sent never returns")


LOAD = Rule("a load is 0 or more units")
OBJECTIVES = ("makespan", "price", "pareto")
BUDGET = Rule("a budget is 0 or more")
ROUNDS = whole("rounds are", words=("auto",))
MAX_UNITS = 2.0**53


def check_statement(problem: Statement) -> dict[str, dict[str, int]]:
    """Raise an error with every mistake of a problem; return its index of names, if it was needed.

    Raises ProblemError with every mistake found, each with its place.
    """
    mistakes = Mistakes()
    if not isinstance(problem.platform, (Star, Tree, Sources)):
        text = f"{quoted(problem.platform)} is not a platform; it is a Star, a Tree or Sources"
        mistakes.add("platform", text)
        mistakes.raise_if_any()
    problem.platform.collect_mistakes(mistakes)
    _numbers(problem, mistakes)
    _choices(problem, mistakes)
    named = NameChecks(problem, mistakes)
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
