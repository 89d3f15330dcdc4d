"""Traces of runs → how long the same work takes on other machines."""
