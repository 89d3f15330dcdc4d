"""Lines of step logs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from makespan.core.control import Control


class Steps:
    """The steps of a method: a line of text each for people, and a record for programs.

    Nothing is kept unless ``control`` keeps a log.
    """

    def __init__(self, control: Control) -> None:
        self.wanted = control.log_steps
        self._control = control
        self.records: list[dict[str, Any]] = []

    def add(self, text: str, **record: Any) -> None:
        """Add a step."""
        if self.wanted:
            self._control.step(text)
            self.records.append(record)

    def details(self) -> dict[str, Any]:
        """Return the records as ``details`` of a solution, where any are kept."""
        return {"log": self.records} if self.wanted else {}


def number(value: float) -> str:
    """Return a number as it is shown in a log: short, ``14`` for 14.0."""
    return f"{value:.10g}"


def listed(parts: Iterable[str]) -> str:
    """Return the parts separated by commas; a dash for none."""
    return ", ".join(parts) or "–"


def braced(names: Iterable[str]) -> str:
    """Return the names of a cluster."""
    return f"{{{' '.join(names)}}}"
