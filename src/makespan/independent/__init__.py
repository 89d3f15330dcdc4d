"""Independent tasks: given durations on identical machines, with or without preemption."""
