"""The commands: one a file, imported when it is called."""

SHARED = {"about": ("help", "methods", "schema")}
"""The files that hold several commands, each called by its name and ``_command``."""
