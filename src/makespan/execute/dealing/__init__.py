"""Chunks dealt out to the workers of any engine: the loop, what it learns, losses and orders."""
