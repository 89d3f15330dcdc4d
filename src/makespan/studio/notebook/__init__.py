"""A board in a notebook: the studio's board and player as a widget, and what is placed as a result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from makespan.core.inputs.suggest import suggesting
from makespan.core.problem import Problem
from makespan.core.system.startup import optional
from makespan.flow.result import Result

if TYPE_CHECKING:
    from makespan.studio.notebook.widget import Board


@suggesting
def board(thing: Problem | Result) -> Board:
    """Return a board for a notebook, on which a plan is placed by hand, shown and played.

    Needs the extra ``notebook``. The widget works wherever anywidget does: JupyterLab, marimo, VS
    Code.

    Parameters
    ----------
    thing
        A problem that fits a board; or a result of any kind, whose plan and steps are shown, and
        lie on the board where it can hold them.

    Returns
    -------
    Board
        ``board.result`` is the plan as a result, once the referee accepts it. ``board.schedule`` is
        what is placed so far, ``board.report`` what the referee says of it. All three are traits:
        ``board.observe(act, "result")`` calls ``act`` when it changes.

    Raises
    ------
    MissingExtra
        If anywidget is not installed.
    ProblemError
        If the problem does not fit a board: a task graph on a network that is not complete or has
        contention, a load on trees, from several sources, with returns or in rounds, a collective
        on a network, a pipeline, more than 200 tasks or machines.

    >>> import makespan
    >>> board = makespan.board(makespan.IndependentTasks(2, [3, 3, 2, 2, 2]))  # doctest: +SKIP
    >>> board.result.makespan, board.result.gap  # once all tasks are placed  # doctest: +SKIP
    (7.0, 0.14285714285714285)
    """
    optional("anywidget")
    from makespan.studio.notebook.widget import Board

    return Board(thing)
