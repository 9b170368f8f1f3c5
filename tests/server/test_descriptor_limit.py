"""The limit of descriptors, and with it of connections."""

import resource
import subprocess

import pytest

from service.server.listener import raise_descriptor_limit
from tests.program import PROGRAM, SECONDS, exit_code, forked

pytestmark = pytest.mark.process


@pytest.mark.parametrize(
    ("limits", "connections", "expected"),
    [
        ((1000, 2000), None, [1744, 2000, 2000]),
        ((1000, 2000), 1500, [1500, 1756, 2000]),
        ((2000, 2000), 10, [10, 2000, 2000]),
        ((100, 100), None, [50, 100, 100]),
    ],
)
def test_the_soft_limit_is_raised_as_far_as_the_connections_need(
    limits: tuple[int, int], connections: int | None, expected: list[int]
) -> None:
    """Maximum of connections, and the new soft and hard limit, in a process with limits."""

    def work() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        raised = raise_descriptor_limit(connections)
        assert [raised, *resource.getrlimit(resource.RLIMIT_NOFILE)] == expected

    with forked(work) as child:
        assert exit_code(child) == 0


def test_more_connections_than_the_hard_limit_allows_are_a_usage_error() -> None:
    command = ["sh", "-c", 'ulimit -n 2000 && exec "$@"', "sh", *PROGRAM, "serve", "--max-connections", "1745"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 2
    assert "--max-connections: a process can have at most 1,744 (ulimit -Hn allows 2,000 descriptors)" in done.stderr
