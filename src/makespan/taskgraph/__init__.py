"""Task graphs: tasks with precedences whose data travel between machines."""
