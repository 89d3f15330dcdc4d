"""The commands: one a file, but for ``SHARED``, imported when it is called."""

SHARED = {
    "about": ("help", "methods", "schema"),
    "lab": ("adversary", "board", "landscape", "report"),
}
"""The files that hold several commands, each called by its name and ``_command``."""
