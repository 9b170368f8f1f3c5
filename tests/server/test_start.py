"""A command begins soon: it imports what it needs, and nothing else of what takes long."""

import re
import sys
from subprocess import run

import pytest

from tests.program import PROGRAM, SECONDS, environment

HEAVY = {"aiohttp", "gunicorn", "numpy", "redis", "rich", "throttled", "uvloop", "watchfiles"}
SERVES = """
import sys
from service.snapshot.snapshot import SnapshotHolder
from service.web.auth import no_authentication
from service.web.policy import Policy
from service.web.site import make_site
policy = Policy(cache_control="no-cache", origins=frozenset(), needs_key=False, encoded_bytes=0, rates=False)
make_site(SnapshotHolder(), no_authentication, policy)
print(*sys.modules)
"""


@pytest.mark.parametrize(
    ("command", "needed"),
    [("keys", set()), ("sample", set()), ("check", {"numpy"}), ("serve", {"numpy", "uvloop", "watchfiles"})],
)
def test_a_command_imports_nothing_that_takes_long_and_that_it_does_not_need(command: str, needed: set[str]) -> None:
    program = [PROGRAM[0], "-X", "importtime", *PROGRAM[1:], command, "--help"]
    ended = run(program, capture_output=True, text=True, timeout=SECONDS, check=True, env=environment({}))
    imported = set(re.findall(r"^import time:.*\| +(\w+)$", ended.stderr, re.MULTILINE))
    assert imported & HEAVY == needed


def test_a_service_whose_keys_have_no_rate_imports_nothing_for_rates() -> None:
    ended = run([sys.executable, "-c", SERVES], capture_output=True, text=True, timeout=SECONDS, check=True)
    assert "aiohttp" in ended.stdout.split()
    assert not {"throttled", "redis"} & set(ended.stdout.split())
