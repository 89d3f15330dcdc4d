"""Steps of methods that try numbers of rounds."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.steps import Step, number


def log_rounds(control: Control, rounds: int, end: float | None) -> None:
    """Log when a plan of so many rounds would end; None: a chunk of it would be negative."""
    if not control.log_steps:
        return
    said = "a negative chunk" if end is None else f"until {number(end)}"
    control.step(
        Step(
            text=f"rounds {rounds}: {said}",
            cells={"rounds": rounds, "end": "a negative chunk" if end is None else number(end)},
            values={"rounds": rounds} | ({} if end is None else {"end": end}),
        )
    )
