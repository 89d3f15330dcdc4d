"""What is called on scheduler and workers outside of tasks; it brings its module along."""

from __future__ import annotations

from makespan.execute.dask.cluster.travel import travels
from makespan.execute.dask.graphs import remote
from makespan.execute.remote import Sent

travels(remote)
begin, end, loosen = Sent(remote.begin), Sent(remote.end), Sent(remote.loosen)
moved, progress_of, unpinned = Sent(remote.moved), Sent(remote.progress_of), Sent(remote.unpinned)
