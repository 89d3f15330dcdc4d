"""The statement of a divisible load problem."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from makespan.core.cached import cached_property
from makespan.core.names import Numbered, index_by_name
from makespan.core.numeric.arrays import Floats, Integers, frozen
from makespan.core.problem import Pictured
from makespan.divisible.model.machines import Master
from makespan.divisible.model.sources import Sources
from makespan.divisible.model.statement import Statement, check_statement
from makespan.divisible.model.tree import Tree

MASTER = 0


@dataclass(frozen=True, kw_only=True, eq=True, repr=False)
class DivisibleLoad(Statement, Pictured):
    """A load that can be cut anywhere, held by a master and sent to workers.

    What is not fixed here is part of the answer, including which workers take part. Machine 0
    is the master; the workers follow in the order of the platform.

    Parameters
    ----------
    platform
        The master, the workers and their costs; or a tree, or several sources.
    load
        Units of load; None with a ``deadline``: the most load by then is sought. What several
        sources hold need not be said again.
    rounds
        Into how many rounds at most the sends can be cut, one behind another, where a round holds
        no worker twice; ``"auto"`` leaves the number open. Of several sources: how many chunks a
        worker may get from each of them.
    ports
        1: any two transfers exclude each other. 2: sends exclude sends, returns exclude returns.
        ``"many"``: every worker has a link of its own. Of several sources: ``"many"``: every source
        has one to every worker; otherwise each sends, and each worker receives, one at a time.
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

    def __post_init__(self) -> None:
        for name in ("order", "activation", "return_order"):
            if isinstance(getattr(self, name), list):
                object.__setattr__(self, name, tuple(getattr(self, name)))
        if self.transfers is not None:
            object.__setattr__(self, "transfers", tuple(map(tuple, self.transfers)))
        self.__dict__.update(check_statement(self))
        known = self.held if self.loads is None else self.loads.values()
        if self.load is None and known is not None:
            object.__setattr__(self, "load", math.fsum(known))

    def _counts(self) -> Mapping[str, int]:
        if isinstance(self.platform, Sources):
            return {"source": len(self.platform.source_names), "worker": len(self.platform)}
        return {"node" if isinstance(self.platform, Tree) else "worker": len(self.platform)}

    def _facts(self) -> Sequence[str]:
        asked = f"deadline {self.deadline}" if self.load is None else f"load {self.load}"
        return [asked, *super()._facts()]

    @cached_property
    def machines(self) -> Sequence[str]:
        """The master, then the workers; only the bus's machines while the master is open.

        On a tree, the nodes; of several sources, these and then the workers.
        """
        if isinstance(self.platform, Sources):
            return (*self.platform.source_names, *self.platform.names)
        if self.chooses_master or isinstance(self.platform, Tree):
            return self.platform.names
        assert isinstance(self.platform.master, Master)
        if isinstance(self.platform.names, Numbered) and self.platform.master.name == "P0":
            return Numbered("P", len(self.platform) + 1)
        return (self.platform.master.name, *self.platform.names)

    @property
    def holders(self) -> Sequence[int]:
        """The machines that hold load: the master, the root of a tree, or the sources."""
        if isinstance(self.platform, Sources):
            return range(len(self.platform.source_names))
        return (self.platform.root if isinstance(self.platform, Tree) else MASTER,)

    @property
    def master_computes(self) -> bool:
        """Whether the master of a star has a compute cost."""
        master = self.star.master
        return not isinstance(master, str) and master.compute is not None

    def own_by(self, end: float) -> float:
        """Return what the master of a star computes by a time, units."""
        cost = self.star.master_cost
        if not self.master_computes or end < cost.fixed:
            return 0.0
        return (end - cost.fixed) / cost.per_unit if cost.per_unit > 0 else math.inf

    @cached_property
    def given_sends(self) -> tuple[str, ...] | None:
        """The workers in the order in which they are sent to, where the problem says it."""
        if self.transfers is not None:
            return tuple(name for what, name in self.transfers if what == "send")
        return self.activation

    @cached_property
    def served_once(self) -> bool:
        """Whether no worker gets more than one chunk."""
        sent = self.given_sends
        return self.rounds == 1 if sent is None else len(set(sent)) == len(sent)

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
        return frozen(np.fromiter(map(self._position.__getitem__, names), dtype=np.int64))

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

        The master's own link is unused; the other machines are the workers, in their order. What
        lies with it is not sent in chunks: it computes all at its cost per unit, none beyond.
        """
        star, chosen = self.star, self.star.names[index]
        cost = star._cost("compute", index)

        def without(names: tuple[str, ...] | None) -> tuple[str, ...] | None:
            return names and tuple(name for name in names if name != chosen)

        return replace(
            self,
            platform=star.without(index, Master(name=chosen, compute=cost)),
            order=without(self.order),
            return_order=without(self.return_order),
        )
