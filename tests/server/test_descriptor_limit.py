"""The limit of descriptors, and with it of connections."""

import shlex
import subprocess
import sys

import pytest

from tests.program import SECONDS, run

pytestmark = pytest.mark.process

_PRINT_LIMITS = """
import resource
from service.server.listener import raise_descriptor_limit
print(raise_descriptor_limit({connections}), *resource.getrlimit(resource.RLIMIT_NOFILE))
"""


def limited(limits: str, connections: int | None) -> list[int]:
    """Return the maximum of connections, and the new soft and hard limit, in a process with a shell's limits."""
    code = _PRINT_LIMITS.format(connections=connections)
    shell = f"{limits}; exec {shlex.quote(sys.executable)} -c {shlex.quote(code)}"
    done = subprocess.run(["/bin/sh", "-c", shell], capture_output=True, text=True, timeout=SECONDS, check=True)
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
    done = run("serve", "--max-connections", str(1 << 40))
    assert done.returncode == 2
    assert "--max-connections: a process can have at most " in done.stderr
