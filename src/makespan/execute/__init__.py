"""Running plans on real engines."""
