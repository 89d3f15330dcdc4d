"""What engines of collectives share: links as measured, the best tree, and whether it pays."""
