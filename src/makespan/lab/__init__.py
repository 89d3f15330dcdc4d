"""Experiments: methods × instances × seeds, a row a solve, in a file that grows."""
