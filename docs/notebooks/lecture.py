# %% [markdown]
# # A lecture on task graphs
#
# The exercises of *PB165 Grafy a sítě: Plánování na počítačové síti II* (Masaryk University): six tasks that pass data on, two equal
# machines. Who computes what, and when? First by list scheduling, then by clustering; then the best there is.
#
# ## The graph
#
# In a box the task and its work, on an arrow the size of what is passed; the longest path is bold.

# %%
import makespan

problem = makespan.read_problem("examples/lecture/list_scheduling.toml")
makespan.save(problem, "graph.svg")

# %% [markdown]
# ## List scheduling
#
# The ready tasks stand in a queue, by their level: the longest path from the task to the end, works and sizes counted. The first goes
# to the machine on which it would end first. While a machine fetches what a task needs, it is busy. Every method says its steps:

# %%
by_list = makespan.solve(problem, method="list-scheduling", log=True)
print("\n".join(by_list.log))

# %%
by_list

# %% [markdown]
# ## Clustering
#
# Other methods begin with a machine for each task, and merge what talks much: an edge within a cluster costs nothing. `edge-zeroing`
# (Sarkar 1989) takes the edges by size and keeps a merger that does not make the plan longer. Now transfers run beside computations.

# %%
clustering = makespan.read_problem("examples/lecture/clustering.toml")
by_clusters = makespan.solve(clustering, method="edge-zeroing", log=True)
print("\n".join(by_clusters.log))

# %%
makespan.save(by_clusters, "clusters.svg", view="graph", by="cluster")

# %% [markdown]
# A second less than the list, as the lecture says; the reason is the other model of communication as much as the method. Is there
# anything better? `auto` answers with a proof:

# %%
for name, each in (
    ("busy while it fetches", problem),
    ("transfers beside computations", clustering),
):
    best = makespan.solve(each)
    print(f"{name}: {best.makespan:g}, {best.status.value} ({best.method})")

# %% [markdown]
# ## All methods
#
# Of small examples many are alike. On a random graph of thirty tasks they come apart:

# %%
from makespan.taskgraph import graphs

larger = makespan.TaskGraph(graphs.layered(30, ccr=1.0, rng=4), makespan.Network([1.0, 1.0, 2.0]))
methods = [
    "list-scheduling",
    "heft",
    "edge-zeroing",
    "dominant-sequence-clustering",
    "local-search",
]
makespan.compare(larger, methods=methods, time_limit=1)

# %% [markdown]
# ## In class
#
# A page of a result with its steps plays the method: press → in it, or Play.

# %%
makespan.save(makespan.solve(problem, method="list-scheduling", log=True), "steps.html")

# %% [markdown]
# Next: [Task graphs](../taskgraph.md), and the [lecturer's story](../stories/lecturer.md) on the command line.
