"""Prices of the port's time: a bound for any number of workers, and the plans that they suggest."""

from dataclasses import replace

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.sorting import sorted_by
from makespan.core.registry import Need, register
from makespan.core.solution import Solution
from makespan.core.system.memory import claim
from makespan.divisible import needs
from makespan.divisible.model.plan import Plan
from makespan.divisible.one_round.ending_together import AffineCosts, without_late
from makespan.divisible.one_round.filling import Filling, least_end, most_load, plan_of
from makespan.divisible.one_round.lagrange import Prices, Relaxation, descent
from makespan.divisible.one_round.plans import service_order
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.rates.quick import quick_bound
from makespan.divisible.referee import violations
from makespan.divisible.returns.transfer_programme import size_by_programme
from makespan.divisible.timing import timed

A_WORKER = 400.0  # bytes: the columns of the relaxation and of the plans that are tried
MANY_FREE, MANY_LIMITED = 32, 8  # up to that many workers exact methods are as fast
PARTS = (64, 256)
SAMPLE = 2_000  # workers that stand for all in the first steps
NEAR = 1e-4  # the gap that is left alone
LEAST_SHARE = 1 / 40
HALVINGS = 6
BELOW = 0.98  # of the load: what prices are to leave by an end that they exclude
DOUBLINGS = 30
MANY = 20_000  # workers whose chunks a linear programme sizes
SHARE = 0.6  # of the time left, where exact methods are to come:
FOLLOWED = 3_000  # workers
A_PAIR = 2e-8  # seconds for a worker and a part of the time: a step takes that


def _few(problem: DivisibleLoad) -> str | None:
    count, limited = len(problem.star), not _is_free(problem)
    if problem.order is not None and not limited:
        return "order is given"
    return None if count > (MANY_LIMITED if limited else MANY_FREE) else f"there are {count}"


def _is_free(problem: DivisibleLoad) -> bool:
    """Whether nothing but the order and the costs says who gets how much."""
    return problem.use == "any" and not problem.integral and not problem.has_limits


@register(
    needs=(
        *needs.OPEN_ONE_ROUND,
        needs.A_MASTER,
        needs.SOME_LOAD,
        needs.WHOLE_LOAD,
        needs.NO_RETURNS,
        needs.NO_UPLINK,
        needs.FINITE_RATES,
    ),
    reach=(Need(f"more than {MANY_FREE} workers, or {MANY_LIMITED} and limits", _few),),
    complexity="O(n G) a step for G parts of the port's time, some hundreds of steps",
    source="Lagrange relaxation of the port, as of the machine in time-indexed scheduling "
    "(Van den Akker, Hurkens and Savelsbergh 2000)",
)
def port_prices(problem: DivisibleLoad, control: Control) -> Solution:
    """Prices of the port's time: a bound on any plan, and plans of the workers that pay for it.

    Each worker alone chooses the start of its send that is worth most at the prices; prices rise
    where sends meet, and fall where the port is idle. Workers in the order of these starts make a
    plan. Fixed costs, memory, windows, a budget, whole units and ``use = "all"`` are kept. An open
    load has its deadline for an end, and what the prices allow by then is its bound.
    """
    claim(A_WORKER * len(problem.star), "the columns of the workers")
    count, left = len(problem.star), control.remaining
    share = SHARE * left if left is not None and count <= FOLLOWED else None
    with control.limited(share), control.reserving(A_PAIR * count * PARTS[-1]):
        if problem.load is None:
            return _most_by_deadline(problem, control)
        search = _PriceSearch(problem, control)
        search.run()
        stopped = control.expired()
    schedule = None if search.plan is None else timed(problem, search.plan)
    bound = min(search.low, schedule.makespan if schedule is not None else np.inf)
    known = bound if np.isfinite(bound) else None
    return Solution(schedule=schedule, lower_bound=known, stopped=stopped)


def _most_by_deadline(problem: DivisibleLoad, control: Control) -> Solution:
    """Return the plan with the most load by the deadline that prices suggest, and their bound."""
    end = problem.latest
    if control.expired():
        return Solution(schedule=None)
    filling = Filling.of(problem, service_order(problem))
    done, bound = filling.load_by(end)[0], np.inf
    relaxation = Relaxation(problem=problem, workers=np.arange(len(problem.star)))
    scale = done
    if not done > 0.0 and end > 0.0:
        scale = relaxation.at(end, Prices(port=np.zeros(1))).most
    if not 0.0 < scale < np.inf:
        return most_load(filling, end)
    money = 0.0 if problem.budget is None else 0.5 * scale
    prices = Prices(port=np.linspace(2.0, 0.0, PARTS[0]) * scale / end, money=money)
    for parts in PARTS:
        steps = descent(relaxation, end, prices.refined(parts // len(prices.port)), done)
        for tried, priced in steps:
            if control.expired():
                break
            most = relaxation.at_most(end, tried, priced)
            if most < bound:
                bound, prices = most, tried
            sequence = served(problem, priced.start)
            if problem.use == "all" and len(sequence) < len(problem.star):
                continue
            other = Filling.of(problem, sequence)
            more = other.load_by(end)[0]
            filling, done = (other, more) if more > done else (filling, done)
    solution = most_load(filling, end)
    if solution.objective is None or not np.isfinite(bound):
        return solution
    if problem.integral:
        bound = float(np.floor(bound))
    objective = replace(solution.objective, bound=max(bound, solution.objective.value))
    return replace(solution, objective=objective, stopped=control.expired())


def served(problem: DivisibleLoad, start: Floats) -> Integers:
    """Return the workers that have a start in this order, or in the order that is given."""
    used = np.flatnonzero(start >= 0.0)
    key = start
    if problem.order is not None:
        key = np.empty(len(start))
        key[problem.workers_in(problem.order)] = np.arange(len(start))
    return used[sorted_by(key[used])]


class _PriceSearch:
    """The best plan and the latest end known to be too early."""

    def __init__(self, problem: DivisibleLoad, control: Control) -> None:
        self.problem = problem
        self.load = problem.total
        self.control = control
        self.low = quick_bound(problem)
        self.end = np.inf
        self.plan: Plan | None = None
        self.everyone = Relaxation(problem=problem, workers=np.arange(len(problem.star)))
        self.free = _is_free(problem)
        incumbent = control.incumbent
        if incumbent is not None and incumbent.schedule is not None:
            self.end = incumbent.schedule.makespan
        else:
            self._enter(service_order(problem))

    def run(self) -> None:
        """Narrow the gap until it is small or the time is up."""
        if not 0.0 < self.low < np.inf or self.control.expired():
            return
        at, count = min(self.end, 2.0 * self.low), len(self.problem.star)
        money = 0.0 if self.problem.budget is None else 0.5 * self.load
        prices = Prices(port=np.linspace(2.0, 0.0, PARTS[0]) * self.load / at, money=money)
        prices, at = self._first_plan(prices, at)
        if not np.isfinite(self.end):
            return
        if count > 2 * SAMPLE:
            some = self.problem.star.by_send_cost[:: count // SAMPLE]
            relaxation = replace(self.everyone, workers=some, weight=count / len(some))
            prices, at = self._first_prices(relaxation, prices, at)
            self._enter(served(self.problem, self.everyone.at(at, prices).start))
            self._raise(prices, at)
        for parts in PARTS:
            prices, at = self._narrow(prices.refined(parts // len(prices.port)), at)

    def _first_plan(self, prices: Prices, at: float) -> tuple[Prices, float]:
        """Look at later and later ends until there is a plan."""
        for _ in range(DOUBLINGS):
            if np.isfinite(self.end) or self.control.expired():
                break
            prices, excluded = self._look(at, prices)
            if excluded:
                self.low = at
            prices, at = prices.within(at, 2.0 * at), 2.0 * at
        return prices, at

    def _narrow(self, prices: Prices, at: float) -> tuple[Prices, float]:
        """Exclude ends between the bound and the plan, nearer to the bound where that fails."""
        share = 0.5
        while share > LEAST_SHARE and self.end - self.low > NEAR * self.end:
            if self.control.expired():
                break
            end = self.low + share * (self.end - self.low)
            prices, excluded = self._look(end, prices.within(at, end))
            at = end
            if excluded:
                self.low, share = end, 0.5
                self._raise(prices, at)
            else:
                share /= 2.0
            self.control.report(self.end, self.low)
        return prices, at

    def _look(self, end: float, prices: Prices) -> tuple[Prices, bool]:
        """Seek prices that exclude an end, and plans on the way; return the best and whether."""
        least, best = np.inf, None
        for number, (tried, priced) in enumerate(
            descent(self.everyone, end, prices, BELOW * self.load)
        ):
            better = priced.most < least
            if better:
                prices, least, best = tried, priced.most, priced
            if better or number % 4 == 0:
                self._enter(served(self.problem, priced.start))
            if self.everyone.at_most(end, tried, priced) < self.load:
                return prices, True
            if self.control.expired():
                break
        if best is not None and not self.free:
            self._size(served(self.problem, best.start))
        return prices, False

    def _raise(self, prices: Prices, at: float) -> None:
        """Raise the bound as far as the same prices allow."""
        high = self.end
        for _ in range(HALVINGS):
            middle = (self.low + high) / 2.0
            if self.control.expired() or not self.low < middle < high:
                break
            if self.everyone.excludes(middle, prices.within(at, middle)):
                self.low = middle
            else:
                high = middle

    def _first_prices(
        self, relaxation: Relaxation, prices: Prices, at: float
    ) -> tuple[Prices, float]:
        """Return about the best prices for some of the workers, and the end that they are for."""
        low, high = self.low, self.end
        while high - low > 0.01 * high and not self.control.expired():
            end = (low + high) / 2.0
            prices, at = prices.within(at, end), end
            least = np.inf
            for tried, priced in descent(relaxation, end, prices, BELOW * self.load):
                if priced.most < least:
                    prices, least = tried, priced.most
                if self.control.expired() or least < self.load:
                    break
            if least < self.load:
                low = end
            else:
                high = end
        return prices, at

    def _enter(self, sequence: Integers) -> None:
        """Keep the plan that serves these workers in this order, if it ends before the best."""
        if len(sequence) < (len(self.problem.star) if self.problem.use == "all" else 1):
            return
        if self.free:
            costs = AffineCosts.of(self.problem)
            end, workers, amount = without_late(costs, sequence, self.load)
            if end < self.end:
                self.end = end
                self.plan = Plan.of(workers, amount, master=costs.own_load(end)).fitted(self.load)
            return
        filling = Filling.of(self.problem, sequence)
        found = least_end(filling, self.low, self.end * (1 - NEAR), self.control)
        if found is not None and found < self.end:
            _, amount, own = filling.load_by(found)
            self.end, self.plan = found, plan_of(self.problem, sequence, amount, own)

    def _size(self, sequence: Integers) -> None:
        """Give these workers, in this order, what the linear programme of their chunks says."""
        problem = self.problem
        if problem.integral or problem.use == "all" or not 0 < len(sequence) <= MANY:
            return
        sized, _ = size_by_programme(problem, sequence, self.control)
        if sized is None or sized.makespan >= self.end:
            return
        plan = sized.plan.without_empty()
        schedule = timed(problem, plan)
        if schedule.makespan < self.end and next(iter(violations(problem, schedule)), None) is None:
            self.end, self.plan = schedule.makespan, plan
