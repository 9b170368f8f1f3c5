"""The addresses that the service listens on."""

import socket

import pytest

from service.commands.listen import CannotListen, bind


@pytest.mark.parametrize("shared", [False, True])
def test_an_address_in_use_is_refused_also_to_workers_that_share_theirs(*, shared: bool) -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(CannotListen, match=f"cannot listen on 127.0.0.1:{port}: "):
            bind("127.0.0.1", port, shared=shared)


def test_a_host_that_is_no_address_is_refused() -> None:
    with pytest.raises(CannotListen, match=r"cannot listen on 256\.1\.1\.1:0: "):
        bind("256.1.1.1", 0, shared=False)
