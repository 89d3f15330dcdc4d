"""Valid schedules, broken in every way, before the referee and before its slow twin."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from makespan import DivisibleLoad, ProblemError, Schedule
from makespan.core.schedule import COLUMNS, WORDS
from makespan.divisible.model.machines import Master
from makespan.divisible.model.platform import NUMBERS, Star
from makespan.divisible.referee import violations
from tests.oracles.divisible_instances import instance
from tests.oracles.divisible_rules import broken_rules
from tests.thorough import up_to

SEEDS = range(300)
Columns = dict[str, Any]


def named(problem: DivisibleLoad, schedule: Schedule) -> set[str]:
    return {violation.rule for violation in violations(problem, schedule)}


def shifted(columns: Columns, rng: random.Random, row: int, by: float) -> None:
    by = max(by, -columns["start"][row])
    columns["start"][row] += by
    columns["end"][row] += by


def earlier(columns: Columns, rng: random.Random, row: int) -> None:
    shifted(columns, rng, row, -rng.uniform(0.01, 3.0))


def later(columns: Columns, rng: random.Random, row: int) -> None:
    shifted(columns, rng, row, rng.uniform(0.01, 3.0))


def barely_later(columns: Columns, rng: random.Random, row: int) -> None:
    shifted(columns, rng, row, 1e-12 * columns["end"].max())


def a_bit_later(columns: Columns, rng: random.Random, row: int) -> None:
    shifted(columns, rng, row, 1e-7 * columns["end"].max())


def overlapping(columns: Columns, rng: random.Random, row: int) -> None:
    other = rng.randrange(len(columns["start"]))
    shifted(columns, rng, row, columns["start"][other] - columns["start"][row])


def shortened(columns: Columns, rng: random.Random, row: int) -> None:
    columns["end"][row] -= 0.3 * (columns["end"][row] - columns["start"][row])


def lengthened(columns: Columns, rng: random.Random, row: int) -> None:
    columns["end"][row] += 0.3


def dropped(columns: Columns, rng: random.Random, row: int) -> None:
    for name in COLUMNS:
        columns[name] = np.delete(columns[name], row)


def dropped_chunk(columns: Columns, rng: random.Random, row: int) -> None:
    kept = columns["item"] != columns["item"][row]
    for name in COLUMNS:
        columns[name] = columns[name][kept]


def duplicated(columns: Columns, rng: random.Random, row: int) -> None:
    for name in COLUMNS:
        columns[name] = np.append(columns[name], columns[name][row])


def other_amount(columns: Columns, rng: random.Random, row: int) -> None:
    columns["amount"][row] = rng.choice([0.0, 0.5, 1.0, 1.5]) * columns["amount"][row]


def other_amount_of_chunk(columns: Columns, rng: random.Random, row: int) -> None:
    columns["amount"][columns["item"] == columns["item"][row]] += rng.choice([0.5, 1.0])


def other_machine(columns: Columns, rng: random.Random, row: int) -> None:
    columns["machine"][row] = rng.randrange(columns["machine"].max() + 1)


def other_peer(columns: Columns, rng: random.Random, row: int) -> None:
    columns["peer"][row] = rng.randrange(-1, columns["machine"].max() + 1)


def other_kind(columns: Columns, rng: random.Random, row: int) -> None:
    columns["kind"][row] = rng.randrange(len(WORDS))


def other_item(columns: Columns, rng: random.Random, row: int) -> None:
    columns["item"][row] = rng.choice([-1, 0, 1, 100, 200])


def swapped(columns: Columns, rng: random.Random, row: int, names: tuple[str, ...]) -> None:
    alike = np.flatnonzero(columns["kind"] == columns["kind"][row])
    other = int(rng.choice(alike.tolist()))
    for name in names:
        columns[name][[row, other]] = columns[name][[other, row]]


def swapped_items(columns: Columns, rng: random.Random, row: int) -> None:
    swapped(columns, rng, row, ("item",))


def swapped_order(columns: Columns, rng: random.Random, row: int) -> None:
    swapped(columns, rng, row, ("start", "end"))


def swapped_workers(columns: Columns, rng: random.Random, row: int) -> None:
    swapped(columns, rng, row, ("machine", "peer"))


MUTATIONS = (
    earlier, later, barely_later, a_bit_later, overlapping, shortened, lengthened, dropped,
    dropped_chunk, duplicated, other_amount, other_amount_of_chunk, other_machine, other_peer,
    other_kind, other_item, swapped_items, swapped_order, swapped_workers,
)  # fmt: skip


def mutated(schedule: Schedule, mutation: Any, rng: random.Random) -> Schedule:
    columns = {name: getattr(schedule, name).copy() for name in COLUMNS}
    mutation(columns, rng, rng.randrange(len(schedule)))
    return Schedule.of_columns(schedule.machines, **columns)


def with_master(problem: DivisibleLoad, **changes: Any) -> DivisibleLoad:
    star = problem.platform
    columns = {name: getattr(star, name) for name in NUMBERS}
    master = replace(star.master, **changes)
    return replace(problem, platform=Star.from_arrays(**columns, names=star.names, master=master))


def with_column(problem: DivisibleLoad, name: str, values: Any) -> DivisibleLoad:
    star = problem.platform
    columns = {column: getattr(star, column) for column in NUMBERS}
    columns[name] = np.maximum(values, 0.0)
    platform = Star.from_arrays(**columns, names=star.names, master=star.master)
    return replace(problem, platform=platform)


def restated(problem: DivisibleLoad, rng: random.Random) -> DivisibleLoad:
    """Return another problem that the same schedule may or may not solve."""
    star = problem.platform
    names = list(star.names)
    order = tuple(rng.sample(names, len(names)))
    changes: list[Any] = [
        lambda: replace(problem, ports=rng.choice([1, 2, "many"])),
        lambda: replace(problem, front_end=not problem.front_end),
        lambda: replace(problem, integral=not problem.integral),
        lambda: replace(problem, rounds=rng.choice([1, 2, 3, "auto"])),
        lambda: replace(problem, order=order),
        lambda: replace(problem, return_order=order, discipline=None),
        lambda: replace(problem, discipline=rng.choice(["fifo", "lifo"]), return_order=None),
        lambda: replace(problem, use="all"),
        lambda: replace(problem, activation=None),
        lambda: replace(
            problem, activation=tuple(rng.sample(problem.activation, len(problem.activation)))
        ),
        lambda: replace(
            problem, transfers=tuple(rng.sample(problem.transfers, len(problem.transfers)))
        ),
        lambda: replace(problem, deadline=rng.uniform(0.5, 1.1) * 20),
        lambda: replace(problem, budget=rng.uniform(0.0, 12.0)),
        lambda: replace(problem, loads=None, load=(problem.load or 1.0) * rng.choice([0.9, 1.1])),
        lambda: replace(problem, loads=dict(zip(problem.loads, rng.sample(
            list(problem.loads.values()), len(problem.loads)), strict=True))),
        lambda: with_column(problem, "memory", star.memory * 0.8),
        lambda: with_column(problem, "release", star.release + 1.0),
        lambda: with_column(problem, "deadline", star.deadline * 0.9),
        lambda: with_column(problem, "return_per_unit", star.return_per_unit * 0),
        lambda: with_column(problem, "compute_fixed", star.compute_fixed + 0.25),
        lambda: with_master(problem, compute=None),
        lambda: with_master(problem, sends=rng.randint(1, 2)),
        lambda: with_master(problem, uplink=rng.uniform(0.2, 2.0)),
    ]  # fmt: skip
    while True:
        try:
            return rng.choice(changes)()
        except (ProblemError, TypeError, AttributeError):
            continue  # a combination that is no problem


@pytest.mark.parametrize("seed", SEEDS)
def test_the_builder_and_both_referees_agree_on_valid_schedules(seed: int) -> None:
    """A schedule built by the rules is accepted by the referee and by its twin."""
    problem, schedule = instance(seed)
    assert broken_rules(problem, schedule) == set()
    assert [str(violation) for violation in violations(problem, schedule)] == []


@pytest.mark.parametrize("count", up_to(25, 75))
@pytest.mark.parametrize("mutation", MUTATIONS)
def test_mutated_schedules(mutation: Any, count: int) -> None:
    """The referee breaks the same rules as its twin when a schedule is mutated."""
    seen: Counter[bool] = Counter()
    for seed in SEEDS[:: len(SEEDS) // count]:
        problem, schedule = instance(seed)
        if not len(schedule):
            continue
        changed = mutated(schedule, mutation, random.Random(seed))
        wanted = broken_rules(problem, changed)
        assert named(problem, changed) == wanted, seed
        seen[bool(wanted)] += 1
    assert seen[mutation is not barely_later] > 0


def test_doubly_mutated_schedules() -> None:
    """Both agree on schedules that are broken twice; every rule on rows is broken."""
    rng = random.Random(1)
    seen: Counter[str] = Counter()
    for seed in SEEDS:
        problem, schedule = instance(seed)
        for _ in range(2):
            if len(schedule):
                schedule = mutated(schedule, rng.choice(MUTATIONS), rng)
        wanted = broken_rules(problem, schedule)
        assert named(problem, schedule) == wanted, seed
        seen.update(wanted)
    assert set(seen) >= {
        "kind", "route", "chunk", "machine", "amount", "duration", "precedence", "processor",
        "one-port", "two-port", "link", "conservation",
    }  # fmt: skip


@pytest.mark.parametrize("count", up_to(200, 300))
def test_restated_problems(count: int) -> None:
    """Both agree on whether a valid schedule solves another problem; every rule is broken."""
    rng = random.Random(2)
    seen: Counter[str] = Counter()
    for seed in SEEDS[:count]:
        problem, schedule = instance(seed)
        for _ in range(6):
            other = restated(problem, rng)
            wanted = broken_rules(other, schedule)
            assert named(other, schedule) == wanted, seed
            seen.update(wanted or {"none"})
    assert set(seen) >= {
        "none", "one-port", "two-port", "sends", "uplink", "front-end", "rounds", "order",
        "activation", "return-order", "transfers", "discipline", "use", "memory", "release",
        "worker-deadline", "deadline", "budget", "loads", "conservation", "integral", "duration",
        "chunk", "master", "empty",
    }  # fmt: skip


def test_level_sends_fit_any_order() -> None:
    """Sends that start together on links of their own stand in every order at once."""
    master = Master(compute=None)
    star = Star.from_arrays(send_per_unit=[3.0, 2.0, 1.0], compute_per_unit=1.0, master=master)
    rows = []
    for worker, seconds in ((1, 3.0), (2, 2.0), (3, 1.0)):
        rows.append(("send", 0, worker, worker, 1.0, 0.0, seconds))
        rows.append(("compute", worker, -1, worker, 1.0, seconds, seconds + 1.0))
    schedule = Schedule.of_rows(["P0", "P1", "P2", "P3"], rows)
    for order in (("P1", "P2", "P3"), ("P3", "P1", "P2")):
        problem = DivisibleLoad(load=3.0, platform=star, ports="many", order=order)
        assert named(problem, schedule) == broken_rules(problem, schedule) == set()
