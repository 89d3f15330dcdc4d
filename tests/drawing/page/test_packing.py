"""Long columns of pages, and what is inside of them."""

import json
import re

import numpy as np

from makespan import Partition, solve
from makespan.drawing.page.html import SHORT, Packing
from makespan.flow.plot import html


def test_columns_inside_of_long_lists_are_lists() -> None:
    """Plans of many points hold columns of numbers: a list of them is written as it is read."""
    packing = Packing()
    plans = [{"end": np.arange(3.0), "who": np.array([index])} for index in range(SHORT + 1)]
    reference = packing.packed({"plans": plans})["plans"]
    assert (reference["packed"], reference["count"]) == ("json", len(plans))
    written = json.loads(packing._parts[0])
    assert written[7] == {"end": [0.0, 1.0, 2.0], "who": [7]}


def test_a_front_of_more_points_than_a_short_column_has_a_page() -> None:
    """Of two resources, each task that moves to the cheap one is a point."""
    tasks = SHORT + 20
    count = np.arange(tasks + 1.0)
    costs, energy = [count, 100.0 * count], [50.0 * count, count]
    result = solve(Partition(tasks=tasks, costs=costs, energy=energy, objective="pareto"))
    assert len(result.details["front"]) > SHORT
    page = html(result)
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    assert json.loads(data[1])["charts"]
