"""Optima: by rule for equal tasks, else by constraint programming."""
