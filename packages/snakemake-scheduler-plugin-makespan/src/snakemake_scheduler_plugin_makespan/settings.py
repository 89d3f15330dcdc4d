"""The options, read from real annotations: Snakemake takes the type of an argument from them."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional

from snakemake_interface_scheduler_plugins.settings import SchedulerSettingsBase


@dataclass
class SchedulerSettings(SchedulerSettingsBase):  # type: ignore[misc]
    """Options: ``--scheduler-makespan-durations FILE``."""

    durations: Optional[Path] = field(  # noqa: UP045, as Snakemake takes no other form
        default=Path(".snakemake/makespan.json"),
        metadata={"help": "Where the seconds of jobs are kept from one run to the next."},
    )
