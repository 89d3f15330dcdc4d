"""Redraw figures of a report on installments with affine costs and output, from plans.

Y. Yang and H. Casanova, Extensions to the Multi-Installment Algorithm: Affine Costs and Output
Data Transfers, 2003: figures 2 and 3 (chunks without and with latencies), 5 (input and output on
one channel), 6 (threshold of full use), 7 (chunks of many rounds), 8 (two channels).

    python examples/yang_casanova_2003.py FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

from makespan import DivisibleLoad, Result, Star, solve
from makespan.divisible import output_rounds, threshold


def equal_workers(count: int, **costs: float) -> Star:
    """Return equal workers; a unit of load takes a second to compute."""
    send = costs.pop("send_per_unit", 0.0)
    return Star.from_arrays(send_per_unit=[send] * count, compute_per_unit=1.0, **costs)


def plans() -> dict[str, Result]:
    """Return the plans of the Gantt charts by figure."""
    linear = equal_workers(5, send_per_unit=1 / 8)
    affine = equal_workers(5, send_per_unit=1 / 8, send_fixed=0.3, compute_fixed=0.5)
    both = equal_workers(5, send_per_unit=1 / 14, return_per_unit=1 / 14)
    more_input = equal_workers(3, send_per_unit=0.5, return_per_unit=0.2)
    more_output = equal_workers(3, send_per_unit=0.2, return_per_unit=0.5)
    return {
        "2": solve(DivisibleLoad(load=100.0, platform=linear, rounds=3)),
        "3": solve(DivisibleLoad(load=100.0, platform=affine, rounds=3)),
        "5": solve(
            DivisibleLoad(load=100.0, platform=both, rounds=3), method="multi-installment-output"
        ),
        "8a": solve(DivisibleLoad(load=60.0, platform=more_input, rounds=3, ports=2)),
        "8b": solve(DivisibleLoad(load=60.0, platform=more_output, rounds=3, ports=2)),
    }


def thresholds(workers: range, rounds: range) -> dict[int, list[tuple[float, float]]]:
    """Return R* of figure 6 in both readings: all chunks positive, and a schedule at that."""
    found = {count: [threshold(count, number) for number in rounds] for count in workers}
    return {count: [(each.positive, each.feasible) for each in row] for count, row in found.items()}


def main(folder: str, *, most_workers: int = 10, most_rounds: int = 20) -> None:
    """Write all figures as SVG."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for name, result in plans().items():
        figure, ax = plt.subplots(figsize=(9, 4))
        result.plot(ax=ax)
        figure.savefig(place / f"figure_{name}.svg")
        plt.close(figure)

    rounds = range(1, most_rounds + 1)
    figure, ax = plt.subplots()
    for count, row in thresholds(range(5, most_workers + 1), rounds).items():
        line = ax.plot(rounds, [feasible for _, feasible in row], label=f"N = {count}")[0]
        ax.plot(rounds, [positive for positive, _ in row], "--", color=line.get_color())
    ax.set(
        xlabel="rounds M", ylabel="R*", title="Full use: a schedule (solid), chunks > 0 (dashed)"
    )
    ax.legend()
    figure.savefig(place / "figure_6.svg")
    plt.close(figure)

    figure, ax = plt.subplots()
    ax.plot(output_rounds(10, 50, 1.0, sends=1 / 20, returns=1 / 20).chunks)
    ax.set(
        xlabel="chunk, numbered backwards",
        ylabel="share of the load",
        title="N = 10, M = 50, R = 20",
    )
    figure.savefig(place / "figure_7.svg")
    plt.close(figure)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "yang_casanova_2003")
