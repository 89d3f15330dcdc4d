"""Draw the four best plans of the array reduction notebook's (4, 4) example side by side.

A send, its reception and its combination have one colour; ``S2←M3`` is received, ``S2→M1`` sent.

    python examples/lecture/four_reductions.py [FILE]
"""

from __future__ import annotations

import sys

import matplotlib as mpl

import makespan

TIMES = {"latency": 1, "transfer": 1, "reduce": 1}


def main(path: str) -> None:
    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "makespan"  # the same file every time
    mpl.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot as plt

    searched = makespan.solve(
        makespan.Reduction(machines=4, segments=4, order="greedy", **TIMES), method="exhaustive"
    )
    plans = searched.details["exhaustive"]["distinct"]
    figure, axes = plt.subplots(2, 2, figsize=(16, 9), sharex=True, layout="constrained")
    for destinations, ax in zip(plans, axes.flat, strict=True):
        problem = makespan.Reduction(
            machines=4, segments=4, order="greedy", destinations=destinations, **TIMES
        )
        result = makespan.solve(problem)
        title = "M2 sends to " + ", ".join(f"M{number}" for number in destinations[1])
        makespan.plot(result, ax=ax, by="transfer", title=title, legend=False)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "four_reductions.svg")
