"""MSCCL: programmes for collectives in XML, as runtimes compatible with NCCL execute them.

Every machine is a ``<gpu>``. It has a thread block, ``<tb>``, for every peer that it sends to, and
for every one that it receives from; a send is a ``<step>`` on both ends. Steps wait for others of
their GPU (``depid``, ``deps``): for what they read or overwrite, and for the send or the reception
before. A step waits for one other; what it waits for besides stands in steps ``nop`` before it.

Source: the runtimes' parsers and interpreters (github.com/microsoft/msccl, github.com/ROCm/rccl),
and Cowan et al. 2023, "MSCCLang: Microsoft collective communication language".
"""

from makespan.reduction.formats.msccl.executing import read
from makespan.reduction.formats.msccl.writing import write

__all__ = ["read", "write"]
