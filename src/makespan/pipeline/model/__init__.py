"""What a pipeline is made of."""
