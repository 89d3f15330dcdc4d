"""The referee for divisible loads: what in a schedule breaks the statement of the problem.

It knows the statement and nothing of the solvers. Each file holds the rules of one concern; a
rule is a function from a :class:`Reading` to violations. Times are compared to within 1e-9 of
the makespan, amounts to within 1e-9 of the load. Idle time is legal.
"""

from collections.abc import Iterator

import numpy as np

from makespan.core.report import Violation
from makespan.core.schedule import Activity, Schedule
from makespan.divisible.model.sources import Sources
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.referee import chunks, resources, times, turns
from makespan.divisible.referee.one_pass import faultless_parts, reading_of, rules_beyond
from makespan.divisible.referee.reading import Reading
from makespan.divisible.referee.sources import sources_violations
from makespan.divisible.referee.trees import tree_violations

STAR_RULES = (*chunks.RULES, *times.RULES, *resources.RULES, *chunks.AMOUNTS, *turns.RULES)


def violations(problem: DivisibleLoad, schedule: Schedule) -> Iterator[Violation]:
    """Yield everything in ``schedule`` that breaks the statement of ``problem``.

    ``problem``: the problem. ``schedule``: the schedule; its machines are matched by name. Its rows
    are activities: finite times from 0, no end before its start, no machine that the problem does
    not name. Complexity: O(rows log rows), vectorised; linear where chunks are numbered and listed
    in the order of sending; in one compiled pass where each is of another worker and nothing is
    wrong.

    >>> from makespan import DivisibleLoad, Schedule, Star, Worker
    >>> star = Star([Worker(send=1.0, compute=3.0)])
    >>> rows = [("send", 0, 1, 0, 2.0, 0.0, 2.0), ("compute", 1, -1, 0, 2.0, 1.0, 7.0)]
    >>> early = Schedule.of_rows(["P0", "P1"], rows)
    >>> print(*violations(DivisibleLoad(load=2.0, platform=star), early), sep="; ")
    precedence: P1 computes chunk 0 from 1, but it arrives at 2
    """
    if isinstance(problem.platform, Sources):
        yield from sources_violations(problem, schedule.renamed(problem.machines))
        return
    if not problem.is_star:
        yield from tree_violations(problem, schedule.renamed(problem.machines))
        return
    if problem.chooses_master:
        # where none sends, the first that computes is the master
        sending = np.unique(schedule.machine[schedule.kind == Activity.SEND])
        if not len(sending):
            sending = schedule.machine[schedule.rows_of(Activity.COMPUTE)][:1]
        senders = [schedule.machines[index] for index in sending.tolist()]
        if len(senders) > 1:
            names = ", ".join(senders)
            yield Violation(rule="master", message=f"{names} all send; one machine is the master")
            return
        name = senders[0] if senders else problem.machines[0]
        problem = problem.with_master(list(problem.machines).index(name))
    schedule = schedule.renamed(problem.machines)
    parts = faultless_parts(problem, schedule)
    rules = STAR_RULES if parts is None else rules_beyond(problem, STAR_RULES)
    if rules:
        reading = (
            Reading.of(problem, schedule) if parts is None else reading_of(problem, schedule, parts)
        )
        for rule in rules:
            yield from rule(reading)
