"""``snakemake --scheduler makespan``: jobs by the work that waits for them."""

from snakemake_scheduler_plugin_makespan.scheduler import Scheduler
from snakemake_scheduler_plugin_makespan.settings import SchedulerSettings

__all__ = ["Scheduler", "SchedulerSettings"]
