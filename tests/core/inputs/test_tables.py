"""Lists and tables of machines: what is not one, and what stands in one by mistake."""

from __future__ import annotations

import pytest

from makespan import ProblemError, Star, Tree, TreeNode, Worker

WORKER = Worker(send=1.0, compute=2.0)
ROOT = TreeNode(name="R", compute=1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Star(WORKER), r"platform\.workers: .*not a list of workers"),
        (lambda: Star([WORKER, 3]), r"platform\.workers\[1\]: 3 is not a Worker"),
        (lambda: Tree(ROOT), r"platform\.nodes: .*not a list of nodes"),
        (lambda: Tree([ROOT, "A"]), r"platform\.nodes\[1\]: 'A' is not a TreeNode"),
        (lambda: Tree({"name": "R"}), r"platform\.nodes: .*not a list of nodes"),
    ],
)
def test_what_is_not_a_list_of_machines(make, message):
    """One machine in place of a list, and what is not a machine, are refused by their places."""
    with pytest.raises(ProblemError, match=message):
        make()
