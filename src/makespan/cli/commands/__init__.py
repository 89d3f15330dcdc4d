"""The commands: one a file, but for ``SHARED``, imported when it is called."""

SHARED = {
    "about": ("help", "methods", "schema"),
    "engines": ("calibrate", "run"),
    "files": ("generate", "convert"),
    "lab": ("adversary", "board", "landscape", "report"),
    "plans": ("check", "simulate", "plot"),
}
"""The files that hold several commands, each called by its name and ``_command``."""
