"""The compiled twins of the loops that large inputs need."""

from __future__ import annotations

from makespan.core.jit import kernel
from makespan.reduction.columns import advance
from makespan.reduction.rules import by_rule, by_sequence
from makespan.reduction.spreading import spread
from makespan.reduction.timing import settle_once

by_rule_compiled = kernel(by_rule)
by_sequence_compiled = kernel(by_sequence)
settle_once_compiled = kernel(settle_once)
advance_compiled = kernel(advance)
spread_compiled = kernel(spread)
