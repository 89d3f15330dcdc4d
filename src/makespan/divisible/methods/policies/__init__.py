"""Policies that decide while they run."""
