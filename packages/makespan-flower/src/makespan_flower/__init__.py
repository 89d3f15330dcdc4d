"""Rounds of Flower whose shares follow what clients take."""

from makespan_flower.shares import Table, least_seconds
from makespan_flower.strategy import MakespanStrategy, Round

__all__ = ["MakespanStrategy", "Round", "Table", "least_seconds"]
