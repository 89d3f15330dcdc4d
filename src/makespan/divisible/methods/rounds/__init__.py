"""Many chunks a worker."""
