"""Optima: by search, by constraint programming, or in closed form."""
