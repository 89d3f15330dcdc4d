"""One round with results that return: orders of sends and returns."""
