"""Adversaries: searches for problems on which a method does badly."""
