"""Trees that are known in closed form, pipelined over the segments."""
