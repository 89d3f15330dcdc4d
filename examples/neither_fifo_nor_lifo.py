"""How often is neither FIFO nor LIFO optimal, where results return in one round?

Random linear stars with one port: costs per unit are whole numbers from 1 to 10 for sending (c)
and computing (w), and returns cost d = z c or are drawn like c. For each star, the best plan that
returns first in, first out, the best that returns last in, first out, and the best of all pairs of
orders are compared.

    python examples/neither_fifo_nor_lifo.py [stars]
"""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np

from makespan import DivisibleLoad, Star, solve

STARS = 100
ROWS = ((2, None), (3, 0.5), (3, 1.0), (3, 2.0), (3, None), (4, None))
CLOSE = 1e-9


def random_star(generator: np.random.Generator, workers: int, ratio: float | None) -> Star:
    """Draw a star; ``ratio`` is z, None for return costs of their own."""
    send, compute, back = generator.integers(1, 11, (3, workers)).astype(float)
    back = back if ratio is None else ratio * send
    return Star.from_arrays(send_per_unit=send, compute_per_unit=compute, return_per_unit=back)


def winner(star: Star) -> tuple[str, float]:
    """Return which discipline is optimal, and how much longer the better of both takes."""
    ends = [
        solve(DivisibleLoad(load=1.0, platform=star, discipline=discipline), method=method).makespan
        for discipline, method in (("fifo", "fifo"), ("lifo", "lifo"), (None, "return-orders"))
    ]
    fifo, lifo, best = (end or 0.0 for end in ends)
    first, last = (end <= best * (1 + CLOSE) for end in (fifo, lifo))
    name = {(True, True): "both", (True, False): "fifo", (False, True): "lifo"}
    return name.get((first, last), "neither"), min(fifo, lifo) / best - 1


def main(stars: int) -> None:
    """Print one row for each size and ratio."""
    print(f"{stars} random stars a row")
    print(
        f"{'workers':>7} {'returns':>8} {'FIFO':>6} {'LIFO':>6} {'both':>6} {'neither':>8}  worst"
    )
    for workers, ratio in ROWS:
        generator = np.random.default_rng(2024)
        found = [winner(random_star(generator, workers, ratio)) for _ in range(stars)]
        count = Counter(name for name, _ in found)
        worst = max(loss for _, loss in found)
        returns = "any" if ratio is None else f"{ratio:g} c"
        cells = (f"{count[name]:>6}" for name in ("fifo", "lifo", "both"))
        print(f"{workers:>7} {returns:>8} {' '.join(cells)} {count['neither']:>8}  {worst:5.1%}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else STARS)
