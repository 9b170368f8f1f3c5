"""The link that is printed at the start: it has the key only if a person reads it."""

import os
import pty
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, redirect_stdout
from io import TextIOWrapper
from pathlib import Path

import msgspec
import pytest

from service.server.listener import Listener
from service.server.startup_message import StartupMessage
from tests.directory import store, write_directory
from tests.loaded import snapshot

# Prints the message of a ready service to a terminal or to a file; returns the link to the explorer, if any.
Link = Callable[[StartupMessage, bool], str]


@pytest.fixture
def message() -> Iterator[StartupMessage]:
    with socket.create_server(("127.0.0.1", 0)) as bound:
        listener = Listener((bound,))
        yield StartupMessage(
            public=listener, admin=Listener(), has_explorer=True, made_key="sd_1", open_to_all=False, to_stderr=False
        )


@pytest.fixture
def link(tmp_path: Path) -> Link:
    current = snapshot(write_directory(tmp_path / "data", [store("s1")]))

    def read(message: StartupMessage, terminal: bool) -> str:
        with ExitStack() as files:
            if terminal:
                reading, writing = pty.openpty()
                files.callback(os.close, reading)
                output = files.enter_context(os.fdopen(writing, "w"))
            else:
                output = files.enter_context((tmp_path / "printed").open("w"))
            with redirect_stdout(output):
                message.ready(current)
            text = os.read(reading, 1 << 12).decode() if terminal else (tmp_path / "printed").read_text()
        assert isinstance(output, TextIOWrapper)
        links = [line.removeprefix("Explore: ") for line in text.splitlines() if line.startswith("Explore: ")]
        return "".join(links).removeprefix(message.public.url)

    return read


def test_the_link_has_a_key_that_was_made_for_this_run(message: StartupMessage, link: Link) -> None:
    assert link(message, True) == "/explorer#key=sd_1"


def test_a_log_has_the_link_without_the_key(message: StartupMessage, link: Link) -> None:
    assert link(message, False) == "/explorer"


def test_the_link_has_no_other_key(message: StartupMessage, link: Link) -> None:
    assert link(msgspec.structs.replace(message, made_key=None), True) == "/explorer"


def test_there_is_no_link_to_a_page_that_is_not_served(message: StartupMessage, link: Link) -> None:
    assert link(msgspec.structs.replace(message, has_explorer=False), True) == ""
