"""Task graphs on machines with prices: the least price by a deadline, by heuristics and exactly.

``python -m benchmarks.prices``: random layered graphs, deadlines as multiples of HEFT's makespan.
"""

from __future__ import annotations

from statistics import mean

from benchmarks.table import Table
from makespan import Network, Result, TaskGraph, solve
from makespan.taskgraph.generate import graphs as generators

CLOUD = Network([1.0, 1.0, 2.0, 2.0, 4.0], price=[1, 1, 3, 3, 9], start_price=[1, 1, 2, 2, 4])
SIZES = (8, 12, 40)
SLACK = (1.1, 1.5, 2.5)
SEEDS, LIMIT = 5, 2.0
HEURISTICS = ("ic-pcp", "loss", "gain", "local-search")


def main() -> None:
    """Print and write the table."""
    table = Table(
        "prices",
        "Task graphs on machines with prices: the least price by a deadline",
        f"{SEEDS} random layered graphs each, communication to computation 0.5, on five machines "
        "of three speeds, the faster the dearer for the same work; deadlines are multiples of the "
        f"makespan of HEFT. `auto` had {LIMIT:g} s. Of the others: how many plans in time they "
        "found, and how much dearer than that of `auto` these are in the mean. `loss` begins with "
        "HEFT's plan.",
        ("tasks", "deadline", "proved", *(f"`{name}`" for name in HEURISTICS)),
        clock="wall-clock time",
    )
    for tasks in SIZES:
        for slack in SLACK:
            proved, over = 0, {name: list[float]() for name in HEURISTICS}
            for seed in range(SEEDS):
                dag = generators.layered(tasks, ccr=0.5, rng=seed)
                fastest = solve(TaskGraph(dag, CLOUD), method="heft").makespan
                assert fastest is not None
                due = slack * fastest
                problem = TaskGraph(dag, CLOUD, deadline=due, objective="price")
                best = solve(problem, time_limit=LIMIT)
                proved += best.status == "optimal"
                for name, found in over.items():
                    plan = solve(problem, method=name, time_limit=LIMIT)
                    if plan.makespan is not None and plan.makespan <= due * (1 + 1e-9):
                        found.append(_price(plan) / _price(best) - 1)
            cells = (
                f"{len(each)} of {SEEDS}, {100 * mean(each):+.1f} %" if each else "none"
                for each in over.values()
            )
            table.add(tasks, f"{slack:g}", f"{proved} of {SEEDS}", *cells)
    table.write()


def _price(result: Result) -> float:
    return float(result.answer["price"])


if __name__ == "__main__":
    main()
