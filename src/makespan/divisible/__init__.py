"""Divisible loads: a load that can be cut anywhere, sent from a master to workers."""
