"""Random problems over all fields: whatever applies plans validly, or says why it can't."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from makespan import DivisibleLoad, Master, MethodError, ProblemError, Star, Worker, methods, solve

OPTIONAL = (  # how often a field is given, and what it may be
    (0.3, "rounds", (2, 3, "auto")),
    (0.1, "use", ("all",)),
    (0.1, "front_end", (False,)),
    (0.1, "integral", (True,)),
    (0.1, "budget", (0, 3, 20)),
    (0.1, "discipline", ("fifo", "lifo")),
    (0.2, "deadline", (1, 10, 40)),
)


class Dice:
    """Seeded choices among Python values."""

    def __init__(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)

    def one_of(self, *values: Any) -> Any:
        return values[int(self.generator.integers(len(values)))]

    def chance(self, share: float) -> bool:
        return bool(self.generator.random() < share)


def random_worker(dice: Dice) -> Worker:
    fields: dict[str, Any] = {
        "send": (dice.one_of(0, 0, 1, 0.5), dice.one_of(0, 1, 1, 2, 0.3)),
        "compute": (dice.one_of(0, 0, 0.5), dice.one_of(0, 1, 2, 5)),
    }
    for share, name, values in (
        (0.2, "return_", ((0, 0.1), (0.2, 1))),
        (0.15, "memory", (0, 1, 3, 8)),
        (0.1, "release", (1, 4)),
        (0.1, "deadline", (3, 30)),
        (0.1, "price", ((1, 0), (1, 1))),
    ):
        if dice.chance(share):
            fields[name] = dice.one_of(*values)
    return Worker(**fields)


def random_master(dice: Dice, ports: Any) -> Master | None:
    if ports == "many" and dice.chance(0.4):
        return Master(sends=dice.one_of(None, 1, 2), uplink=dice.one_of(None, 1.0, 5.0))
    if dice.chance(0.5):
        return Master(compute=dice.one_of(None, 2, (1, 3), 0))
    return None


def random_problem(dice: Dice) -> DivisibleLoad | None:
    """A problem, or None where the fields contradict each other."""
    workers = [random_worker(dice) for _ in range(dice.one_of(0, 1, 2, 3, 4))]
    names = [f"P{index + 1}" for index in range(len(workers))]
    fields: dict[str, Any] = {"ports": dice.one_of(1, 1, 1, 2, "many")}
    for share, name, values in OPTIONAL:
        if dice.chance(share):
            fields[name] = dice.one_of(*values)
    if "deadline" not in fields or dice.chance(0.8):
        fields["load"] = dice.one_of(0, 1, 5, 10, 10.5)
    if names and dice.chance(0.2):
        fields["order"] = [str(name) for name in dice.generator.permutation(names)]
    elif names and dice.chance(0.1):
        fields["activation"] = [dice.one_of(*names) for _ in range(dice.one_of(1, 2, 5))]
        fields.pop("rounds", None)
    try:
        return DivisibleLoad(
            platform=Star(workers, master=random_master(dice, fields["ports"])), **fields
        )
    except ProblemError:
        return None


@pytest.mark.parametrize("seed", range(20))
def test_whatever_applies_plans_validly(seed: int) -> None:
    """Every plan passes the referee (inside solve) and no bound lies above it."""
    dice = Dice(seed)
    for _ in range(12):
        problem = random_problem(dice)
        if problem is None:
            continue
        able = [verdict.name for verdict in methods(problem) if verdict.applies]
        for method in ("auto", *able):
            try:
                result = solve(problem, method=method, time_limit=1)
            except MethodError:
                assert method == "auto"
                continue
            assert str(result)
            if result.makespan is not None and result.lower_bound is not None:
                assert result.lower_bound <= result.makespan * (1 + 1e-9)
