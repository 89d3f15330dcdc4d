"""Pages to look around in."""
