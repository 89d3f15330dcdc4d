"""Measured times of tests, and how they are split over shards."""
