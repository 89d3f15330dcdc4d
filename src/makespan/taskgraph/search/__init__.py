"""Complete search by CP-SAT: models of a problem, and what is proved with them."""
