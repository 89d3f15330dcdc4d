"""The errors that makespan raises.

MakespanError
├── InputError (ValueError)       what was given can't be used
│   ├── ProblemError              a problem that breaks its own statement
│   └── FileError                 a file that can't be read or written
├── MethodError                   no such method or option, or it doesn't apply
│   └── TooLarge                  it would take more memory than there is for it
├── MissingExtra (ImportError)    an optional dependency is not installed
├── InvalidSchedule               the referee refused a schedule (in core/report.py)
└── ExecutionError                a plan could not be run to its end

Names and other text of users stand in messages as they were given. Text passes :func:`plain`
wherever it leaves for a reader: a control character would steer the terminal, and a mark that turns
the direction of writing would let a line read as another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, but for tabs and line breaks
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks, overrides and isolates of direction
    "\u2028\u2029\ufeff\ud800-\udfff]"  # other line breaks, byte order marks, half characters
)


def plain(text: str) -> str:
    r"""Return ``text`` with escapes in place of what steers a terminal; line breaks stay.

    The escapes are those of JSON, TOML and Python, so that what is written in these keeps its
    meaning.

    >>> print(plain("\x1b[2Jname"))
    \u001b[2Jname
    """
    return STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def one_line(text: str) -> str:
    r"""Return ``text`` in one line: line breaks and tabs are escaped, too.

    >>> print(one_line("a\nvalid, ends at 4"))
    a\nvalid, ends at 4
    """
    if "\n" in text or "\t" in text:
        text = text.replace("\n", "\\n").replace("\t", "\\t")
    return plain(text)


class PartialExecution(Protocol):
    """What a run on a cluster has brought so far: ``makespan.execute.Execution``.

    Its attributes stand here, as nothing in ``core`` knows an engine.
    """

    @property
    def results(self) -> Any: ...
    @property
    def schedule(self) -> Any: ...
    @property
    def plan(self) -> Any: ...
    @property
    def failures(self) -> tuple[Any, ...]: ...
    @property
    def events(self) -> tuple[str, ...]: ...
    @property
    def seconds(self) -> float: ...
    @property
    def learning(self) -> float: ...
    @property
    def planning(self) -> float: ...
    @property
    def client_map(self) -> float | None: ...
    @property
    def tasks(self) -> int: ...
    @property
    def measured(self) -> float: ...
    @property
    def predicted(self) -> float | None: ...
    @property
    def error(self) -> float | None: ...
    @property
    def errors(self) -> tuple[Any, ...]: ...
    def plot(self, *, legend: bool = True) -> Sequence[Any]: ...
    def to_pandas(self) -> Any: ...


class MakespanError(Exception):
    """Everything that makespan raises on purpose; quoted input can't steer a terminal.

    ``execution`` holds what a run on a cluster had brought when it ended so, an ``Execution`` of
    the engine; else None.

    >>> import makespan
    >>> try:
    ...     makespan.Noise("normal", -1)
    ... except makespan.MakespanError as error:
    ...     print(type(error).__name__)
    ProblemError
    """

    execution: PartialExecution | None = None

    def __str__(self) -> str:
        return plain(super().__str__())


class Mistake(NamedTuple):
    """One thing that is wrong: its ``place``, such as ``platform.load``, and what is allowed."""

    place: str
    message: str

    def __str__(self) -> str:
        return one_line(f"{self.place}: {self.message}" if self.place else self.message)


LONGEST_LINE = 1_000
LONGEST_LIST = 20_000  # characters of a mistake, and of the list of mistakes, that a message shows


class InputError(MakespanError, ValueError):
    """What was given can't be used; ``mistakes`` lists everything that was found.

    The message shows as many of them as anybody would read.

    >>> import makespan
    >>> try:
    ...     makespan.IndependentTasks(machines=0, durations=[3, -2])
    ... except makespan.InputError as error:
    ...     print([mistake.place for mistake in error.mistakes])
    ['machines', 'durations[1]']
    """

    def __init__(self, mistakes: str | Sequence[Mistake], heading: str = "") -> None:
        if isinstance(mistakes, str):
            mistakes = (Mistake("", mistakes),)
        self.mistakes: tuple[Mistake, ...] = tuple(mistakes)
        lines = _lines_of(self.mistakes)
        if len(lines) > 1:
            count = f"{len(self.mistakes)} mistakes"
            lines = [f"{heading}: {count}" if heading else count, *(f"  {line}" for line in lines)]
        elif heading:
            lines = [f"{heading}: {lines[0]}"]
        super().__init__("\n".join(lines))


def _lines_of(mistakes: Sequence[Mistake]) -> list[str]:
    """Return the mistakes in a line each, long ones without their middle, until it is enough."""
    lines: list[str] = []
    length = 0
    for mistake in mistakes:
        line = str(mistake)
        if len(line) > LONGEST_LINE:
            half = LONGEST_LINE // 2
            line = f"{line[:half]} … {line[-half:]}"
        length += len(line)
        if length > LONGEST_LIST:
            lines.append(f"and {len(mistakes) - len(lines)} more")
            break
        lines.append(line)
    return lines


@contextmanager
def headed(heading: str) -> Iterator[None]:
    """Name the file, or what else holds them, above mistakes that are found meanwhile."""
    try:
        yield
    except InputError as error:
        raise type(error)(error.mistakes, heading=heading) from None


class ProblemError(InputError):
    """A problem breaks its own statement; all its mistakes are reported together.

    >>> import makespan
    >>> makespan.IndependentTasks(machines=2, durations=[3, -2])
    Traceback (most recent call last):
        ...
    makespan.core.errors.ProblemError: durations[1]: -2 is negative; a duration is 0 or more seconds
    """


class FileError(InputError):
    """A file can't be read, is not what it claims to be, or can't be written.

    >>> import makespan
    >>> makespan.read_problem("there-is-none.toml")
    Traceback (most recent call last):
        ...
    makespan.core.errors.FileError: there-is-none.toml: there is no such file
    """


class MethodError(MakespanError):
    """There is no such method or option, or the method does not apply to the problem.

    >>> import makespan
    >>> tasks = makespan.IndependentTasks(machines=2, durations=[3, 3, 2, 2, 2])
    >>> try:
    ...     makespan.solve(tasks, method="heft")
    ... except makespan.MethodError as error:
    ...     print(str(error).partition(";")[0])
    there is no method 'heft' for independent problems
    """


class TooLarge(MethodError):
    """What was asked for would take more memory, or time, than there is; nothing was begun."""


class MissingExtra(MakespanError, ImportError):
    """An optional dependency is not installed; the message says which extra brings it.

    >>> import makespan
    >>> issubclass(makespan.MissingExtra, ImportError)
    True
    """


class ExecutionError(MakespanError):
    """A plan could not be run to its end.

    >>> import makespan
    >>> makespan.ExecutionError("two items failed").execution is None
    True
    """
