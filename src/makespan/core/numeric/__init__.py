"""Arrays: indices, sorting, compiled loops."""
