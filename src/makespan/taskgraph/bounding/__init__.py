"""What no plan can be below: heads, tails, and makespans that are refuted."""
