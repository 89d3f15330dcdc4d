"""A campaign: it tries makespan on inputs that nobody chose, and keeps what goes wrong."""

import os

os.environ.setdefault("MAKESPAN_COMPILE", "now")  # nothing compiles beside what is measured
