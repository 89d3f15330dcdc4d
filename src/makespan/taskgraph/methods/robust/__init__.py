"""Plans for uncertain durations."""
