"""Configuration of the tests: hypothesis profiles, those that may start processes, and the memory of many tests."""

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

# The service and the tests do next to no linear algebra; the threads that numpy starts for it cost each process of the
# suite, those that tests start too, a tenth of a second.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
# Images of containers set them: the first hides errors of an output that is buffered; with the second each process of
# the suite, those that tests start too, would compile its modules and rewrite the assertions of all tests again.
for _variable in ("PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"):
    os.environ.pop(_variable, None)
sys.dont_write_bytecode = False

# A machine may be slow: no example takes too long, nor does drawing one. All examples of a test share its fixtures.
# Each run tries the same: a test that fails has a cause in what was changed.
SUITE = settings(
    max_examples=15,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("suite", SUITE)
settings.load_profile("suite")
# For `make coverage`, which must reach each branch, and `make test ARGS=--hypothesis-profile=thorough`.
settings.register_profile("thorough", SUITE, max_examples=200)
# For `make fuzz`: other examples in each run, of its --hypothesis-seed.
settings.register_profile("random", SUITE, max_examples=200, derandomize=False, database=None, print_blob=True)
# For the many runs of `make mutation`: none is made smaller once one has failed.
settings.register_profile("mutation", SUITE, max_examples=20, phases=[Phase.explicit, Phase.generate])
# Hypothesis would also draw the constants of our modules that are imported by then, which depends on the tests before.
providers._get_local_constants = Constants  # noqa: SLF001 - there is no setting

# A shell ignores SIGINT in what it runs in the background, and so would all that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Imports and collection create many objects that stay: collecting garbage meanwhile takes a quarter of their time.
gc.disable()


def pytest_collection_finish() -> None:
    """Leave the tests and what they import out of garbage collection, as the service does with its data."""
    gc.freeze()
    gc.set_threshold(50_000)
    gc.enable()


# What only a test with the mark `process` may do, as Python reports it to audit hooks. The sockets that an event loop
# makes for itself are connected when they are made.
STARTING: Final = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "socket.bind", "socket.connect"}
# The fixtures that do it: the tests that use them have the mark.
SERVING: Final = {"aiohttp_client", "origin", "serve"}
_OF_PROGRAMS: Final = Path(__file__).parent / "interop"
# The test that runs, if it may not.
_alone: list[str] = []


def _refuse(event: str, _: object) -> None:
    if _alone and event in STARTING:
        raise RuntimeError(f"{event} in {_alone[0]}, which needs @pytest.mark.process: `make test-fast` runs it")


sys.addaudithook(_refuse)


@pytest.hookimpl(tryfirst=True)  # before tests are selected by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests whose fixtures open sockets, and those of other programs."""
    for item in items:
        if _OF_PROGRAMS in item.path.parents or not SERVING.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker("process")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Let a test without the mark start no process and open no socket."""
    if item.get_closest_marker("process") is None:
        _alone.append(item.nodeid)
    try:
        return (yield)
    finally:
        _alone.clear()
