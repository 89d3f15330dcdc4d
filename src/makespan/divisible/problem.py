"""The statement of a divisible load problem."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from makespan.core.inputs.mistakes import Mistakes, shown
from makespan.core.inputs.rules import DEADLINE, Rule, whole
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.names import Numbered, index_by_name
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.problem import Pictured
from makespan.divisible.model.platform import Master, Star
from makespan.divisible.model.tree import Tree

Transfer = tuple[Literal["send", "return"], str]

LOAD = Rule("a load is 0 or more units")
OBJECTIVES = ("makespan", "price", "pareto")
BUDGET = Rule("a budget is 0 or more")
ROUNDS = whole("rounds are", words=("auto",))
MASTER = 0
MAX_UNITS = 2.0**53


@dataclass(frozen=True, kw_only=True, eq=True, repr=False)
class DivisibleLoad(Pictured):
    """A load that can be cut anywhere, held by a master and sent to workers.

    What is not fixed here is part of the answer, including which workers take part. Machine 0
    is the master; the workers follow in the order of the platform.

    Parameters
    ----------
    platform
        The master, the workers and their costs.
    load
        Units of load; None with a ``deadline``: the most load by then is sought.
    rounds
        How many chunks a worker may get, in installments of one chunk for every worker in turn;
        ``"auto"`` leaves the number open.
    ports
        1: any two transfers exclude each other. 2: sends exclude sends, returns exclude returns.
        ``"many"``: every worker has a link of its own.
    order
        The order in which the workers are served in each round; all workers, each once.
    activation
        The workers of all chunks in the order of sending, in place of ``rounds`` and ``order``.
        Every entry pays its fixed costs, even when its chunk is empty.
    return_order
        The order of the workers' returns: all workers, each once, or with ``activation`` the
        workers of its chunks.
    discipline
        ``"fifo"``: results return in the order of sending; ``"lifo"``: in the reverse order.
    transfers
        The whole sequence on the port: ``("send", name)`` and ``("return", name)``. Each is made,
        if only with an empty chunk; returns of those who return nothing stand for nothing.
    loads
        The load of each machine, units; a machine that is not named gets nothing.
    use
        ``"all"``: every worker takes part. ``"any"``: those that the plan chooses.
    front_end
        Whether a worker computes while it receives.
    integral
        Whether chunks are whole units.
    deadline
        The latest end of the plan, seconds.
    budget
        A limit on the sum of the workers' prices.
    objective
        ``"makespan"``, ``"price"`` (the least sum of the workers' prices, by the deadline), or
        ``"pareto"`` (the front of both), of a star with a load.
    options
        ``method`` and its options, as in the table ``[options]`` of a file.

    Raises
    ------
    ProblemError
        With every mistake found, each with its place.

    Source: A. Benoit, Divisible load scheduling, lecture CR02, ENS Lyon, 2016 (Benoit 2016); for
    many rounds and returns Y. Yang and H. Casanova, Extensions to the Multi-Installment Algorithm:
    Affine Costs and Output Data Transfers, UC San Diego, 2003 (Yang and Casanova 2003).

    >>> from makespan import Star, Worker
    >>> star = Star([Worker(send=1.0, compute=3.0), Worker(send=2.0, compute=5.0)])
    >>> DivisibleLoad(load=10.0, platform=star).machines
    ('P0', 'P1', 'P2')
    """

    kind: ClassVar[str] = "divisible"

    platform: Star | Tree
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

    def __post_init__(self) -> None:
        for name in ("order", "activation", "return_order"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _as_names(getattr(self, name)))
        if self.transfers is not None:
            object.__setattr__(self, "transfers", tuple(map(tuple, self.transfers)))
        validation = _Validation(self)
        validation.run()
        if validation.indexed is not None:
            self.__dict__["_position"] = validation.indexed
        if self.load is None and self.loads is not None:
            object.__setattr__(self, "load", math.fsum(self.loads.values()))

    def _counts(self) -> Mapping[str, int]:
        return {"node" if isinstance(self.platform, Tree) else "worker": len(self.platform)}

    def _facts(self) -> Sequence[str]:
        asked = f"deadline {self.deadline}" if self.load is None else f"load {self.load}"
        return [asked, *super()._facts()]

    @cached_property
    def machines(self) -> Sequence[str]:
        """The master, then the workers; only the bus's machines while the master is open.

        On a tree, the nodes.
        """
        if self.chooses_master or isinstance(self.platform, Tree):
            return self.platform.names
        assert isinstance(self.platform.master, Master)
        if isinstance(self.platform.names, Numbered) and self.platform.master.name == "P0":
            return Numbered("P", len(self.platform) + 1)
        return (self.platform.master.name, *self.platform.names)

    @property
    def chooses_master(self) -> bool:
        """Whether the master is part of the answer."""
        return self.platform.master == "choose"

    @property
    def master_computes(self) -> bool:
        """Whether the master of a star has a compute cost."""
        master = self.star.master
        return not isinstance(master, str) and master.compute is not None

    @property
    def given_sends(self) -> tuple[str, ...] | None:
        """The workers in the order in which they are sent to, where the problem says it."""
        if self.transfers is not None:
            return tuple(name for what, name in self.transfers if what == "send")
        return self.activation

    @property
    def served_once(self) -> bool:
        """Whether no worker gets more than one chunk."""
        sent = self.given_sends
        return self.rounds == 1 if sent is None else len(set(sent)) == len(sent)

    @property
    def star(self) -> Star:
        """The platform, where it is a star.

        Raises
        ------
        TypeError
            If it is a tree: a method that asks for a star has to need one.
        """
        if not isinstance(self.platform, Star):
            raise TypeError("the platform is a tree, not a star")
        return self.platform

    @property
    def is_star(self) -> bool:
        """Whether the platform is a star (a bus among them), not a tree."""
        return isinstance(self.platform, Star)

    @property
    def has_returns(self) -> bool:
        """Whether any worker sends results back."""
        return self.is_star and bool(self.star.returns.any())

    @property
    def pays_for_time(self) -> bool:
        """Whether a price or a budget depends on how long the plan is."""
        priced = self.budget is not None or self.objective != "makespan"
        return priced and self.is_star and self.star.range_of("price_per_second")[1] > 0

    @property
    def has_latencies(self) -> bool:
        """Whether any send, computation or return has a fixed cost."""
        return self.platform.has_fixed_costs

    @property
    def has_limits(self) -> bool:
        """Whether memory, windows or a budget limit what the workers of a star get."""
        star = self.star
        return bool(
            self.budget is not None
            or star.range_of("release")[1] > 0.0
            or star.range_of("memory")[0] < math.inf
            or star.range_of("deadline")[0] < math.inf
        )

    def workers_in(self, names: Iterable[str]) -> Integers:
        """Return the indices (from 0, without the master) of the named workers."""
        for field_name in ("order", "activation", "return_order"):
            if names is getattr(self, field_name):
                if field_name not in self._indices:
                    self._indices[field_name] = self._looked_up(names)
                return self._indices[field_name]
        return self._looked_up(names)

    def _looked_up(self, names: Iterable[str]) -> Integers:
        indices = np.fromiter(map(self._position.__getitem__, names), dtype=np.int64)
        indices.flags.writeable = False
        return indices

    @cached_property
    def _indices(self) -> dict[str, Integers]:
        """What :meth:`workers_in` found for the fields, of which there may be a million names."""
        return {}

    @cached_property
    def given_amounts(self) -> Floats:
        """The given load of each worker, 0 for those that are not named."""
        amounts = np.zeros(len(self.platform))
        if self.loads is not None:
            position = self._position
            places = np.array([position.get(name, -1) for name in self.loads], dtype=np.int64)
            loads = np.fromiter(self.loads.values(), dtype=np.float64, count=len(places))
            amounts[places[places >= 0]] = loads[places >= 0]
        return amounts

    @cached_property
    def _position(self) -> dict[str, int]:
        return index_by_name(self.platform.names)

    def with_master(self, index: int) -> DivisibleLoad:
        """Return this problem with machine ``index`` of the bus as the master.

        The master's own link is unused; the other machines are the workers, in their order.
        """
        star = self.star
        chosen = star.worker(index)

        def without(names: tuple[str, ...] | None) -> tuple[str, ...] | None:
            return names and tuple(name for name in names if name != chosen.name)

        return replace(
            self,
            platform=star.without(index, Master(name=chosen.name, compute=chosen.compute)),
            order=without(self.order),
            return_order=without(self.return_order),
        )


STAR_ONLY = {
    each.name: each.default
    for each in fields(DivisibleLoad)
    if each.name not in ("platform", "load", "deadline", "options")
}
"""The fields that only a star can have, with their defaults."""


def _as_names(names: Any) -> Any:
    return tuple(names) if isinstance(names, (list, tuple)) else names


class _Validation:
    """Finds every mistake of one problem."""

    def __init__(self, problem: DivisibleLoad) -> None:
        self.problem = problem
        self.mistakes = Mistakes()
        self.indexed: dict[str, int] | None = None

    def run(self) -> None:
        problem, add = self.problem, self.mistakes.add
        if not isinstance(problem.platform, (Star, Tree)):
            add("platform", f"{shown(problem.platform)} is not a platform; it is a Star or a Tree")
            self.mistakes.raise_if_any()
        problem.platform.collect_mistakes(self.mistakes)
        self._numbers()
        self._choices()
        self._sequences()
        self._loads()
        self._combinations()
        self.mistakes.raise_if_any()

    @property
    def known(self) -> dict[str, int]:
        """The workers' names, indexed on first use: there may be a million."""
        if self.indexed is None:
            self.indexed = index_by_name(self.problem.platform.names)
        return self.indexed

    def _numbers(self) -> None:
        problem, number = self.problem, self.mistakes.number
        if problem.load is not None:
            load = number("load", problem.load, LOAD)
            if problem.integral is True and load > MAX_UNITS:
                allowed = "of whole units there are at most 2^53, as floats count no further"
                self.mistakes.add("load", f"{shown(problem.load)} is too much; {allowed}")
        elif problem.deadline is None and problem.loads is None:
            self.mistakes.add("load", "is missing; give a load, or a deadline to maximise it")
        if problem.deadline is not None:
            number("deadline", problem.deadline, DEADLINE)
        if problem.budget is not None:
            number("budget", problem.budget, BUDGET)

    def _choices(self) -> None:
        problem, mistakes = self.problem, self.mistakes
        if not isinstance(problem.rounds, str) or problem.rounds != "auto":
            mistakes.number("rounds", problem.rounds, ROUNDS)
        mistakes.choice("ports", problem.ports, (1, 2, "many"))
        if problem.discipline is not None:
            mistakes.choice("discipline", problem.discipline, ("fifo", "lifo"))
        mistakes.choice("use", problem.use, ("any", "all"))
        mistakes.choice("objective", problem.objective, OBJECTIVES)
        mistakes.flag("front_end", problem.front_end)
        mistakes.flag("integral", problem.integral)

    def _sequences(self) -> None:
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
                        f"{shown(transfer)} is not allowed; it is a send or a return, and a name",
                    )
                else:
                    self._worker_names(f"transfers[{index}].{transfer[0]}", transfer[1:], one=True)

    def _worker_names(self, place: str, names: Any, *, one: bool = False) -> bool:
        if not isinstance(names, tuple):
            self.mistakes.add(place, f"{shown(names)} is not a list of workers' names")
            return False
        unknown = [(index, name) for index, name in enumerate(names) if name not in self.known]
        for index, name in unknown:
            where = place if one else f"{place}[{index}]"
            hint = did_you_mean(name, list(self.known)[:200])
            self.mistakes.add(where, f"{shown(name)} is not a worker{hint}")
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

    def _loads(self) -> None:
        problem = self.problem
        if problem.loads is None:
            return
        if not isinstance(problem.loads, Mapping):
            self.mistakes.add("loads", f"{shown(problem.loads)} is not a table of name = load")
            return
        master = problem.platform.master
        computes = {master.name} if isinstance(master, Master) and master.compute else set()
        total = 0.0
        for name, amount in problem.loads.items():
            if name not in self.known and name not in computes:
                hint = did_you_mean(name, [*list(self.known)[:200], *computes])
                self.mistakes.add(f"loads.{name}", f"no such machine computes{hint}")
            total += self.mistakes.number(f"loads.{name}", amount, LOAD)
        load = problem.load
        if isinstance(load, (int, float)) and abs(total - load) > 1e-9 * max(total, load):
            self.mistakes.add("loads", f"add up to {total!r}, but load is {load!r}")

    def _everyone(self) -> None:
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

    def _returns(self) -> None:
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

    def _combinations(self) -> None:
        problem, add = self.problem, self.mistakes.add
        if isinstance(problem.platform, Tree):
            for name, default in STAR_ONLY.items():
                if getattr(problem, name) != default:
                    add(name, "is for stars; on a tree only the load and the deadline can be set")
            return
        self._everyone()
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
            if not self.mistakes.found:
                self._returns()
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
