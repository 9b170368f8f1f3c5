"""What is printed at the start: a link, which has the key only if a person reads it; no address before an error."""

import os
import pty
import socket
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Protocol

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


class Link(Protocol):
    """Prints the message of a ready service; returns the path of the link to the explorer, if any."""

    def __call__(self, message: StartupMessage, *, terminal: bool) -> str: ...


@pytest.fixture
def message() -> Iterator[StartupMessage]:
    with socket.create_server(("127.0.0.1", 0)) as bound:
        listener = Listener((bound,))
        yield StartupMessage(settings=Settings(), public=listener, admin=Listener(), made_key="sd_1")


@pytest.fixture
def link(tmp_path: Path) -> Link:
    current = snapshot(write_directory(tmp_path / "data", [store("s1")]))

    def read(message: StartupMessage, *, terminal: bool) -> str:
        reading, writing = pty.openpty() if terminal else os.pipe()
        text = ""
        with os.fdopen(reading), os.fdopen(writing, "w") as output:
            with redirect_stdout(output):
                message.ready(current)
            while "Docs: " not in text:
                text += os.read(reading, 1 << 12).decode()
        links = [line.removeprefix("Explore: ") for line in text.splitlines() if line.startswith("Explore: ")]
        return "".join(links).removeprefix(message.public.url)

    return read


def test_the_link_has_a_key_that_was_made_for_this_run(message: StartupMessage, link: Link) -> None:
    assert link(message, terminal=True) == "/explorer#key=sd_1"


def test_a_log_has_the_link_without_the_key(message: StartupMessage, link: Link) -> None:
    assert link(message, terminal=False) == "/explorer"


def test_the_link_has_no_other_key(message: StartupMessage, link: Link) -> None:
    assert link(msgspec.structs.replace(message, made_key=None), terminal=True) == "/explorer"


def test_there_is_no_link_to_a_page_that_is_not_served(message: StartupMessage, link: Link) -> None:
    assert link(msgspec.structs.replace(message, settings=Settings(no_explorer=True)), terminal=True) == ""


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
