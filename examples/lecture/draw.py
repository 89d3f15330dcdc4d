"""Draw the lecture's exercise: both plans, and the graph before and after clustering.

python examples/lecture/draw.py [FOLDER]
"""

import sys
from pathlib import Path

import matplotlib as mpl

import makespan
from makespan.taskgraph.clustering.clusters import clustering_of
from makespan.taskgraph.pictures import draw_graph

HERE = Path(__file__).parent


def main(folder: Path) -> None:
    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "makespan"  # the same file every time
    by_list = makespan.solve(makespan.read_problem(HERE / "list_scheduling.toml"))
    by_clusters = makespan.solve(makespan.read_problem(HERE / "clustering.toml"))
    makespan.save(by_list, folder / "taskgraph-list.svg")
    makespan.save(by_clusters, folder / "taskgraph-clusters.svg")

    problem = by_clusters.problem
    dag = problem.dag
    clusters = by_clusters.details["clusters"]
    label = {name: index for index, tasks in enumerate(clusters) for name in tasks}
    for name, cluster in (
        ("before", range(len(dag))),
        ("after", [label[task] for task in dag.names]),
    ):
        drawn = draw_graph(problem, clustering_of(dag, dag.work, dag.size, cluster))
        drawn.figure.savefig(folder / f"taskgraph-{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path())
