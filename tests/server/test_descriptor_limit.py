"""The limit of descriptors, and with it of connections."""

import shlex
import subprocess
import sys

import pytest

from tests.program import PROGRAM, SECONDS

pytestmark = pytest.mark.process

_PRINT_LIMITS = """
import resource
from service.server.listener import raise_descriptor_limit
print(raise_descriptor_limit({connections}), *resource.getrlimit(resource.RLIMIT_NOFILE))
"""


def run_limited(limits: str, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a shell after it has set limits."""
    shell = f"{limits}; exec {shlex.join(command)}"
    return subprocess.run(["/bin/sh", "-c", shell], capture_output=True, text=True, timeout=SECONDS, check=False)


def limited(limits: str, connections: int | None) -> list[int]:
    """Return the maximum of connections, and the new soft and hard limit, in a process with a shell's limits."""
    done = run_limited(limits, sys.executable, "-c", _PRINT_LIMITS.format(connections=connections))
    return [int(number) for number in done.stdout.split()]


@pytest.mark.parametrize(
    ("limits", "connections", "expected"),
    [
        ("ulimit -Sn 1000; ulimit -Hn 2000", None, [1744, 2000, 2000]),
        ("ulimit -Sn 1000; ulimit -Hn 2000", 1500, [1500, 1756, 2000]),
        ("ulimit -Sn 2000; ulimit -Hn 2000", 10, [10, 2000, 2000]),
        ("ulimit -Sn 100; ulimit -Hn 100", None, [50, 100, 100]),
    ],
)
def test_the_soft_limit_is_raised_as_far_as_the_connections_need(
    limits: str, connections: int | None, expected: list[int]
) -> None:
    assert limited(limits, connections) == expected


def test_more_connections_than_the_hard_limit_allows_are_a_usage_error() -> None:
    done = run_limited("ulimit -n 2000", *PROGRAM, "serve", "--max-connections", "1745")
    assert done.returncode == 2
    assert "--max-connections: a process can have at most 1,744 (ulimit -Hn allows 2,000 descriptors)" in done.stderr
