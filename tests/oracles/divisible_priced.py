"""Random small stars whose workers have prices of every form, each goal among them."""

from __future__ import annotations

import random
from typing import Any

from makespan import Affine, DivisibleLoad, Master, Price, ProblemError, Star, Worker

FIXED = (0, 0, 0.25, 0.5, 1, 3)
PER_UNIT = (0.3, 0.5, 1, 1, 2, 3, 5)


def priced_problem(rng: random.Random, objective: str | None = None) -> DivisibleLoad:
    """Return a problem of one to three workers with prices.

    Without an ``objective``: most load by a deadline in half of them, else least makespan within a
    budget, or least price. Fields that contradict each other are drawn anew.
    """
    while True:
        try:
            return _drawn(rng, objective or rng.choice(("load", "load", "makespan", "price")))
        except ProblemError:
            continue


def _drawn(rng: random.Random, objective: str) -> DivisibleLoad:
    count = rng.choice((1, 1, 2, 2, 2, 2, 3))
    fixed, back, windows = rng.random() < 0.5, rng.random() < 0.15, rng.random() < 0.2
    forms = rng.sample(("fixed", "per_unit", "per_second"), rng.randint(1, 3))
    workers = [_worker(rng, forms, fixed=fixed, back=back, windows=windows) for _ in range(count)]
    own = _cost(rng, fixed) if rng.random() < 0.3 else None
    fields: dict[str, Any] = {
        "use": "all" if rng.random() < 0.3 else "any",
        "ports": rng.choice((1, 1, 1, 2)),
        "integral": objective != "pareto" and rng.random() < 0.2,
        "front_end": rng.random() < 0.9,
        "rounds": 2 if count == 1 and rng.random() < 0.3 else 1,
    }
    most = rng.choice((0, 1, 2, 3, 4, 5.5, 6))
    if objective == "load":
        fields["deadline"] = rng.choice((0, 1, 3, 7.5, 10, 20))
    else:
        fields |= {"load": int(most) if fields["integral"] else most, "objective": objective}
        if rng.random() < 0.3:
            fields["deadline"] = rng.choice((3, 7.5, 10, 20))
    if rng.random() < (0.8 if objective in ("load", "makespan") else 0.2):
        fields["budget"] = rng.choice((0, 2, 5, 8, 10, 20))
    if rng.random() < 0.15:
        fields["order"] = rng.sample([f"P{index + 1}" for index in range(count)], count)
    return DivisibleLoad(platform=Star(workers, master=Master(compute=own)), **fields)


def _cost(rng: random.Random, fixed: bool) -> Affine:
    return Affine(rng.choice(FIXED) if fixed else 0, rng.choice(PER_UNIT))


def _worker(
    rng: random.Random, forms: list[str], *, fixed: bool, back: bool, windows: bool
) -> Worker:
    price = {form: rng.choice((0, 0.5, 1, 2, 4)) for form in forms}
    fields: dict[str, Any] = {}
    for share, name, values in (
        (0.3, "memory", (0.5, 1, 2, 3.5)),
        (0.3, "release", (1, 4)),
        (0.3, "deadline", (2, 6, 15)),
    ):
        if windows and rng.random() < share:
            fields[name] = rng.choice(values)
    return Worker(
        send=_cost(rng, fixed),
        compute=_cost(rng, fixed),
        return_=_cost(rng, fixed) if back else None,
        price=Price(**{"fixed": 0, "per_unit": 0, **price}),
        **fields,
    )
