"""Diagrams: placed once, then drawn as SVG or with matplotlib."""
