# %% [markdown]
# # Partition: costs of any shape
#
# Equal tasks are split over unlike resources, and for each resource it is known what every number of tasks takes. L. L. Pilla,
# [Optimal workload scheduling algorithm for data-parallel applications on heterogeneous platforms](../references.md) (2022), assumes
# nothing of these costs and finds a split of least makespan by dynamic programming. Here is the problem, that algorithm, and what it
# is compared with.
#
# ## Real costs are bumpy
#
# A GPU computes full batches quickly, and one sample more makes another batch. Two of them, and a processor that slows down when its
# cache is full:

# %%
import numpy as np

import makespan

counts = np.arange(121)
costs = {
    "gpu": 0.5 + 1.0 * np.ceil(counts / 32),
    "old gpu": 0.2 + 1.0 * np.ceil(counts / 16),
    "cpu": 0.12 * counts + 2.0 * (counts > 20),
}
problem = makespan.Partition(tasks=120, costs=costs)
result = makespan.solve(problem)
result

# %%
makespan.save(result, "costs.svg", view="costs")

# %% [markdown]
# The marks are the counts that the plan takes. These costs jump, but they never fall: that is the easy case, where a bisection on the
# makespan is enough, and `auto` has seen it (`monotone` above). Costs that do fall are common, too: many a matrix product is faster for
# 1024 rows than for 1000. Say that the old GPU is quick for multiples of 16 alone:

# %%
costs["old gpu"] = np.where(counts % 16 == 0, 0.2 + counts / 16, 4.0 + counts / 16)
bumpy = makespan.Partition(tasks=120, costs=costs)
makespan.compare(bumpy)

# %% [markdown]
# `dynamic-programming` is the paper's algorithm 1, and `threshold` what is used instead: the same answer, proved as well, from a few
# looks at the table. Methods that need costs that never fall are refused here, and say why:

# %%
for method in makespan.methods(bumpy):
    if "fall" in str(method):
        print(method)

# %% [markdown]
# ## No plan, and why
#
# If every resource takes only multiples of 16, 120 tasks can't be split. The answer says what can:

# %%
sixteens = {
    name: {count: float(row[count]) for count in range(0, 121, 16)} for name, row in costs.items()
}
makespan.solve(makespan.Partition(tasks=120, costs=sixteens))

# %% [markdown]
# ## Time is not all
#
# With energies, there is a front: every pair of time and energy that no other split beats in both.

# %%
energy = {
    "gpu": 9.0 * np.ceil(counts / 32),
    "old gpu": 3.0 * np.ceil(counts / 16),
    "cpu": 0.05 * counts,
}
both = makespan.Partition(tasks=120, costs=costs, energy=energy, objective="pareto")
front = makespan.solve(both)
makespan.save(front, "front.svg", view="front")

# %% [markdown]
# Next: [Partition](../partition.md), and the [story of three GPUs](../stories/gpus.md) from a table of measurements.
