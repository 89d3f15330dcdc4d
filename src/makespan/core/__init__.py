"""What every kind of problem shares: schedules, results, the registry, errors."""
