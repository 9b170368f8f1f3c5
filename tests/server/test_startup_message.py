"""The link that is printed at the start: it has the key only if a person reads it."""

import os
import pty
import socket
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Protocol

import msgspec
import pytest

from service.server.console import StartupMessage
from service.server.listener import Listener
from service.settings import Settings
from tests.directory import store, write_directory
from tests.loaded import snapshot

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
