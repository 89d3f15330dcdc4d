"""Functions over data on pools of any kind: local processes, executors, Ray, MPI."""
