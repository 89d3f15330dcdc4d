"""The picture that comes first: a platform, a plan for it, and the run as it was measured.

``python -m benchmarks.plan_and_run`` draws ``platform.svg`` and ``dask-run.svg``, both in
``docs/images``: three Dask workers of platform A of ``benchmarks.dask_star``, real processes whose
links are slowed down and which compute by sleeping. The plan is made of what was measured there,
and run three times; the median run is drawn.
"""

from __future__ import annotations

from pathlib import Path

import makespan
from benchmarks.dask_star import PLATFORMS, SPEEDS, Slept
from makespan.execute import dask
from tests.execute import functions
from tests.execute.stars import Link, star_of

LINKS = (50.0, 100.0, 200.0)
"""Mbit/s of each worker's."""
SAMPLE = 4_000
RUNS = 3
IMAGES = Path(__file__).parents[1] / "docs" / "images"


def measured() -> dask.Execution:
    """Measure the platform, plan on it, and return the median run of the plan."""
    from distributed import Client

    platform = PLATFORMS["A"]
    data = functions.rows(platform.rows)
    function = Slept(SPEEDS[platform.speeds], whole=platform.whole)
    given = {"batched": True, "progress": False}
    with star_of([Link(rate=rate) for rate in LINKS]) as cluster, Client(cluster.address) as client:
        client.wait_for_workers(len(LINKS))
        calibration = dask.calibrate(function, data[:SAMPLE], client, **given)
        plan = dask.plan(calibration, platform.rows)
        runs = [dask.run(plan, function, data, client, **given) for _ in range(RUNS)]
    return sorted(runs, key=lambda run: run.measured)[RUNS // 2]


def draw(run: dask.Execution) -> None:
    """Draw the platform, and the plan above what was measured."""
    import matplotlib.pyplot as plt

    assert run.plan is not None
    makespan.save(run.plan, IMAGES / "platform.svg", view="platform")
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": "run", "font.size": 12}):
        figure, axes = plt.subplots(2, sharex=True, figsize=(10, 6.4), gridspec_kw={"hspace": 0.3})
        run.plot(axes=axes)
        figure.savefig(IMAGES / "dask-run.svg", bbox_inches="tight", metadata={"Date": None})


if __name__ == "__main__":
    run = measured()
    draw(run)
    print(run)
