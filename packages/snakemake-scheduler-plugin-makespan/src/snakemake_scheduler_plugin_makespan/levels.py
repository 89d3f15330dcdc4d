"""Bottom levels: the seconds of the longest path from a job to the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Graph = tuple[list[Any], list[list[int]]]


def graph_of(jobs: Iterable[Any], dependencies: Callable[[Any], Iterable[Any]]) -> Graph:
    """Return the jobs, each before those that it depends on, and the places of the latter.

    Jobs on a circle, which Snakemake refuses, are left out.
    """
    numbers = {job: place for place, job in enumerate(dict.fromkeys(jobs))}
    found = list(numbers)
    needs = [[numbers[each] for each in dependencies(job) if each in numbers] for job in found]
    dependents = [0] * len(found)
    for places in needs:
        for place in places:
            dependents[place] += 1
    order = [place for place, count in enumerate(dependents) if not count]
    for place in order:  # grows while it is read
        for each in needs[place]:
            dependents[each] -= 1
            if not dependents[each]:
                order.append(each)
    turned = {place: position for position, place in enumerate(order)}
    return (
        [found[place] for place in order],
        [[turned[each] for each in needs[place] if each in turned] for place in order],
    )


def tails_of(needs: list[list[int]], seconds: list[float]) -> list[float]:
    """Return the longest path of each job without the job itself: what waits for its end."""
    tails = [0.0] * len(needs)
    for place, each in enumerate(needs):
        level = tails[place] + seconds[place]
        for need in each:
            tails[need] = max(tails[need], level)
    return tails
