"""Plans whose durations turn out otherwise."""
