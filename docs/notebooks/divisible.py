# %% [markdown]
# # Divisible loads: all end together
#
# A load that can be cut anywhere lies on a master, which sends one part to each worker in turn. A. Benoit's slides
# [*Divisible load scheduling*](../references.md) (2016) go from a bus, where everything has a closed form, to stars with latencies,
# where nothing has.
#
# ## A bus
#
# 10,000 units; sending one takes a second, whoever it goes to. The slides' example has a master that computes, too:

# %%
import makespan

workers = [makespan.Worker(compute=time) for time in (3, 5, 1.5)]
bus = makespan.Star.bus(send=1, workers=workers, master=makespan.Master(name="P0", compute=3))
makespan.solve(makespan.DivisibleLoad(load=10_000, platform=bus))

# %% [markdown]
# Everybody ends at the same moment, and in whatever order they are served, the moment is the same. What matters is who the master is.
# Left open, it is the fastest machine, as it begins at once:

# %%
machines = [makespan.Worker(compute=time) for time in (3, 3, 5, 1.5)]
open_bus = makespan.Star.bus(send=1, workers=machines, master="choose")
makespan.solve(makespan.DivisibleLoad(load=10_000, platform=open_bus))

# %% [markdown]
# ## A star: serve the near ones first
#
# With links of unlike speed the order counts, and the theorem is a surprise: by the time to *send*, whatever the speed of the workers.


# %%
def ends(platform, **given):
    """Return the makespan of a unit of load."""
    return makespan.solve(makespan.DivisibleLoad(load=1, platform=platform, **given)).makespan


star = makespan.Star(
    [makespan.Worker(send=c, compute=w) for c, w in ((2, 5), (1, 8), (4, 2), (3, 6))]
)
print(f"by the time to send: {ends(star, order=['P2', 'P1', 'P4', 'P3']):.4f}")
print(f"by speed:            {ends(star, order=['P3', 'P1', 'P4', 'P2']):.4f}")
print(f"order left open:     {ends(star):.4f}")

# %% [markdown]
# For an order that is given and not sorted, "all end together" is no longer best, although the slides' formula gives positive parts:
# a worker can be in the way of others. In the order P3, P4, P1, P2 all four end together at the time printed here, exactly:

# %%
from makespan.divisible import fractions

together = fractions.affine_order(1, [0] * 4, [4, 3, 2, 1], [0] * 4, [2, 6, 5, 8])
f"{together.makespan} = {float(together.makespan):.3f} seconds"

# %% [markdown]
# Without one of them it takes less:

# %%
given = makespan.solve(
    makespan.DivisibleLoad(load=1, platform=star, order=["P3", "P4", "P1", "P2"])
)
given

# %% [markdown]
# ## Latencies: who takes part?
#
# A message costs something before its first byte, a program before its first row. Now a worker may cost more than it brings: who takes
# part is a matter of search (the problem is NP-complete), and the answer depends on the load.

# %%
from makespan import Affine, Worker

late = makespan.Star(
    [
        Worker(send=Affine(4, 1), compute=Affine(1, 6)),
        Worker(send=Affine(6, 4), compute=Affine(4, 8)),
        Worker(send=Affine(1, 2), compute=Affine(4, 3)),
    ]
)
for load in (1, 2, 5, 20, 50):
    result = makespan.solve(makespan.DivisibleLoad(load=load, platform=late))
    print(
        f"{load:3} units: {result.makespan:7.3f} s, {result.status.value}, {result.answer['order']}"
    )

# %% [markdown]
# ## Results that return: neither first in, first out, nor the reverse
#
# The slides end where the open questions are: with results to collect, the best order of returns may be neither that of the sends nor
# its reverse. First in, first out, last in, first out, and any order at all:

# %%
from itertools import permutations

back = makespan.Star(
    [
        Worker(send=1, compute=1, return_=5),
        Worker(send=1, compute=5, return_=1),
        Worker(send=1, compute=5, return_=5),
    ]
)
orders = [list(order) for order in permutations(["P1", "P2", "P3"])]
for discipline in ("fifo", "lifo"):
    least = min(ends(back, order=order, discipline=discipline) for order in orders)
    print(f"{discipline}: {least:.5f}")
best = makespan.solve(makespan.DivisibleLoad(load=1, platform=back))
print(f"any:  {best.makespan:.5f}, {best.status.value}")
best.answer["order"], best.answer["return_order"]

# %%
makespan.save(best, "returns.svg")

# %% [markdown]
# Next: [Divisible loads](../divisible.md), [fixed costs](../divisible_latencies.md), [returns](../divisible_returns.md).
