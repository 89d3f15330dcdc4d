"""Results return to the master."""
