"""Properties that are worked out once hold no lock."""

from __future__ import annotations

import threading

from makespan.core.cached import cached_property


class Slow:
    """Its value takes as long as somebody lets it."""

    def __init__(self, *, waits: bool) -> None:
        self.waits = waits
        self.begun, self.may_end = threading.Event(), threading.Event()

    @cached_property
    def value(self) -> object:
        """A new thing."""
        self.begun.set()
        if self.waits:
            self.may_end.wait(60)
        return object()


def test_another_object_is_not_waited_for() -> None:
    """Nor would a process that is forked meanwhile wait for ever."""
    slow, quick = Slow(waits=True), Slow(waits=False)
    thread = threading.Thread(target=lambda: slow.value)
    thread.start()
    assert slow.begun.wait(60)
    found: list[object] = []
    other = threading.Thread(target=lambda: found.append(quick.value), daemon=True)
    other.start()
    other.join(10)
    slow.may_end.set()
    thread.join()
    assert found == [quick.value]


def test_all_get_the_first() -> None:
    """Whoever asks while another works it out."""
    slow = Slow(waits=True)
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(slow.value)) for _ in range(3)]
    for thread in threads:
        thread.start()
    slow.may_end.set()
    for thread in threads:
        thread.join()
    assert {id(each) for each in found} == {id(slow.value)}


def test_it_is_described_as_its_method() -> None:
    """For documentation; the class has the property itself."""
    assert Slow.value.__doc__ == "A new thing."
    assert isinstance(Slow.value, cached_property)
