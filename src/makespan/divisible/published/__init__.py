"""Kept for comparison and teaching: exact closed forms, and published plans of many rounds."""
