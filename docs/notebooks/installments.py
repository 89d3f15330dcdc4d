# %% [markdown]
# # Many rounds
#
# Who sends each worker its whole share at once lets the last one wait long. Y. Yang and H. Casanova, [*Extensions to the
# multi-installment algorithm*](../references.md) (2003), cut the shares into rounds: how small should the first chunks be, and when do
# rounds cost more than they bring?
#
# ## One round, three, and as many as pay
#
# Five equal workers; sending a unit takes an eighth of computing it.

# %%
import makespan

linear = makespan.Star.from_arrays(send_per_unit=[1 / 8] * 5, compute_per_unit=1.0)
one = makespan.solve(makespan.DivisibleLoad(load=100, platform=linear))
makespan.save(one, "one.svg")

# %%
three = makespan.solve(makespan.DivisibleLoad(load=100, platform=linear, rounds=3))
makespan.save(three, "three.svg")
f"{one.makespan:.2f} s in one round, {three.makespan:.2f} s in three"

# %% [markdown]
# The first chunks are small, so that nobody waits long; they grow, as while a worker computes a chunk the others' next ones are sent.
# Without latencies more rounds are always better, by less and less. With latencies there is a best number:

# %%
late = makespan.Star.from_arrays(
    send_per_unit=[1 / 8] * 5, compute_per_unit=1.0, send_fixed=0.3, compute_fixed=0.5
)
for rounds in (1, 2, 3, 4, 6, 8):
    found = [
        makespan.solve(
            makespan.DivisibleLoad(load=100, platform=star, rounds=rounds),
            method="multi-installment",
        ).makespan
        for star in (linear, late)
    ]
    print(f"rounds = {rounds}: {found[0]:.3f} s without latencies, {found[1]:.3f} s with them")

# %%
best = makespan.solve(makespan.DivisibleLoad(load=100, platform=late, rounds="auto"), time_limit=2)
print(
    f"{best.makespan:.3f} s in {best.answer['rounds']} rounds; no plan ends before {best.lower_bound:.3f} s"
)

# %% [markdown]
# ## Results on the same channel
#
# With results to send back, the paper interleaves sends and returns, by its equations 17 and 18, where computing is slow enough:
# for ten workers and five rounds from a ratio R on. Its figure 6 asks that all chunks are positive; a schedule it is only where the
# channel's idle time is not negative either, and that takes a larger R:

# %%
from makespan.divisible import threshold

found = threshold(10, 5)
print(f"positive chunks from R = {found.positive:.4f}, a schedule from R = {found.feasible:.4f}")

# %% [markdown]
# Where there is room for all chunks, nothing is lost by sending everything first and fetching everything last. That is shorter:

# %%
both = makespan.Star.from_arrays(
    send_per_unit=[1 / 20] * 10, compute_per_unit=1.0, return_per_unit=1 / 20
)
problem = makespan.DivisibleLoad(load=1, platform=both, rounds=5)
for method in ("multi-installment-output", "sends-first"):
    print(f"{method}: {makespan.solve(problem, method=method).makespan:.6f}")

# %% [markdown]
# ## When durations are not as predicted
#
# A plan is made of predictions. Carried out five hundred times with errors, a plan of many rounds loses its advantage, and policies that
# decide while they run, such as RUMR, gain one:

# %%
ten = makespan.Star.from_arrays(send_per_unit=[0.05] * 10, compute_per_unit=1.0)
few = makespan.solve(
    makespan.DivisibleLoad(load=1000, platform=ten, rounds=4), method="multi-installment"
)
running = makespan.DivisibleLoad(load=1000, platform=ten, rounds="auto")
for error in (0.0, 0.2, 0.4):
    planned = makespan.simulate(few, noise=error, repetitions=500, rng=1).mean
    decided = makespan.simulate(running, policy="rumr", noise=error, repetitions=500, rng=1).mean
    print(
        f"errors of {error:.0%}: {planned:.1f} s by the plan of four rounds, {decided:.1f} s by RUMR"
    )

# %% [markdown]
# Next: [Many rounds](../divisible_rounds.md) with all methods, and what the paper has wrong.
