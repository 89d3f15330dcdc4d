"""Schedules → comma-separated values."""

from __future__ import annotations

import csv
from io import StringIO

from makespan.core.schedule import COLUMNS, Schedule


def schedule_as_csv(schedule: Schedule) -> str:
    r"""Return a schedule as a table: one line per activity, names in place of indices.

    >>> schedule_as_csv(Schedule.of_rows(["A", "B"], [("send", 0, 1, 0, 2.0, 0.0, 2.0)]))
    'kind,machine,peer,item,amount,start,end\nsend,A,B,0,2.0,0.0,2.0\n'
    """
    text = StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(schedule.records())
    return text.getvalue()
