"""Draw the lecture's exercise: both plans, and the graph before and after clustering.

python examples/lecture/draw.py [FOLDER]
"""

import sys
from pathlib import Path

import makespan

HERE = Path(__file__).parent


def main(folder: Path) -> None:
    by_list = makespan.solve(makespan.read_problem(HERE / "list_scheduling.toml"))
    by_clusters = makespan.solve(makespan.read_problem(HERE / "clustering.toml"))
    makespan.save(by_list, folder / "taskgraph-list.svg")
    makespan.save(by_clusters, folder / "taskgraph-clusters.svg")

    makespan.save(by_clusters.problem, folder / "taskgraph-before.svg")
    makespan.save(by_clusters, folder / "taskgraph-after.svg", view="graph", by="cluster")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path())
