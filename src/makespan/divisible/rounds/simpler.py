"""A problem said more simply: limits of the links that hold anyway, or that make them one port."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from makespan.divisible.model.machines import Master
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing.dispatch import returns_in_turn, sends_in_turn


def simpler(problem: DivisibleLoad) -> DivisibleLoad:
    """Return a problem with the same plans, the limits of whose links all matter.

    An uplink that carries all links at once is none, nor is a limit of as many sends as there are
    workers. One send at a time, where nothing returns, is one port.

    >>> from makespan import Star, Worker
    >>> star = Star([Worker(send=1.0, compute=2.0)] * 2, master=Master(sends=1))
    >>> simpler(DivisibleLoad(load=3.0, platform=star, ports="many")).ports
    1
    """
    if not problem.is_star or problem.ports != "many" or problem.transfers is not None:
        return problem
    star, master = problem.star, problem.star.master
    if not isinstance(master, Master):
        return problem
    most = min(len(star), master.sends or len(star))
    sends = master.sends if most < len(star) else None
    uplink = master.uplink
    if uplink is not None:
        with np.errstate(divide="ignore"):
            rates = np.sort(1.0 / star.send_per_unit)[::-1]
        uplink = uplink if rates[:most].sum() > uplink else None
    ports: Literal[1, "many"] = "many"
    if sends == 1 and uplink is None and not problem.has_returns:
        ports, sends = 1, None
    if (ports, sends, uplink) == (problem.ports, master.sends, master.uplink):
        return problem
    changed = star.changed(master=replace(master, sends=sends, uplink=uplink))
    found = replace(problem, platform=changed, ports=ports)
    return found if ports == 1 or _in_turn(found) == _in_turn(problem) else problem


def _in_turn(problem: DivisibleLoad) -> tuple[bool, bool]:
    """Return whether sends, and whether returns, have to begin in a certain order."""
    return sends_in_turn(problem), returns_in_turn(problem)
