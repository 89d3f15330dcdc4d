"""List scheduling: tasks in an order, each to the machine that suits it."""
