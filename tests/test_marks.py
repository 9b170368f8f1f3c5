"""A test without the mark `process` starts no process and opens no socket."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable

import pytest


def bind() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))


def connect() -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect("nowhere")


STARTS: dict[str, Callable[[], object]] = {
    "a process": lambda: subprocess.Popen([sys.executable, "-V"]),
    "a fork": os.fork,
    "a spawned process": lambda: os.posix_spawn(sys.executable, [sys.executable, "-V"], {}),
    "a listener": bind,
    "a connection": connect,
}


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_it_is_an_error(start: Callable[[], object]) -> None:
    with pytest.raises(RuntimeError, match=r"which needs @pytest\.mark\.process"):
        start()


async def test_an_event_loop_is_none() -> None:
    """Its own pair of sockets is connected when it is made."""
