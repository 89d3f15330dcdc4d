"""The machine beneath: memory, signals, what the first use costs."""
