"""A map of instances: their features, and where which method is best."""
