"""One chunk a worker, without returns."""
