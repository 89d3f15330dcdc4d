"""The clock, the generator, the progress callback and the step log of one solve.

Work in a thread of its own is watched by the same clock (:func:`watched`, :func:`stoppable`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, TypeVar

from makespan.core.errors import TooLarge
from makespan.core.numeric import first_use
from makespan.core.numeric.binding import is_plain
from makespan.core.steps import Step
from makespan.core.system import interrupts, startup

if TYPE_CHECKING:
    import numpy as np

    from makespan.core.problem import Problem
    from makespan.core.schedule import Schedule
    from makespan.core.solution import Solution

Progress = Callable[[float | None, float | None, float], None]
FREE, COUNTED = 0.3, 0.4  # seconds of start-up that don't count; the part of a limit others take
GRACE = 0.25  # seconds by which what can't be stopped may end after the limit


class Control:
    """What a method asks while it runs.

    After ``time_limit`` seconds :meth:`expired` is true; None for no limit. The first 0.3 s of
    start-up (compiling kernels, importing libraries) do not count; what goes beyond them counts,
    but at most two fifths of the limit, which leaves time to plan. Where kernels are compiled
    whatever the limit (``MAKESPAN_COMPILE=now``), no start-up counts. ``rng`` is a seed or a
    ``numpy.random.Generator``; None is seed 0. ``progress`` is called with (incumbent, bound,
    elapsed seconds) whenever a method reports. ``log_steps``: :meth:`step` keeps what it is given.

    ``incumbent``: the best solution of earlier methods on the same problem, to start from.
    ``interrupted``: whether the user asked to stop; set from a signal handler.
    ``line_up``: what ``auto`` does, for methods that plan parts of a problem apart; set by a solve.
    """

    def __init__(
        self,
        *,
        time_limit: float | None = None,
        rng: int | np.random.Generator | None = None,
        progress: Progress | None = None,
        log_steps: bool = False,
    ) -> None:
        self.time_limit = time_limit
        self.log_steps = log_steps
        self.incumbent: Solution | None = None
        self.interrupted = False
        self.line_up: Callable[[Problem], Solution]
        self._progress = progress
        self._started, self._spent = startup.clock(), startup.spent()
        self._counts = 0.0 if first_use.mode() == "now" else COUNTED * (time_limit or 0.0)
        self._rng = rng
        self._steps: list[Step] = []
        self._steps_of: dict[str, list[Step]] = {}

    @property
    def seed(self) -> int | None:
        """The seed, or None where a generator was given."""
        import operator

        if self._rng is None:
            return 0
        try:
            return operator.index(self._rng)  # type: ignore[arg-type]
        except TypeError:
            return None

    @property
    def rng(self) -> np.random.Generator:
        """The generator of this solve, made on first use."""
        import numpy as np

        if not isinstance(self._rng, np.random.Generator):
            self._rng = np.random.default_rng(self.seed)
        return self._rng

    @property
    def elapsed(self) -> float:
        """Seconds since the start, without start-up that does not count."""
        elapsed = startup.clock() - self._started
        started = startup.spent() - self._spent
        return elapsed - started + min(max(0.0, started - FREE), self._counts)

    @property
    def remaining(self) -> float | None:
        """Seconds until the limit, at least 0; None for no limit."""
        return None if self.time_limit is None else max(0.0, self.time_limit - self.elapsed)

    def expired(self) -> bool:
        """Whether to stop now: the time is up, or the user asked to."""
        return self.interrupted or self.remaining == 0.0

    def claim(self, seconds: float, what: str) -> None:
        """Refuse what can't be stopped and would end too late, before it is begun.

        ``what`` takes the ``seconds``, for the message: ``"the programme of 1,000 workers"``.
        Raises TooLarge if these are more than the limit leaves, and :data:`GRACE` seconds.
        """
        left = self.remaining
        if left is not None and seconds > left + GRACE:
            raise TooLarge(f"{what} would take {seconds:.1f} s; the time limit leaves {left:.1f} s")

    def known_or(self, make: Callable[[], Solution]) -> Schedule:
        """Return the plan of the incumbent; without one, that of another method."""
        schedule = self.incumbent.schedule if self.incumbent else None
        if schedule is None:
            schedule = make().schedule
        assert schedule is not None
        return schedule

    def report(self, incumbent: float | None, bound: float | None) -> None:
        """Tell the progress callback the best value and bound so far."""
        if self._progress is not None:
            self._progress(incumbent, bound, self.elapsed)

    def step(self, step: Step | str) -> None:
        """Add a step, or a line that is one, to the step log, where one is kept."""
        if self.log_steps:
            self._steps.append(Step(text=step) if isinstance(step, str) else step)

    def begin(self, method: str) -> None:
        self._steps = self._steps_of[method] = []

    @contextmanager
    def aside(self) -> Iterator[list[Step]]:
        """Keep the steps that are logged inside the block apart, in the list that it gives.

        For methods that try others, whose steps are not theirs.
        """
        before, self._steps = self._steps, []
        try:
            yield self._steps
        finally:
            self._steps = before

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Let what is known, told and logged inside the block be that of another problem."""
        before = self.incumbent, self._progress, self._steps, self._steps_of
        self.incumbent, self._progress, self._steps, self._steps_of = None, None, [], {}
        try:
            yield
        finally:
            self.incumbent, self._progress, self._steps, self._steps_of = before

    def steps_of(self, method: str) -> tuple[Step, ...]:
        """Return the steps that a method logged; one that says so where it logged none."""
        steps = self._steps_of.get(method, ())
        if self.log_steps and not steps:
            return (Step(text=f"{method} logs no steps"),)
        return tuple(steps)

    @contextmanager
    def limited(self, seconds: float | None) -> Iterator[None]:
        """Let at most ``seconds`` from now pass inside the block."""
        before = self.time_limit
        if seconds is not None:
            until = self.elapsed + seconds
            self.time_limit = until if before is None else min(before, until)
        try:
            yield
        finally:
            self.time_limit = before

    @contextmanager
    def sharing(self, part: float, least: float = 0.0) -> Iterator[None]:
        """Let at most so much of the time that is left pass inside the block, or ``least`` s."""
        left = self.remaining
        with self.limited(None if left is None else max(least, part * left)):
            yield

    @contextmanager
    def reserving(self, seconds: float) -> Iterator[None]:
        """Let the time be up that much earlier inside the block: for what is still to come."""
        left = self.remaining
        with self.limited(None if left is None else max(0.0, left - seconds)):
            yield

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Turn the first Ctrl-C into :attr:`interrupted`; the second raises as usual.

        Outside the main thread, and where the caller handles the signal, nothing changes.
        """

        def note() -> None:
            self.interrupted = True

        with interrupts.noted(note):
            yield


POLL_SECONDS = 0.05
PLAIN = 0.01  # of the work of a compiled loop takes as long in its plain form

Value = TypeVar("Value")


def watched(work: Callable[[], Value], look: Callable[[], None], stop: Callable[[], None]) -> Value:
    """Return what ``work`` returns, which doesn't hold the interpreter, or raise what it raises.

    ``work``: what is done in another thread. ``look``: called now and then meanwhile; limits and
    Ctrl-C reach this thread. ``stop``: asks the work to end soon; called again until it has.
    """
    context = copy_context()
    results: list[Value] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(context.run(work))  # whose limit holds for compilers, too
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run, name="makespan", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(POLL_SECONDS)
            look()
    finally:
        while thread.is_alive():
            stop()
            thread.join(POLL_SECONDS)
    if failures:
        raise failures[0]
    return results[0]


def stoppable(
    control: Control | None, loop: Callable[..., Any], *arguments: Any, long: float
) -> Any:
    """Run a loop, a long one until the time is up; return what it returns.

    The loop gets an array after its arguments and stops soon after its entry is no longer 0. One
    that is not long is not worth a thread: it is run to its end. ``long`` is its work as a part of
    what takes long compiled; its plain form takes as long for a hundredth.
    """
    import numpy as np

    flag = np.zeros(1, dtype=np.int64)
    if control is None or long < (PLAIN if is_plain(loop) else 1.0):
        return loop(*arguments, flag)

    def stop() -> None:
        flag[0] = 1

    def look() -> None:
        if control.expired():
            stop()

    return watched(lambda: loop(*arguments, flag), look, stop)
