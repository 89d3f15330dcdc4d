"""Partition: identical tasks over resources with measured costs."""
