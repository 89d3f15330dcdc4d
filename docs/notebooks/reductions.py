# %% [markdown]
# # Reductions, step by step
#
# Each of a few machines holds an array in segments, and the sums of all of them shall end up on the first. This is the story of an
# [R notebook on array reductions](../references.md): how it evaluates a plan, what it finds by trying everything, and what it suspected
# but could not try.
#
# ## A plan is a matrix
#
# For every machine (row) and segment (column) it says whom the machine sends its part to. A machine first combines what it received.
# Here
# the second segment of the second machine goes by the third; latency 0.1, a second a transfer, 0.3 for a combination:

# %%
import makespan
from makespan.reduction import evaluate

destinations = [[1, 1], [1, 3], [1, 1]]
evaluate(destinations, latency=0.1, transfer=1, reduce=0.3)

# %% [markdown]
# The notebook's own numbers are 3.8 here, and 7.3 for the star below: the function is the same, to the last bit where that is asked for.

# %%
evaluate([[1, 1], [1, 1], [1, 1]], latency=1.1, transfer=1, reduce=1.3, compatible=True)

# %% [markdown]
# As a problem with given destinations, a plan can be looked at. A machine sends, receives and combines at the same time; the latency
# is a shift between sending and receiving.

# %%
problem = makespan.Reduction(
    machines=3,
    segments=2,
    latency=0.1,
    transfer=1,
    reduce=0.3,
    destinations=destinations,
    order="greedy",
)
makespan.solve(problem)

# %% [markdown]
# ## All of them
#
# Four machines, four segments, all times a second: there are 3^12 matrices, of which fewer are trees. The notebook needs minutes;
# here states that are equal after a segment are merged, and the counts follow without trying everything.

# %%
problem = makespan.Reduction(
    machines=4, segments=4, latency=1, transfer=1, reduce=1, order="greedy"
)
greedy = makespan.solve(problem)
greedy.details["exhaustive"] | {"distinct": len(greedy.details["exhaustive"]["distinct"])}

# %%
makespan.save(greedy, "greedy.svg", by="transfer")

# %% [markdown]
# ## What the notebook suspected
#
# Its rule takes the segments one after another. Looking at the picture, its author notes that a later segment should sometimes go
# first, and that the order of sends should be part of the plan. So let it be open:

# %%
free = makespan.solve(makespan.Reduction(machines=4, segments=4, latency=1, transfer=1, reduce=1))
free.makespan, free.lower_bound, free.status.value

# %%
makespan.save(free, "free.svg", by="transfer")

# %% [markdown]
# Two seconds of eleven. How often does the rule lose? On small cases like the notebook's first tests, mostly:

# %%
for machines, segments, times in [
    (3, 2, (0.1, 1, 0.3)),
    (3, 2, (1.1, 1, 1.3)),
    (4, 2, (0, 1, 0)),
    (4, 3, (1, 1, 1)),
]:
    latency, transfer, reduce = times
    given = {
        "machines": machines,
        "segments": segments,
        "latency": latency,
        "transfer": transfer,
        "reduce": reduce,
    }
    by_rule = makespan.solve(makespan.Reduction(**given, order="greedy"))
    by_any = makespan.solve(makespan.Reduction(**given))
    rule, best = by_rule.makespan, by_any.makespan
    print(
        f"{machines} machines, {segments} segments, {times}: {rule:g} by the rule, {best:g} at best"
    )

# %% [markdown]
# ## Larger
#
# Trying everything ends at a handful of machines. Plans don't, and neither do bounds, which say how far they are from the best at most;
# where both meet, the plan is proved.

# %%
many = makespan.solve(
    makespan.Reduction(machines=64, segments=32, latency=1, transfer=1, reduce=1), time_limit=3
)
f"{many.makespan:g} s by {many.method}, no plan ends before {many.lower_bound:g} s"

# %% [markdown]
# Next: [Reductions](../reduction.md) with the whole family of collectives, networks, and what MPI measures.
