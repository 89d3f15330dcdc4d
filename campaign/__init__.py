"""A campaign: it tries makespan on inputs that nobody chose, and keeps what goes wrong."""
