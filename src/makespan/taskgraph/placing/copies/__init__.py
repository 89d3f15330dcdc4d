"""Growing plans in which a task may be executed on several machines."""
