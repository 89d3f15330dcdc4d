"""Workers behind links of their own: what each does alone, and what shared limits leave them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.jit import loop
from makespan.divisible.model.platform import Star
from makespan.divisible.rounds.chain import ChainCosts, coefficients

STEPS = 100
MAX_ROUNDS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class LoneWorker:
    """What one worker does by T in so many chunks: ``(T - start) * rate``, from ``least`` on.

    The chunks are ``constant + slope * tail``, with ``tail = (T - sends) / per_tail``.
    """

    start: float
    rate: float
    least: float
    sends: float
    per_tail: float
    constant: tuple[float, ...]
    slope: tuple[float, ...]

    def load(self, end: float) -> float:
        return (end - self.start) * self.rate if end > self.least else 0.0

    def chunks(self, end: float) -> list[float]:
        tail = (end - self.sends) / self.per_tail
        return [max(0.0, c + s * tail) for c, s in zip(self.constant, self.slope, strict=True)]


def lone_worker(star: Star, worker: int, rounds: int) -> LoneWorker | None:
    """Return what a worker does in a number of chunks without idle time; None where it can't."""
    costs = ChainCosts(
        send_fixed=[float(star.send_fixed[worker])],
        send_per_unit=[float(star.send_per_unit[worker] + star.return_per_unit[worker])],
        compute_fixed=[float(star.compute_fixed[worker] + star.return_fixed[worker])],
        compute_per_unit=[float(star.compute_per_unit[worker])],
    )
    latency, c = costs.send_fixed[0], costs.send_per_unit[0]
    if rounds == 1:
        total = c + costs.compute_per_unit[0]
        if total == 0:
            return None
        start = latency + costs.compute_fixed[0]
        return LoneWorker(
            start=start,
            rate=1.0 / total,
            least=start,
            sends=start,
            per_tail=total,
            constant=(0.0,),
            slope=(1.0,),
        )
    if costs.compute_per_unit[0] == 0:
        return None
    constant, slope, (sends, sends_slope, placed, placed_slope) = coefficients([0] * rounds, costs)
    per_tail = 1.0 + sends_slope
    if min(slope) < 0 or not np.isfinite(placed_slope) or placed_slope <= 0:
        return None
    tails = [
        -c0 / s0 if s0 > 0 else np.inf for c0, s0 in zip(constant, slope, strict=True) if c0 < 0
    ]
    rate = placed_slope / per_tail
    return LoneWorker(
        start=sends - placed / rate,
        rate=rate,
        least=sends + per_tail * max([0.0, *tails]),
        sends=sends,
        per_tail=per_tail,
        constant=tuple(constant),
        slope=tuple(slope),
    )


def least_end(
    load: float, most: Callable[[float], float], expired: Callable[[], bool] = lambda: False
) -> float:
    """Return the least T at which ``most(T)``, which does not decrease, is the load.

    By bisection, and by regula falsi two times of three: most is linear from event to event.
    Infinity where no float is late enough. Where the time is up, an end by which the load is done,
    or infinity.
    """
    low, below = 0.0, 0.0
    high = 1.0
    while (above := most(high)) < load:
        low, below = high, above
        high *= 2.0
        if high == np.inf or expired():
            return np.inf
    for step in range(3 * STEPS):
        middle = (low + high) / 2.0
        if step % 3 and below < above < np.inf:  # where the line between the two meets the load
            middle = low + (load - below) * ((high - low) / (above - below))
            middle = min(max(middle, np.nextafter(low, high)), np.nextafter(high, low))
        if not low < middle < high or expired():
            break
        reached = most(middle)
        if reached < load:
            low, below = middle, reached
        else:
            high, above = middle, reached
    return high


class InTurn:
    """Workers served in an order on each of some ports; who could not start in time is left out."""

    def __init__(self, star: Star, order: Integers, uplink: float | None = None) -> None:
        send = np.maximum(star.send_per_unit, 0.0 if uplink is None else 1.0 / uplink)
        start_up = star.send_fixed + star.compute_fixed
        self._order = order
        self._serve, self._column = serve_in_turn.chosen(STEPS * len(order))
        costs = (star.send_fixed, send, start_up, send + star.compute_per_unit)
        self._costs = [self._column(cost[order]) for cost in costs]

    def loads(self, end: float, port: Integers | None = None) -> Floats:
        """Return what each worker does by ``end``; ``port`` says on which one it is served."""
        on = np.zeros(len(self._order), np.int64) if port is None else port[self._order]
        left, amounts = np.full(on.max(initial=0) + 1, end), np.zeros(len(on))
        served = self._column(amounts)
        self._serve(*self._costs, self._column(on), self._column(left), served)
        done = np.zeros(len(on))
        done[self._order] = served
        return done


@loop(pays_from=2_000_000, loaded_from=100_000)  # workers, over all ends that are tried
def serve_in_turn(fixed, send, start_up, total, port, left, done):  # type: ignore[no-untyped-def]
    """Write into ``done`` what each worker does in the time that its port has ``left`` by then."""
    for place in range(len(done)):
        until = left[port[place]]
        if until > start_up[place]:
            done[place] = (until - start_up[place]) / total[place]
            left[port[place]] = until - (fixed[place] + send[place] * done[place])


def side_by_side(star: Star, end: float, uplink: float) -> tuple[Floats, Floats]:
    """Return what all workers do by ``end`` if all sends start at 0, and the rates of the sends.

    Worker j, at r units per second, gets ``(T - C - W)/(1/r + w)``: concave in r. The rates that
    share the uplink best have equal derivatives, ``(T - C - W)/(1 + w r)^2 = price``.
    """
    room = np.maximum(0.0, end - star.send_fixed - star.compute_fixed)
    with np.errstate(divide="ignore"):
        most = np.minimum(uplink, 1.0 / star.send_per_unit)
    work = np.maximum(star.compute_per_unit, 1e-300)

    def rates(price: float) -> Floats:
        with np.errstate(over="ignore"):  # a worker that computes in no time takes what it may
            wanted: Floats = np.clip((np.sqrt(room / price) - 1.0) / work, 0.0, most)
        return wanted

    low, high = 1e-300, max(float(room.max(initial=0.0)), 1e-300)
    if rates(low).sum() <= uplink:
        rate = rates(low)
    else:
        for _ in range(STEPS):
            middle = np.sqrt(low) * np.sqrt(high)
            low, high = (middle, high) if rates(middle).sum() > uplink else (low, middle)
        less, more = rates(high), rates(low)  # far apart where the price of a rate is a step
        rate = less + (more - less) * ((uplink - less.sum()) / (more.sum() - less.sum()))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        done: Floats = np.where(rate > 0, room / (1.0 / rate + star.compute_per_unit), 0.0)
    return done, rate
