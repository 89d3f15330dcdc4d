"""What pytest leaves alone."""

collect_ignore = ["oracles/taskgraph_simgrid.py"]  # a program for another interpreter
