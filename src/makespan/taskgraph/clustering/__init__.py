"""Clusters of tasks, and from clusters to machines."""
