"""How five ways of planning fare when durations are not as predicted.

Ten equal workers, 1000 units of load, 20 times as long to compute as to send. Each number is a
mean makespan over many runs, every transfer and computation with a normal error of its own.

    python examples/prediction_errors.py
"""

from __future__ import annotations

from makespan import DivisibleLoad, Star, simulate, solve

ERRORS = (0.0, 0.1, 0.2, 0.3, 0.4)
ROUNDS = 4


def table(repetitions: int = 1000) -> dict[str, tuple[float, ...]]:
    """Return the mean makespan at every error for each way of planning."""
    star = Star.from_arrays(send_per_unit=[0.05] * 10, compute_per_unit=1.0)
    one = solve(DivisibleLoad(load=1000.0, platform=star))
    few = solve(
        DivisibleLoad(load=1000.0, platform=star, rounds=ROUNDS), method="multi-installment"
    )
    open_rounds = DivisibleLoad(load=1000.0, platform=star, rounds="auto")
    plans = {
        "one round": (one, None),
        f"multi-installment, {ROUNDS} rounds": (few, None),
        "factoring": (open_rounds, "factoring"),
        "rumr": (open_rounds, "rumr"),
    }
    return {
        name: tuple(
            simulate(plan, policy=policy, noise=error, repetitions=repetitions).mean
            for error in ERRORS
        )
        for name, (plan, policy) in plans.items()
    }


def main() -> None:
    """Print the table."""
    print(f"{'error':<28}" + "".join(f"{100 * error:>8g} %" for error in ERRORS))
    for name, means in table().items():
        print(f"{name:<28}" + "".join(f"{mean:>10.1f}" for mean in means))


if __name__ == "__main__":
    main()
