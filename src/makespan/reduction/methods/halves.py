"""The planners of halves are methods, too: importing them registers them."""

import makespan.reduction.halves.closed_forms
import makespan.reduction.halves.merging
import makespan.reduction.halves.proofs
import makespan.reduction.halves.rarest_first
import makespan.reduction.halves.shortest_paths
import makespan.reduction.halves.tree_packing
import makespan.reduction.halves.trees  # noqa: F401
