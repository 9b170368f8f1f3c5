"""A connection to the whole service, through everything that reads requests; and all readers that are measured."""

import asyncio
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec

from service.publishing.snapshot import SnapshotHolder
from service.web.connections.limits import MAX_FIELD_BYTES, RECEIVE_BYTES
from service.web.pipeline.access_log import AccessLogEntry, encode_lines
from service.web.pipeline.app import App
from service.web.site import make_site
from tests.directory import write_directory
from tests.fuzz.alphabets import CHUNKS, CONDITIONS, FIELDS, FORWARDED, HEADS, ORIGINS, TRACES
from tests.fuzz.complexity import Reader
from tests.fuzz.input_shapes import Alphabet, characters
from tests.fuzz.targets import TARGETS
from tests.loaded import serve
from tests.web.connections.harness import Wire
from tests.web.live import COMPANIES, DEFAULTS, KEY, STORES, authentication

_END: Final = b"\r\n\r\n"
_GET: Final = b"GET /stores HTTP/1.1\r\nHost: t\r\nx-api-key: %b\r\n" % KEY.encode()
_POST: Final = b"POST /health HTTP/1.1\r\nHost: t\r\n"
_CHUNKED: Final = _POST + b"Transfer-Encoding: chunked\r\n\r\n"
_SIZED: Final = _POST + b"Content-Length: 1000000\r\n\r\n"


class _Discarding:
    """An access log of which nothing is kept."""

    def write(self, entry: AccessLogEntry) -> bool:
        """Encode an entry."""
        return bool(encode_lines([entry]))


@cache
def _app() -> App:
    """Return the service, with data, an access log, and trust in the proxy that sends the requests."""
    snapshots = SnapshotHolder()
    with TemporaryDirectory() as folder:
        asyncio.run(serve(snapshots, write_directory(Path(folder) / "data", STORES, COMPANIES)))
    trusting = msgspec.structs.replace(DEFAULTS, trusted_proxy=("192.0.2.0/24",))
    return make_site(snapshots, authentication([KEY]), trusting, log=_Discarding().write).public


def sending(step: int) -> Callable[[bytes], None]:
    """Return what sends bytes on a new connection, `step` of them at a time, and takes the responses."""
    return lambda given: asyncio.run(_send(_app(), given, step))


async def _send(app: App, given: bytes, step: int) -> None:
    wire = Wire(app)
    for start in range(0, len(given), step):
        wire.put(given[start : start + step])
    await wire.finish()
    await wire.half_close()


def _field(name: bytes, alphabet: Alphabet) -> Alphabet:
    """Return the requests in which the value of a header field is of an alphabet."""
    return Alphabet(
        [fragment for fragment in alphabet.fragments if fragment != b"\n"],
        [_GET + name + b": " + start.replace(b"\n", b"") for start in alphabet.starts],
        [end + _END for end in alphabet.ends],
        MAX_FIELD_BYTES - 100,
        paired=False,
    )


_DATES: Final = Alphabet((*characters(b" ,1:-"), b"Fri", b"GMT", b"May"), (b"", b"Fri,", b"Fri, 31 May", b"Fri May"))
_FIELDS: Final = {
    b"Accept": FIELDS,
    b"Accept-Encoding": FIELDS,
    b"Prefer": FIELDS,
    b"If-Match": msgspec.structs.replace(CONDITIONS, starts=(b"",)),
    b"If-None-Match": msgspec.structs.replace(CONDITIONS, starts=(b"",)),
    b"If-Modified-Since": _DATES,
    b"If-Unmodified-Since": _DATES,
    b"X-Forwarded-For": FORWARDED,
    b"X-Request-Id": TRACES,
    b"traceparent": TRACES,
    b"Origin": ORIGINS,
    b"X-Dataset-Version": Alphabet(characters(b"a \t\xff")),
    b"x-api-key": Alphabet((b"sd_", b"pub_", b"a", b"\xff")),
    b"Content-Length": Alphabet(characters(b"01 ,+")),
    b"Transfer-Encoding": Alphabet((*characters(b" ,;"), b"chunked", b"\r\nTransfer-Encoding: chunked")),
    b"Connection": Alphabet((*characters(b" ,"), b"close", b"keep-alive", b"upgrade")),
    b"Host": Alphabet((*characters(b":.[a"), b"xn--")),
}
# What is sent at once, by what of it is varied.
REQUESTS: Final[Mapping[str, Alphabet]] = {
    "request line": Alphabet(
        (*characters(b"/%?#@:[].a "), b"xn--a", b"\xcc\x81"),
        (
            *(b"GET /", b"GET ", b"GET http://xn--", b"GET /stores?city=", b"GET /stores?%6bey=sd_pub_&key"),
            *(b"BREW /", b"B"),
        ),
        (b" HTTP/1.1\r\nHost: t\r\n\r\n",),
        MAX_FIELD_BYTES,
    ),
    **{name.decode(): _field(name, alphabet) for name, alphabet in _FIELDS.items()},
    "pipeline": Alphabet(
        (
            *(b"GET /health HTTP/1.1\r\nHost: t\r\n\r\n", b"HEAD / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
            *(_POST + b"Content-Length: 3\r\n\r\nabc", _CHUNKED + b"1\r\na\r\n0\r\n\r\n"),
            *(*characters(b"\r\n A"), b"\r\n"),
        )
    ),
    "body in chunks": Alphabet(CHUNKS.fragments, [_CHUNKED + start for start in CHUNKS.starts], paired=False),
    "sized body": Alphabet((b"a", b"\r\n", b"GET / HTTP/1.1\r\n\r\n"), (_SIZED, _GET + b"Connection: close\r\n\r\n")),
}
# What is sent in pieces of a few bytes: every state that a piece may end in.
PIECES: Final = Alphabet(
    HEADS.fragments,
    (b"GET /", b"", b"BREW /", _GET, _GET + b"a: ", _CHUNKED, _CHUNKED + b"0\r\n", _CHUNKED + b"1;a=", _SIZED),
    limit=MAX_FIELD_BYTES - 100,
    paired=False,
)


_STEPS: Final = (1, 7, 64)  # bytes of a piece
READERS: Final[Mapping[str, Reader]] = {
    **{f"connection: {name}": Reader(sending(RECEIVE_BYTES), alphabet) for name, alphabet in REQUESTS.items()},
    **{f"connection, {step} bytes at a time": Reader(sending(step), PIECES) for step in _STEPS},
    **{name: Reader(target.unchecked or target.read, target.alphabet) for name, target in TARGETS.items()},
}
