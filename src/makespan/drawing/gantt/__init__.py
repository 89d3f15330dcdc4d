"""Gantt charts: laid out once, then drawn as SVG or with matplotlib."""
