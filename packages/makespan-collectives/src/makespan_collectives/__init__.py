"""The commands ``run`` and ``calibrate`` of makespan with ``--mpi``.

What programs import is in ``makespan.execute.mpi`` and ``makespan.execute.torch``.
"""
