"""Threads that compute leave the core to the event loop."""

import os
import sys

import pytest

from service.background import background_threads


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a thread has the priority of its process")
def test_a_background_thread_has_a_lower_priority_than_the_rest_of_the_process() -> None:
    own = os.getpriority(os.PRIO_PROCESS, 0)
    with background_threads(1, "test") as threads:
        lowered = threads.submit(os.getpriority, os.PRIO_PROCESS, 0).result()
    assert (os.getpriority(os.PRIO_PROCESS, 0), lowered) == (own, min(own + 10, 19))
