"""Collectives in the formats of others."""
