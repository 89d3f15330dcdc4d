"""One solve that may fail: what it brought, or why it brought nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from makespan.core.control import Control
from makespan.core.errors import MakespanError, MethodError, TooLarge
from makespan.core.problem import Problem
from makespan.flow.result import Result
from makespan.flow.solve import GAP_LEFT, INSTEAD, solve_controlled

if TYPE_CHECKING:
    import numpy as np


class Attempt(NamedTuple):
    """What one solve brought.

    ``status`` is that of the result; where there is none, ``refused`` (the method does not apply),
    ``too large`` or ``failed``, and ``note`` says why. ``seconds`` leave out start-up.
    """

    result: Result | None
    status: str
    note: str
    seconds: float
    interrupted: bool


def attempt(
    problem: Problem,
    method: str,
    *,
    time_limit: float | None,
    rng: int | np.random.Generator | None,
    options: Mapping[str, Any] | None = None,
    make: Callable[..., Control] = Control,
) -> Attempt:
    """Solve a problem by a method; whatever goes wrong is told, not raised.

    ``make`` gives the control, of which the caller may keep hold.
    """
    control = make(time_limit=time_limit, rng=rng)
    result = None
    try:
        result = solve_controlled(problem, control, method=method, **(options or {}))
        status, note = str(result.status), _note(result, method)
    except TooLarge as error:
        status, note = "too large", str(error)
    except MethodError as error:
        status, note = "refused", str(error)
    except MakespanError as error:
        status, note = "failed", str(error)
    except Exception as error:
        status, note = "failed", f"internal error: {type(error).__name__}: {error}"
    return Attempt(result, status, note, control.elapsed, control.interrupted)


def _note(result: Result, method: str) -> str:
    """Return the first note that says more than why a gap is left, or what to ask for instead,
    after who found the plan.
    """
    note = next((note for note in result.notes if not note.startswith((GAP_LEFT, INSTEAD))), "")
    if result.method != method:
        note = f"by {result.method}" + (f"; {note}" if note else "")
    return note
