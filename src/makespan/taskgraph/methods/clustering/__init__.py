"""Clusterings: tasks that talk much share a machine."""
