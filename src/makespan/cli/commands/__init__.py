"""The commands: one a file, imported when it is called."""
