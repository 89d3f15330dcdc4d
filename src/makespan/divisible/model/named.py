"""What is wrong with the names in a divisible load problem: in orders, sequences and loads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from makespan.core.inputs.mistakes import Mistakes, quoted
from makespan.core.inputs.rules import Rule
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.names import index_by_name
from makespan.divisible.model.machines import Master
from makespan.divisible.model.statement import Statement


class Named:
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
