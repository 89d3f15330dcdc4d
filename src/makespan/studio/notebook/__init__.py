"""A board in a notebook: the studio's board and player as a widget, what is placed as a result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from makespan.core.inputs.suggest import suggesting
from makespan.core.problem import Problem
from makespan.core.system.startup import optional
from makespan.flow.result import Result

if TYPE_CHECKING:
    from makespan.studio.notebook.widget import Board


@suggesting
def board(problem: Problem | Result) -> Board:
    """Return a board for a notebook, on which plans are placed by hand, shown and played.

    Parameters
    ----------
    problem
        A problem that fits a board; or a result of any kind, whose plan and steps are shown, and
        lie on the board where it can hold them.

    Returns
    -------
    Board
        A widget. ``board.result`` is what is placed as a result, with bound and gap, once the
        referee accepts it; ``board.schedule`` what is placed so far; ``board.report`` what the
        referee says. They are traits: ``board.observe(act, "result")`` calls ``act`` on changes.

    Raises
    ------
    MissingExtra
        If anywidget is not installed.
    ProblemError
        If the problem does not fit a board, with each place that does not.

    >>> import makespan
    >>> board = makespan.board(makespan.IndependentTasks(2, [3, 3, 2, 2, 2]))
    >>> board.result is None  # nothing is placed
    True
    """
    optional("anywidget")
    from makespan.studio.notebook.widget import Board

    return Board(problem)
