"""The published search over all trees, column by column, and searches for destinations."""
