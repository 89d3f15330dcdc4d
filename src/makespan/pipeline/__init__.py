"""Pipelines: consecutive stages on unlike machines, data sets flow through."""
