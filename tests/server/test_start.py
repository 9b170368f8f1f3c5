"""Commands start fast: each imports only the slow modules that it needs."""

import sys
from subprocess import run

import pytest

from tests.program import SECONDS, environment

pytestmark = pytest.mark.process

SLOW = {"aiohttp", "gunicorn", "numpy", "prometheus_client", "redis", "uvloop"}
SERVE = """
import sys
from service.publishing.snapshot import SnapshotHolder
from service.web.pipeline.auth import no_authentication
from service.settings import Settings
from service.web.site import make_site
make_site(SnapshotHolder(), no_authentication, Settings(no_auth=True))
print(*sys.modules)
"""


COMMAND = """
import sys
from service.commands import main
main(sys.argv[1:], standalone_mode=False)
print(*sys.modules)
"""
# What each of these needs of the service: a script may run them often.
OWN = {
    "--version": "access.api_key access.token_bucket commands",
    "probe": "access.api_key access.token_bucket commands commands.probe texts",
    "keys": "access.api_key access.key_file access.token_bucket commands commands.keys files model.kinds",
}


def imported(*arguments: str) -> set[str]:
    """Return the modules that the program imports."""
    program = [sys.executable, "-c", COMMAND, *arguments]
    ended = run(program, capture_output=True, text=True, timeout=SECONDS, check=True, env=environment({}))
    return set(ended.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(("command", "needed"), [("sample", set()), ("check", {"numpy"}), ("serve", {"uvloop"})])
def test_a_command_imports_only_the_slow_modules_that_it_needs(command: str, needed: set[str]) -> None:
    assert imported(command, "--help") & SLOW == needed


@pytest.mark.parametrize("command", OWN)
def test_small_commands_import_few_modules(command: str) -> None:
    found = imported(command, *["--help"] * (command != "--version"))
    assert not found & SLOW
    own = {name.removeprefix("service.") for name in found if name.startswith("service.")}
    assert own == {*OWN[command].split(), *(each.split(".")[0] for each in OWN[command].split())}


def test_a_service_without_a_rate_store_does_not_import_redis() -> None:
    ended = run([sys.executable, "-c", SERVE], capture_output=True, text=True, timeout=SECONDS, check=True)
    assert "aiohttp" in ended.stdout.split()
    assert "redis" not in ended.stdout.split()
