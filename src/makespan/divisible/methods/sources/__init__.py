"""Loads that lie at several sources."""
