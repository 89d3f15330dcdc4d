"""How much workers do by a given time when each in turn takes all that it can."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers, frozen
from makespan.core.numeric.jit import loop
from makespan.core.solution import Solution
from makespan.core.steps import Step
from makespan.divisible.model.plan import Plan
from makespan.divisible.model.platform import NUMBERS, Star
from makespan.divisible.one_round.plans import NO_MAXIMUM, of_open_load, with_returns
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing import timed

DOUBLINGS = 1100  # the range of floats
VAIN = 4  # doublings of the end by which nothing more is done, after which none will help
STEPS = 40
ROUNDING = 1e-13  # relative


COLUMNS = (
    "send_fixed", "send", "compute_fixed", "compute", "back_fixed", "back", "memory", "release",
    "deadline", "price_fixed", "price", "line_fixed", "line",
)  # fmt: skip
"""The last parameters of :func:`walk`, in the order of a filling's columns."""


@loop(pays_from=300)  # workers
def walk(  # type: ignore[no-untyped-def]
    end, load, budget, whole, everyone, after, reserve, amount,
    send_fixed, send, compute_fixed, compute, back_fixed, back,
    memory, release, deadline, price_fixed, price, line_fixed, line,
):  # fmt: skip
    """Let each worker in turn take what it can do by ``end``, at most ``load`` in all.

    All is sent first; results return in the reverse order, at the end. So worker j, after sends
    that last until ``port`` and before returns that last ``held``, does the x for which

        port + C + c x + W + w x + D + d x + held <= end

    and which its memory, its window, the budget and the ``reserve`` allow: what those behind it
    need for empty chunks (:func:`_reserved`); the same for each line W + w x that its computing
    cost lies on beyond some size, -inf + x where it has none. It is left out where the workers
    behind it, who do ``after`` units a second, would do more in the time that it takes from the
    port.
    Fills in ``amount``, -1 for those who take no part; returns the load done, -1 where not
    ``everyone`` could take part. A column of one entry holds for every worker.
    """
    port, held, done, left = 0.0, 0.0, 0.0, budget
    # where everyone takes part, those in front leave just what is needed
    near = ROUNDING if everyone else 0.0
    poor = -ROUNDING * budget if everyone else 0.0
    for j in range(len(amount)):
        amount[j] = -1.0
        c_fixed, c = send_fixed[min(j, len(send_fixed) - 1)], send[min(j, len(send) - 1)]
        w_fixed, w = (
            compute_fixed[min(j, len(compute_fixed) - 1)],
            compute[min(j, len(compute) - 1)],
        )
        d_fixed, d = back_fixed[min(j, len(back_fixed) - 1)], back[min(j, len(back) - 1)]
        ready, due = release[min(j, len(release) - 1)], deadline[min(j, len(deadline) - 1)]
        fee, rate = price_fixed[min(j, len(price_fixed) - 1)], price[min(j, len(price) - 1)]
        room = end - port - held - (c_fixed + w_fixed + d_fixed)
        late = end - held - ready - w_fixed - d_fixed
        soon = due - port - c_fixed - w_fixed
        open_ = due - ready - w_fixed
        k = min(j, reserve.shape[1] - 1)
        paid = left - fee - reserve[3, k]
        shared = end - reserve[0, k] - port - held - c_fixed - d_fixed
        returned = end - reserve[1, k] - held - d_fixed
        sent = reserve[2, k] - port - c_fixed
        x = -1.0
        times = min(room, late, soon, open_, shared, returned, sent)
        spent = port + held + ready + c_fixed + w_fixed + d_fixed + reserve[0, k]
        if times >= -near * spent and paid >= poor:
            x = min(memory[min(j, len(memory) - 1)], load - done)
            if (c + d) * x > shared:
                x = shared / (c + d)
            if d * x > returned:
                x = returned / d
            if c * x > sent:
                x = sent / c
            if (c + w + d) * x > room:
                x = room / (c + w + d)
            if (w + d) * x > late:
                x = late / (w + d)
            if (c + w) * x > soon:
                x = soon / (c + w)
            if w * x > open_:
                x = open_ / w
            for level in range(len(line)):
                more, w_beyond = w_fixed - line_fixed[level, j], line[level, j]
                x = min(x, (room + more) / (c + w_beyond + d), (late + more) / (w_beyond + d))
                x = min(x, (soon + more) / (c + w_beyond), (open_ + more) / w_beyond)
            if rate * x > paid:
                x = paid / rate
            if everyone:
                x = max(0.0, x)
            if whole:
                x = np.floor(x + 1e-9)
        if x < 0.0 and everyone:
            return -1.0
        taken = c_fixed + d_fixed + (c + d) * x
        if not everyone and (x <= 0.0 or x < after[min(j, len(after) - 1)] * taken):
            continue
        amount[j] = x
        done += x
        port += c_fixed + c * x
        held += d_fixed + d * x
        left -= fee + rate * x
    return done


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Filling:
    """A walk over the workers in one order.

    ``after`` says how many units a second the workers behind each one do, by which workers with
    fixed costs are left out; 0: nobody is. ``reserve`` is what they need where everyone takes
    part. Of these, and of a column, there is one entry where all workers are alike.
    """

    problem: DivisibleLoad
    order: Integers
    after: Floats
    reserve: Floats
    columns: tuple[Floats, ...]

    @classmethod
    def of(cls, problem: DivisibleLoad, order: Integers) -> Filling:
        """Return the walk in an order that leaves nobody out."""
        columns = tuple(_taken(problem.star, name, order) for name in NUMBERS[:-1])
        reserve = np.array([[0.0], [0.0], [np.inf], [0.0]])
        if problem.use == "all":
            reserve = _reserved(len(order), dict(zip(NUMBERS, columns, strict=False)))
        columns += _lines(problem.star, order)
        return cls(
            problem=problem, order=order, after=np.zeros(1), reserve=reserve, columns=columns
        )

    def choosy(self) -> Filling:
        """Return the same walk, but one that leaves out workers that are not worth it."""
        after = _rates_after(len(self.order), self.columns[1] + self.columns[5], self.columns[3])
        return replace(self, after=after)

    def load_by(self, end: float) -> tuple[float, Floats, float]:
        """Return the load done by ``end``, what each worker does of it (-1: it takes no part), and
        what the master does.
        """
        problem = self.problem
        load = np.inf if problem.load is None else problem.load
        own = problem.own_by(end)
        own = min(load, float(np.floor(own)) if problem.integral else own)
        amount = np.empty(len(self.order))
        budget = np.inf if problem.budget is None else float(problem.budget)
        everyone = problem.use == "all"
        with np.errstate(all="ignore"):
            done = walk.bind(
                len(amount), **dict(zip(COLUMNS, self.columns, strict=True)), end=end,
                load=load - own, budget=budget, whole=problem.integral, everyone=everyone,
                after=self.after, reserve=self.reserve, amount=amount,
            )()  # fmt: skip
        return (float(done) + own if done >= 0.0 else -1.0), amount, own


def least_end(filling: Filling, low: float, limit: float, control: Control) -> float | None:
    """Return about the least end from ``low`` to ``limit`` by which the load is done, or None."""
    load = filling.problem.load
    assert load is not None
    enough = load * (1 - 1e-12)
    high = _enough_time(filling, low, enough, control) if np.isinf(limit) else limit
    if high is None or filling.load_by(high)[0] < enough:
        return None
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        if control.expired() or not low < middle < high:
            break
        if _done(filling, middle, enough, control) >= enough:
            high = middle
        else:
            low = middle
    return high


def _done(filling: Filling, end: float, enough: float, control: Control) -> float:
    """Return the load that is done by ``end``, and log it."""
    done = filling.load_by(end)[0]
    if control.log_steps:
        word = "enough" if done >= enough else "too little"
        by, load = f"{end:.8g}", f"{done:.8g}"
        text = f"by {by}: {load} would be done, {word}"
        control.step(Step(text=text, cells={"end": by, "done": load, "": word}))
    return done


def _enough_time(filling: Filling, least: float, enough: float, control: Control) -> float | None:
    """Return an end by which the load is done; None if no time seems to be enough."""
    if not np.isfinite(least):
        return None
    end, done, vain = least or 1.0, -2.0, 0
    for _ in range(DOUBLINGS):
        more = _done(filling, end, enough, control)
        if more >= enough:
            return end
        vain = vain + 1 if 0.0 < more <= done else 0
        if vain == VAIN or not np.isfinite(end):
            return None
        end, done = 2.0 * end, more
    return None


def most_load(filling: Filling, end: float) -> Solution:
    """Return the plan for an open load; none where it has no maximum."""
    problem = filling.problem
    done, amount, own = filling.load_by(end)
    if done == np.inf:
        return NO_MAXIMUM
    if not done >= 0.0:
        return Solution(schedule=None)
    plan = plan_of(problem, filling.order, amount, own)
    schedule = timed(problem, plan)
    if schedule.makespan > end * (1 + 1e-12):
        return Solution(schedule=None)
    return of_open_load(schedule, plan.total)


def plan_of(problem: DivisibleLoad, order: Integers, amount: Floats, own: float) -> Plan:
    """Return the plan of a walk, adding up to the load."""
    plan = Plan.of(order, amount, master=own).keeping(amount >= 0.0)
    if problem.load is not None and not problem.integral and plan.total > 0.0:
        plan = plan.fitted(problem.load)
    return with_returns(problem, plan, "lifo")


def _taken(star: Star, name: str, order: Integers) -> Floats:
    """Return a column in an order; one entry of it where all are alike."""
    column: Floats = getattr(star, name)
    least, greatest = star.range_of(name)
    return column[:1] if least == greatest else frozen(column[order])


def _lines(star: Star, order: Integers) -> tuple[Floats, Floats]:
    """Return the lines beyond sizes in an order, (levels, workers); nothing binds where none is."""
    shape = (len(star.beyond), len(order))
    fixed, per_unit = np.full(shape, -np.inf), np.ones(shape)
    lines = star.beyond.lines(star.compute_fixed, star.compute_per_unit)
    for level, (at_0, slope, there) in enumerate(lines):
        bends = (there & (slope > 0))[order]
        fixed[level, bends], per_unit[level, bends] = at_0[order][bends], slope[order][bends]
    return fixed, per_unit


def _rates_after(count: int, send: Floats, compute: Floats) -> Floats:
    """Return the units a second that the workers behind each one do without fixed costs."""
    total, compute = np.broadcast_to(send + compute, count), np.broadcast_to(compute, count)
    with np.errstate(divide="ignore", invalid="ignore"):
        keep = np.where(total > 0, compute / total, 0.0)
        gain = np.where(total > 0, 1.0 / total, 0.0)
    rates = np.zeros(count)
    _backwards.at(count)(keep, gain, rates)
    return rates


def _reserved(count: int, columns: dict[str, Floats]) -> Floats:
    """Return what empty chunks of the workers behind each one need, four rows.

    Before the end: for what the port and the results share, and for the results, which are held
    back until a release; the time by which the port has to be free; and the price. Worker k behind
    j waits for the fixed costs of those between, so that each is a maximum over k of sums.
    """
    wide = {name: np.broadcast_to(column, count) for name, column in columns.items()}
    send, back, compute = wide["send_fixed"], wide["return_fixed"], wide["compute_fixed"]

    def longest(fixed: Floats, own: Floats) -> Floats:
        upto = np.cumsum(fixed)
        most = np.maximum.accumulate((upto + own)[::-1])[::-1]
        return np.append(most[1:], -np.inf) - upto

    rows = np.zeros((4, count))
    rows[0] = np.maximum(0.0, longest(send + back, compute))
    rows[1] = np.maximum(0.0, longest(back, wide["release"] + compute))
    rows[2] = -longest(send, compute - wide["deadline"])
    rows[3] = np.append(np.cumsum(wide["price_fixed"][::-1])[::-1][1:], 0.0)
    return rows


@loop(pays_from=300)  # workers
def _backwards(keep, gain, rates):  # type: ignore[no-untyped-def]
    """Fill in r[j - 1] = max(r[j], g[j] + k[j] r[j]) from the last worker to the first."""
    for j in range(len(keep) - 1, 0, -1):
        rates[j - 1] = max(rates[j], gain[j] + keep[j] * rates[j])
