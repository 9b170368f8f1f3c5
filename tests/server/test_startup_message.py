"""What is printed at the start: a link, which has the key only if a person reads it; no address before an error."""

import os
import pty
import socket
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

import msgspec
import pytest

from service.access.keyring import Keyring
from service.dataset import Rejected
from service.publishing.cache_folder import run_workspace
from service.publishing.worker_slots import single_slot
from service.server.console import ServiceManager, StartupMessage
from service.server.listener import Listener
from service.server.process import ServeSetup, run
from service.settings import Settings
from tests.directory import store, write_directory
from tests.loaded import snapshot
from tests.publishing.scripted import Script

pytestmark = pytest.mark.process


def link(message: StartupMessage, folder: Path, *, terminal: bool) -> str:
    """Print the message of a ready service; return the path of the link to the explorer, if any."""
    current = snapshot(write_directory(folder / "data", [store("s1")]))
    reading, writing = pty.openpty() if terminal else os.pipe()
    text = ""
    with os.fdopen(reading), os.fdopen(writing, "w") as output:
        with redirect_stdout(output):
            message.ready(current)
        while "Docs: " not in text:
            text += os.read(reading, 1 << 12).decode()
    links = [line.removeprefix("Explore: ") for line in text.splitlines() if line.startswith("Explore: ")]
    return "".join(links).removeprefix(message.public.url)


@pytest.fixture
def message() -> Iterator[StartupMessage]:
    with socket.create_server(("127.0.0.1", 0)) as bound:
        listener = Listener((bound,))
        yield StartupMessage(settings=Settings(), public=listener, admin=Listener(), made_key="sd_1")


def test_the_link_has_a_key_that_was_made_for_this_run_if_a_person_reads_it_and_no_other(
    message: StartupMessage, tmp_path: Path
) -> None:
    assert link(message, tmp_path, terminal=True) == "/explorer#key=sd_1"
    assert link(message, tmp_path, terminal=False) == "/explorer"
    assert link(msgspec.structs.replace(message, made_key=None), tmp_path, terminal=True) == "/explorer"
    without = msgspec.structs.replace(message, settings=Settings(no_explorer=True))
    assert link(without, tmp_path, terminal=True) == ""


async def test_the_error_of_data_that_is_rejected_at_once_comes_before_the_addresses(
    message: StartupMessage, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with run_workspace(tmp_path) as workspace:
        setup = ServeSetup(
            settings=Settings(no_auth=True),
            source=Script(Rejected("stores: the file is missing")),
            workspace=workspace,
            keyring=Keyring({}, tmp_path / "keys.json", workspace.key_backup),
            announcement=message,
            manager=ServiceManager(),
        )
        with pytest.raises(Rejected):
            await run(setup, single_slot(), message.public, message.admin)
    assert capfd.readouterr().out == ""
