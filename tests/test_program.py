"""The program as tests start it."""

import signal

import pytest

from tests.program import started

pytestmark = pytest.mark.process


def test_a_service_is_killed_if_the_test_that_started_it_fails() -> None:
    with pytest.raises(pytest.fail.Exception), started() as process:
        pytest.fail("the test fails")
    assert process.returncode == -signal.SIGKILL
