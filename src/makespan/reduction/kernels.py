"""The compiled twins of the loops that large inputs need."""

from __future__ import annotations

from makespan.core.jit import kernel
from makespan.reduction.columns import advance
from makespan.reduction.rules import commit
from makespan.reduction.spreading import spread
from makespan.reduction.timing import settle_once

commit_compiled = kernel(commit)
settle_once_compiled = kernel(settle_once)
advance_compiled = kernel(advance)
spread_compiled = kernel(spread)
