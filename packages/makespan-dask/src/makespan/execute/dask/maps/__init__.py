"""A function over data in chunks: planned, sent in the order of the plan, and gathered."""
