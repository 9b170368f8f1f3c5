"""Commands start fast: each imports only the slow modules that it needs."""

import re
import sys
from subprocess import run

import pytest

from tests.program import PROGRAM, SECONDS, environment

pytestmark = pytest.mark.process

SLOW = {"aiohttp", "gunicorn", "numpy", "redis", "rich", "uvloop"}
SERVE = """
import sys
from service.publishing.snapshot import SnapshotHolder
from service.web.pipeline.auth import no_authentication
from service.settings import Settings
from service.web.site import make_site
make_site(SnapshotHolder(), no_authentication, Settings(no_auth=True))
print(*sys.modules)
"""


@pytest.mark.parametrize(
    ("command", "needed"),
    [("keys", set()), ("sample", set()), ("check", {"numpy"}), ("serve", {"numpy", "uvloop"})],
)
def test_a_command_imports_only_the_slow_modules_that_it_needs(command: str, needed: set[str]) -> None:
    program = [PROGRAM[0], "-X", "importtime", *PROGRAM[1:], command, "--help"]
    ended = run(program, capture_output=True, text=True, timeout=SECONDS, check=True, env=environment({}))
    imported = set(re.findall(r"^import time:.*\| +(\w+)$", ended.stderr, re.MULTILINE))
    assert imported & SLOW == needed


def test_a_service_without_a_rate_store_does_not_import_redis() -> None:
    ended = run([sys.executable, "-c", SERVE], capture_output=True, text=True, timeout=SECONDS, check=True)
    assert "aiohttp" in ended.stdout.split()
    assert "redis" not in ended.stdout.split()
