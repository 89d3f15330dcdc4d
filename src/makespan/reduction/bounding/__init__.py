"""Lower bounds that take more than a formula."""
