"""Tasks in an order, each to a machine: first fit, first free, cut where one is full."""
