"""Durations that turn out otherwise, and what plans make of them."""
