"""Schedules → comma-separated values."""

from __future__ import annotations

import csv
from functools import cache
from io import StringIO

from makespan.core.plain import cell
from makespan.core.schedule import COLUMNS, Schedule


def schedule_as_csv(schedule: Schedule) -> str:
    r"""Return a schedule as a table: one line per activity, names in place of indices.

    Names that a spreadsheet would take for formulas begin with an apostrophe.

    >>> schedule_as_csv(Schedule.of_rows(["A", "B"], [("send", 0, 1, 0, 2.0, 0.0, 2.0)]))
    'kind,machine,peer,item,amount,start,end\nsend,A,B,0,2.0,0.0,2.0\n'
    """
    text = StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    shown = cache(cell)
    for record in schedule.records():
        peer = record["peer"]
        names = {"machine": shown(record["machine"]), "peer": None if peer is None else shown(peer)}
        writer.writerow({**record, **names})
    return text.getvalue()
