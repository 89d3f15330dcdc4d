"""Problems, results and schedules in files."""
