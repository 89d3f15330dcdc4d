"""Makespan as a page and a service: requests come in, processes of their own answer them."""
