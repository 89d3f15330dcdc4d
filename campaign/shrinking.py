"""Structure-aware inputs chosen by hypothesis, which makes what fails as small as it can."""

from __future__ import annotations

import random

from campaign.part import Part, Trial
from campaign.structure import PART as STRUCTURE, attempt as read_and_plan, made

EXAMPLES = 50


def attempt(trial: Trial) -> None:
    """Let hypothesis draw the random choices of some documents."""
    from hypothesis import HealthCheck, Phase, given, seed, settings, strategies as st

    if trial.given is not None:
        read_and_plan(trial)
        return

    def example(rng: random.Random) -> None:
        trial.input = made(rng)
        inner = Trial(trial.seed, trial.folder, trial.input, trial.counts)
        read_and_plan(inner)

    quiet = settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    randoms = st.randoms(use_true_random=False)
    quiet(seed(trial.random("hypothesis").getrandbits(64))(given(randoms)(example)))()


PART = Part(
    name="shrinking",
    promise="The same, with the choices drawn by hypothesis, which makes what fails small.",
    attempt=attempt,
    goals={"inputs": 10_000},
    share=0.4,
    patience=60.0,
    prepare=STRUCTURE.prepare,
)
