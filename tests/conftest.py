"""What pytest leaves alone, and how long an example of a property may take."""

from hypothesis import settings

collect_ignore = ["oracles/taskgraph_simgrid.py"]  # a program for another interpreter

settings.register_profile("no deadline", deadline=None)  # a busy machine is no mistake
settings.load_profile("no deadline")
