"""What pytest leaves alone, how long a property may take, both forms of loops, and signals."""

import gc
import os
import signal

import pytest
from hypothesis import settings

from makespan.core.numeric import jit
from tests.thorough import EXAMPLES, THOROUGH

os.environ["MAKESPAN_COMPILE"] = "now"  # no test leaves a process behind that compiles
collect_ignore = ["oracles/taskgraph_simgrid.py"]  # a program for another interpreter

for profile, tries in (("few", EXAMPLES), ("many", THOROUGH * EXAMPLES)):
    settings.register_profile(profile, deadline=None, max_examples=tries)
settings.load_profile("few")  # no deadline: a busy machine is no mistake


def pytest_collection_modifyitems(items):
    """Mark properties, and what runs loops in both forms: it runs without the compiler, too."""
    for item in items:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker(pytest.mark.properties)
        if "form" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.kernels)


if jit.compiles():  # which takes seconds
    thorough = pytest.mark.thorough
    FORMS = [pytest.param(False, id="plain"), pytest.param(True, id="compiled", marks=thorough)]
else:  # the same in both forms
    FORMS = [pytest.param(True, id="compiled")]


@pytest.fixture(params=FORMS)
def form(request, monkeypatch):
    """Whether all loops are compiled: a test that asks for it runs with both forms of each."""
    monkeypatch.setattr(jit, "forced", request.param)
    return request.param


@pytest.fixture
def usual_signals():
    """Signals as a terminal's first process has them, here and in processes that a test starts.

    A job in the background, and what a build server starts, inherits that Ctrl-C is ignored.
    """
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, signal.SIG_DFL if handler is None else handler)


def pytest_collection_finish():
    """Leave what the collection holds out of later searches for garbage: half a second each."""
    gc.collect()
    gc.freeze()
