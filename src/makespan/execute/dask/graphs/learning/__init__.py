"""What runs of graphs teach: what was seen, what it costs, whether a plan pays."""
