"""What is to be split: costs as they are given, as curves, and as one table."""
