"""Trees as one equivalent processor, and the loads of trees with fixed costs."""
