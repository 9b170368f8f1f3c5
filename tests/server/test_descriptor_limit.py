"""How many connections the system lets the service have."""

import shlex
import subprocess
import sys

import pytest

from tests.program import SECONDS, run

_ASK = "import resource; from service.server.descriptor_limit import raise_descriptor_limit; print({most}, *resource.getrlimit(7))"


def told(limits: str, connections: int | None) -> list[int]:
    """Return how many connections there may be, and the limits of descriptors then, under a shell's limits."""
    code = _ASK.format(most=f"raise_descriptor_limit({connections})")
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
def test_the_soft_limit_of_descriptors_is_raised_as_far_as_the_connections_need(
    limits: str, connections: int | None, expected: list[int]
) -> None:
    assert told(limits, connections) == expected


def test_more_connections_than_the_system_allows_are_bad_usage() -> None:
    done = run("serve", "--max-connections", str(1 << 40))
    assert done.returncode == 2
    assert "--max-connections: a process can have at most " in done.stderr
