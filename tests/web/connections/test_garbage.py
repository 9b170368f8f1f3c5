"""A connection that is closed leaves nothing behind that has to be collected: a collection holds up every client."""

import gc

import pytest

from service.web.connections.connection import Connection
from tests.web.connections.harness import GET, exchange

HEAD = GET[:-2]
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize(
    "sent",
    [
        HEAD + b"Connection: close\r\n\r\n",
        GET.replace(b"/health", b"/nope") + HEAD + b"Connection: close\r\n\r\n",
        b"NONSENSE\r\n\r\n",
        b"\r\n" * 50,
        GET.replace(b"GET", b"BREW"),
        GET.replace(b"1.1", b"2.0"),
        GET.replace(b"/health", b"http://xn--/health"),
        HEAD + b"a: b\r\n" * 200 + b"\r\n",
        HEAD + b"a: " + b"b" * 9000 + b"\r\n\r\n",
        HEAD + b"Content-Length: 2000000\r\n\r\n",
        CHUNKED + b"x\r\n",
        CHUNKED + b"1\r\na\r\n" * 10_000,
    ],
    ids=range(12),
)
async def test_a_closed_connection_is_gone_without_a_collection(sent: bytes) -> None:
    wire = await exchange(sent)
    assert wire.lost
    assert wire.statuses
    del wire.connection
    assert not [each for each in gc.get_objects() if isinstance(each, Connection)]
