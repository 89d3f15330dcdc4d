"""What a referee found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from makespan.core.errors import MakespanError, one_line

REPORT_FORMAT = "makespan.report/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One broken rule.

    Parameters
    ----------
    rule
        The name of the rule, such as ``one-port``.
    message
        What happened, in a sentence with the names and times.
    activities
        The rows of the schedule that are involved.
    times
        The times at which it happened, seconds.
    excess
        By how much the rule is broken, in the unit of the rule (seconds, load, counts).

    >>> import makespan
    >>> tasks = makespan.IndependentTasks(machines=2, durations=[3, 3, 2, 2, 2])
    >>> plan = makespan.solve(tasks).schedule
    >>> shorter = makespan.IndependentTasks(machines=2, durations=[3, 3, 2, 2, 1])
    >>> [found] = makespan.check(shorter, plan).violations
    >>> found.rule, found.excess
    ('work', 1.0)
    """

    rule: str
    message: str
    activities: tuple[int, ...] = ()
    times: tuple[float, ...] = ()
    excess: float = 0.0

    def __str__(self) -> str:
        return one_line(f"{self.rule}: {self.message}")


def broken(
    rule: str, message: str, rows: Iterable[Any] = (), times: Iterable[Any] = (), excess: Any = None
) -> Violation:
    """Return a violation, of numbers of NumPy, too; the excess is that of two times, if omitted."""
    moments = tuple(map(float, times))
    if excess is None:
        excess = abs(moments[1] - moments[0]) if len(moments) == 2 else 0.0
    return Violation(
        rule=rule, message=message, activities=tuple(map(int, rows)), times=moments,
        excess=float(excess),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The referee's verdict: ``ok``, or the violations.

    At most a fixed number of violations of each rule is listed; ``omitted`` counts the others.

    >>> import makespan
    >>> tasks = makespan.IndependentTasks(machines=2, durations=[3, 3, 2, 2, 2])
    >>> report = makespan.check(makespan.solve(tasks))
    >>> report.ok, str(report)
    (True, 'valid, ends at 6')
    """

    violations: tuple[Violation, ...] = ()
    omitted: int = 0
    makespan: float | None = None

    @property
    def ok(self) -> bool:
        return not self.violations

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        if self.ok:
            return "valid" if self.makespan is None else f"valid, ends at {self.makespan:.12g}"
        count = len(self.violations) + self.omitted
        lines = [f"{count} violation{'s' if count > 1 else ''}"]
        lines += [f"  {violation}" for violation in self.violations]
        if self.omitted:
            lines.append(f"  and {self.omitted} more")
        return "\n".join(lines)

    def raise_if_invalid(self) -> None:
        """Raise :class:`InvalidSchedule` with this report unless the schedule is valid."""
        if not self.ok:
            raise InvalidSchedule(f"the schedule is invalid: {self}", self)

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict as it stands in JSON."""
        return {
            "format": REPORT_FORMAT,
            "ok": self.ok,
            "makespan": self.makespan,
            "violations": [asdict(violation) for violation in self.violations],
            "omitted": self.omitted,
        }


class InvalidSchedule(MakespanError):
    """The referee refused a schedule; ``report`` holds its violations.

    ``planned`` says that a method of makespan made it, which is makespan's own mistake.

    >>> import makespan
    >>> tasks = makespan.IndependentTasks(machines=2, durations=[3, 3, 2, 2, 2])
    >>> plan = makespan.solve(tasks).schedule
    >>> shorter = makespan.IndependentTasks(machines=2, durations=[3, 3, 2, 2, 1])
    >>> try:
    ...     makespan.check(shorter, plan).raise_if_invalid()
    ... except makespan.InvalidSchedule as error:
    ...     print([violation.rule for violation in error.report.violations])
    ['work']
    """

    def __init__(
        self, message: str, report: Report | None = None, *, planned: bool = False
    ) -> None:
        super().__init__(message)
        self.report = report
        self.planned = planned
