"""Many chunks a worker: chains, sequences, searches, and programmes with returns."""
