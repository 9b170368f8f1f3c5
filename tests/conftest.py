"""Configuration of the tests: hypothesis profiles, and the memory of a process that runs many."""

import gc
import os

from hypothesis import HealthCheck, Phase, settings

# The service and the tests do next to no linear algebra; the threads that numpy starts for it cost each process of the
# suite, those that tests start too, a tenth of a second.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

# A machine may be slow: no example takes too long, nor does drawing one. All examples of a test share its fixtures.
SUITE = settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("suite", SUITE)
settings.load_profile("suite")
# For `make coverage`, which must reach each branch, and `make test ARGS=--hypothesis-profile=thorough`.
settings.register_profile("thorough", SUITE, max_examples=200)
# For the many runs of `make mutation`: the same few examples each time, and none made smaller once one has failed.
settings.register_profile(
    "mutation", SUITE, max_examples=20, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate]
)


# Imports and collection create many objects that stay: collecting garbage meanwhile takes a quarter of their time.
gc.disable()


def pytest_collection_finish() -> None:
    """Leave the tests and what they import out of garbage collection, as the service does with its data."""
    gc.freeze()
    gc.set_threshold(50_000)
    gc.enable()
