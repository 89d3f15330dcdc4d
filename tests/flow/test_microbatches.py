"""Training steps on a pipeline's plan: orders, what they take, and their bubbles."""

from __future__ import annotations

import pytest

from makespan import (
    IndependentTasks,
    Interconnect,
    Pipeline,
    bubble,
    check,
    microbatches,
    simulate,
    solve,
)
from makespan.core.errors import InputError

EQUAL = solve(Pipeline([1.0] * 4, machines=4))
UNLIKE = solve(
    Pipeline(
        {"work": [2.0, 3.0, 4.0, 3.0], "data": 1.0},
        Interconnect(3, rate=8.0, latency=0.1),
        speeds=[1.0, 2.0, 2.0],
    )
)


@pytest.mark.parametrize("order", ["gpipe", "1f1b"])
@pytest.mark.parametrize("count", [1, 3, 8])
def test_the_bubble_of_equal_stages(order: str, count: int) -> None:
    """Of K equal stages and m micro-batches it is (K - 1) / (m + K - 1)."""
    plan = solve(microbatches(EQUAL, count, order=order))
    assert plan.makespan == pytest.approx(3.0 * (count + 3))
    assert bubble(plan) == pytest.approx(3 / (count + 3))


def test_zero_bubble_is_shorter() -> None:
    """Weights fill bubbles of 1F1B; what is left is (K - 1) (F + B - W) at least."""
    plan = solve(microbatches(EQUAL, 8, order="zero-bubble"))
    assert plan.makespan < solve(microbatches(EQUAL, 8)).makespan
    assert plan.makespan >= 3 * 8 + 3.0 * 1.0


@pytest.mark.parametrize("order", ["gpipe", "1f1b", "zero-bubble"])
def test_unlike_machines(order: str) -> None:
    """The given plans are valid, disturbed, too, and a micro-batch waits for its transfers."""
    step = microbatches(UNLIKE, 5, order=order, backward=1.5)
    plan = solve(step)
    assert check(plan).ok
    assert 0.0 < bubble(plan) < 1.0
    assert simulate(plan, noise=0.1, repetitions=20).mean > 0.9 * plan.makespan


@pytest.mark.parametrize("count", [2, 6])
def test_memory_in_flight(count: int) -> None:
    """With 1F1B, interval s of K holds K - s + 1 micro-batches at most, with GPipe all."""
    for order, most in (
        ("1f1b", [4, 3, 2, 1]),
        ("zero-bubble", [4, 3, 2, 1]),
        ("gpipe", [count] * 4),
    ):
        sequence = microbatches(EQUAL, count, order=order).sequence
        for row, limit in zip(sequence.values(), most, strict=True):
            held = greatest = 0
            for task in row:
                held += {"F": 1, "B": -1, "W": 0}[task[0]]
                greatest = max(greatest, held)
            assert greatest <= limit
            assert held == 0


def test_a_free_order_is_no_longer() -> None:
    """Without an order, solve finds one that is no longer than 1F1B."""
    free = solve(microbatches(EQUAL, 3, order="free"), time_limit=2)
    assert free.makespan <= solve(microbatches(EQUAL, 3)).makespan * (1 + 1e-9)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: microbatches(EQUAL, 0), "count: 0 is below 1"),
        (lambda: microbatches(EQUAL, 2, order="1f1b1"), "did you mean '1f1b'"),
        (lambda: microbatches(EQUAL, 2, backward=-1.0), "backward: -1.0 is negative"),
        (lambda: microbatches(solve(IndependentTasks(2, [1.0])), 2), "need the plan of a pipeline"),
        (lambda: microbatches(solve(Pipeline([1.0], 2, replicas=2)), 2), "one machine for each"),
    ],
)  # fmt: skip
def test_mistakes(make: object, said: str) -> None:
    """What is not allowed is named."""
    with pytest.raises(InputError) as error:
        make()
    assert said in str(error.value)
