"""What pytest leaves alone, how long an example of a property may take, and loops in both forms."""

import pytest
from hypothesis import settings

from makespan.core.numeric import jit

collect_ignore = ["oracles/taskgraph_simgrid.py"]  # a program for another interpreter

settings.register_profile("no deadline", deadline=None)  # a busy machine is no mistake
settings.load_profile("no deadline")


def pytest_collection_modifyitems(items):
    """Mark what runs loops in both forms: it runs once more without the compiler."""
    for item in items:
        if "form" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.kernels)


FORMS = {"plain": False, "compiled": True}
if not jit.compiles():  # plain loops are what they are with the compiler
    del FORMS["plain"]


@pytest.fixture(params=FORMS.values(), ids=FORMS.keys())
def form(request, monkeypatch):
    """Whether all loops are compiled: a test that asks for it runs with both forms of each."""
    monkeypatch.setattr(jit, "forced", request.param)
    return request.param
