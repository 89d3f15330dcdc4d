# %% [markdown]
# # On a Dask cluster
#
# The same three lines as with `client.map`, on a cluster of this machine; then what they learnt, a plan made of it, and the plan beside
# what happened. The times below are of the machine that built this site.
#
# ## A function over many items

# %%
from distributed import Client

import makespan
from makespan.execute import dask

client = Client(n_workers=2, threads_per_worker=1, dashboard_address=None)


def largest_factor(number):
    """Return the largest prime factor, by trial division."""
    from math import isqrt

    largest, factor = 1, 2
    while factor <= isqrt(number):
        if number % factor:
            factor += 1
        else:
            number //= factor
            largest = factor
    return max(largest, number)


numbers = range(10**6, 10**6 + 10_000)
execution = dask.map(largest_factor, numbers, client, progress=False)
print(execution)

# %% [markdown]
# The last line weighs it against `client.map`, and says from how many such items on it pays. Chunks are small at first and grow as costs become known. A second call begins with what the first has learnt:

# %%
again = dask.map(largest_factor, numbers, client, progress=False)
makespan.save(again, "run.svg")

# %% [markdown]
# ## A plan on what was measured
#
# `platform` is the cluster as it was learnt: a star with costs of sending, computing and returning. Everything else in makespan works
# on it. How much would a third worker bring,
# like the second?

# %%
star = again.platform
star

# %%
from dataclasses import replace

third = replace(list(star.workers)[-1], name="a third")
for workers in (star.workers, [*star.workers, third]):
    load = makespan.DivisibleLoad(
        load=1_000_000, platform=makespan.Star(workers, master=star.master)
    )
    print(f"{len(workers)} workers: a million items in {makespan.solve(load).makespan:.1f} s")
client.close()

# %% [markdown]
# Next: [Running on Dask](../dask.md), [task graphs on Dask](../dask_graphs.md), and the [story](../stories/dask.md).
