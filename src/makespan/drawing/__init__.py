"""Pictures of schedules: laid out once, then drawn by one of several backends."""
