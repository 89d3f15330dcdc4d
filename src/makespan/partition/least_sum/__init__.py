"""The least sum under a limit on the cost: price per task, relaxation, core, proof."""
