"""The statement: stars, buses and trees, and what a plan decides before anything has a time."""
