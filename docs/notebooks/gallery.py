# %% [markdown]
# # Gallery
#
# Every picture with the lines that made it; they ran when this page was built. `.png` and `.pdf` come from the same calls
# ([Pictures, pages and traces](../pictures.md)).
#
# ## A plan for a star

# %%
import makespan

star = makespan.Star(
    [
        makespan.Worker(name="near", send=1, compute=3),
        makespan.Worker(name="far", send=2, compute=5),
    ],
    master=makespan.Master(compute=4),
)
load = makespan.DivisibleLoad(load=100, platform=star)
makespan.save(makespan.solve(load), "plan.svg")

# %% [markdown]
# ## Its platform, with what the plan sends and computes

# %%
makespan.save(makespan.solve(load), "platform.svg", view="platform")

# %% [markdown]
# ## Rounds

# %%
from makespan import Affine, Worker

crew = [
    Worker(send=Affine(0.1, send), compute=Affine(0.2, compute))
    for send, compute in ((0.2, 1.0), (0.1, 2.0), (0.4, 0.8))
]
rounds = makespan.DivisibleLoad(load=40, platform=makespan.Star(crew), rounds=4)
makespan.save(makespan.solve(rounds), "rounds.svg")

# %% [markdown]
# ## A tree

# %%
tree = makespan.Tree(
    [
        {"name": "R", "compute": 0.3},
        {"name": "A", "parent": "R", "send": 0.1, "compute": 0.25},
        {"name": "B", "parent": "R", "send": 0.2},
        {"name": "C", "parent": "B", "send": 0.1, "compute": 0.2},
        {"name": "D", "parent": "B", "send": 0.1, "compute": 0.2},
    ]
)
makespan.save(
    makespan.solve(makespan.DivisibleLoad(load=100, platform=tree)), "tree.svg", view="platform"
)

# %% [markdown]
# ## Measured costs, and the counts that were chosen

# %%
gpus = makespan.read_problem("examples/mixed_gpus/gpus.csv", tasks=512)
makespan.save(makespan.solve(gpus), "costs.svg", view="costs")

# %% [markdown]
# ## Time against energy

# %%
front = makespan.read_problem("examples/mixed_gpus/gpus.csv", tasks=512, objective="pareto")
makespan.save(makespan.solve(front), "front.svg", view="front")

# %% [markdown]
# ## A task graph, its longest path bold

# %%
lecture = makespan.read_problem("examples/lecture/clustering.toml")
makespan.save(lecture, "graph.svg")

# %% [markdown]
# ## Scheduled, in clusters

# %%
makespan.save(
    makespan.solve(lecture, method="edge-zeroing"), "scheduled.svg", view="graph", by="cluster"
)

# %% [markdown]
# ## A tiled Cholesky factorisation on three machines

# %%
from makespan.taskgraph import graphs

cholesky = makespan.TaskGraph(graphs.cholesky(5, ccr=0.3), makespan.Network([1.0, 1.0, 2.0]))
makespan.save(makespan.solve(cholesky, method="heft"), "cholesky.svg", by="type", fold=True)

# %% [markdown]
# ## A network behind two cards

# %%
network = makespan.Interconnect(
    8,
    topology="nodes",
    shape=[2, 4],
    rate=4.0,
    latency=0.5,
    links=[("card 1", "switch", 1.0), ("card 2", "switch", 1.0)],
)
gather = makespan.Reduction(network=network, segments=8, collective="all-gather")
makespan.save(gather, "network.svg", view="platform")

# %% [markdown]
# ## A reduction, a colour for each transfer

# %%
reduction = makespan.Reduction(machines=4, segments=4, latency=1, transfer=1, reduce=1)
makespan.save(makespan.solve(reduction), "reduction.svg", by="transfer")

# %% [markdown]
# ## The tree of each segment

# %%
makespan.save(makespan.solve(reduction), "trees.svg", view="graph")

# %% [markdown]
# ## Independent tasks

# %%
tasks = makespan.IndependentTasks(machines=3, durations=[7, 7, 6, 6, 5, 5, 4, 4, 4])
makespan.save(makespan.solve(tasks), "tasks.svg")

# %% [markdown]
# ## Methods side by side

# %%
makespan.save(
    makespan.compare(cholesky, methods=["heft", "peft", "etf", "cpop", "min-min"]), "methods.svg"
)

# %% [markdown]
# ## A page to look around in
#
# One file without a network: zoom with the wheel, drag, point at a bar. With the steps of the method, it plays them.

# %%
makespan.save(makespan.solve(lecture, method="heft", log=True), "page.html")
