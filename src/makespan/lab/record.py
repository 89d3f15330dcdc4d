"""What one solve of an experiment leaves: a row."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from makespan.core.display import cell
from makespan.core.errors import one_line

LONGEST_NOTE = 500


class Record(NamedTuple):
    """How one solve went.

    Attributes
    ----------
    instance
        The name of the problem.
    kind
        Its kind.
    size
        How many tasks it has (workers, nodes or machines where its kind has no tasks).
    method, seed
        What it was solved by.
    options
        Those of the method, as JSON; empty for none.
    time_limit
        The one it was solved with, seconds.
    status
        That of the result: ``optimal``, ``feasible``, ``infeasible``, ``limit``. Without one:
        ``unreadable`` (the instance), ``refused`` (the method does not apply), ``too large``,
        ``failed``; and where solves run in processes of their own ``crashed``, ``killed``,
        ``out of memory``, ``overdue``.
    makespan, bound, gap
        As in the result; None where there is none.
    cpu_time, wall_time
        Seconds, without start-up (imports, compiling).
    peak_memory
        The most that the process held during the solve, bytes, the interpreter and its libraries
        included; in all until then where the system does not tell it apart.
    version
        That of makespan.
    machine
        The name of the computer.
    note
        Why there is no result, or the first thing that the result says.

    >>> import makespan
    >>> asked = makespan.Experiment(makespan.Grid("independent"), methods=["lpt"])
    >>> record = next(makespan.records(asked))
    >>> record.method, record.status, record.size
    ('lpt', 'feasible', 20)
    """

    instance: str
    method: str
    options: str
    seed: int
    time_limit: float | None
    version: str
    machine: str
    status: str
    kind: str = ""
    size: int | None = None
    makespan: float | None = None
    bound: float | None = None
    gap: float | None = None
    cpu_time: float | None = None
    wall_time: float | None = None
    peak_memory: int | None = None
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the row as it stands in files: its texts in one line, harmless in a table."""
        texts = self._replace(note=" ".join(self.note.split())[:LONGEST_NOTE])
        return {name: _text(getattr(texts, name)) for name in COLUMNS}

    @property
    def key(self) -> bytes:
        """What tells this solve from all others of an experiment."""
        return key_of(self.instance, self.method, self.options, self.seed)

    @property
    def solver(self) -> str:
        """The method with its options."""
        return f"{self.method} {self.options}".strip()

    @property
    def is_plan(self) -> bool:
        """Whether the solve brought a plan."""
        return self.status in ("optimal", "feasible")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Record:
        """Return a row of a file, whose values may all be texts.

        Raises
        ------
        KeyError, ValueError, TypeError
            If it is none.
        """
        found: dict[str, Any] = {name: data[name] for name in COLUMNS}
        for name in NUMBERS:
            value = found[name]
            number = int if name in WHOLE else float
            found[name] = None if value is None or value == "" else number(value)
        for name in TEXTS:
            found[name] = str(found[name] or "")
        return cls(**found)


COLUMNS = (
    *("instance", "kind", "size", "method", "options", "seed", "time_limit", "status"),
    *("makespan", "bound", "gap", "cpu_time", "wall_time", "peak_memory"),
    *("version", "machine", "note"),
)
"""The columns, in the order in which they stand in files."""
WHOLE = ("size", "seed", "peak_memory")
NUMBERS = (*WHOLE, "time_limit", "makespan", "bound", "gap", "cpu_time", "wall_time")
TEXTS = tuple(name for name in COLUMNS if name not in NUMBERS)


def key_of(instance: str, method: str, options: str, seed: int) -> bytes:
    """Return what tells one solve from others, the same before it is written and after.

    >>> key_of("=a.toml", "heft", "", 0) == key_of("'=a.toml", "heft", "", 0)
    True
    """
    parts = "\0".join((*map(_text, (instance, method, options)), str(seed)))
    return hashlib.blake2b(parts.encode("utf-8", "replace"), digest_size=16).digest()


def _text(value: Any) -> Any:
    return cell(one_line(value)) if isinstance(value, str) else value
