"""Expensive requests of clients without a key, each up to the limits of the service."""

from typing import Final

import msgspec

from service.web.connections.limits import (
    MAX_BODY_LINE_BYTES,
    MAX_BODY_PARTS,
    MAX_FIELDS,
    MAX_HEAD_BYTES,
    MAX_LINE_BYTES,
    MAX_LINE_END_BYTES,
)
from service.web.headers.list_fields import MAX_CHARACTERS

# Replaced by a growing number, so that no part of such a request is cached.
_NUMBER: Final = b"#####"
_BODY_BYTES: Final = 1_000_000
# The length of a value in a line or a field.
_LONG: Final = MAX_LINE_BYTES - 100
_FIELDS: Final = MAX_FIELDS - 2
_CHUNKED: Final = b"Transfer-Encoding: chunked"


class Input(msgspec.Struct, frozen=True):
    """Bytes that a client sends repeatedly.

    answers     the number of responses
    closes      whether the connection ends with the last
    everything  whether it is for a service with an access log, a trusted proxy and an allowed origin
    attack      whether attackers send it: the worst of each kind
    bounded     whether its cost must be within the bound
    """

    name: str
    sent: bytes
    answers: int = 1
    closes: bool = False
    everything: bool = False
    attack: bool = False
    bounded: bool = True

    def numbered(self, number: int) -> bytes:
        """Return the bytes to send the next time."""
        return (
            self.sent.replace(_NUMBER, b"%05d" % (number % 100_000))
            if _NUMBER in self.sent[:MAX_LINE_BYTES]
            else self.sent
        )


def _request(target: bytes = b"/stores", *fields: bytes, method: bytes = b"GET", version: bytes = b"1.1") -> bytes:
    return b"\r\n".join((method + b" " + target + b" HTTP/" + version, b"Host: h", *fields, b"", b""))


def _filled(start: bytes, unit: bytes, length: int) -> bytes:
    """Return a start and a repeated unit, up to a length."""
    return start + unit * ((length - len(start)) // len(unit))


def _accepting(name: bytes, start: bytes, unit: bytes, target: bytes = b"/stores") -> bytes:
    return _request(target, name + b": " + _filled(start, unit, MAX_CHARACTERS - len(_NUMBER)) + _NUMBER)


def _body(*fields: bytes, body: bytes) -> bytes:
    return _request(b"/stores", *fields, method=b"POST") + body


PLAIN: Final = Input("an ordinary 401", _request(), attack=True)
ONCE: Final = Input(
    "an ordinary 401 on a connection of its own", _request(b"/stores", b"Connection: close"), closes=True
)

_SMALL: Final = (
    Input("16 pipelined 401s", _request() * 16, answers=16),
    Input("HTTP/1.0", _request(version=b"1.0", target=b"/stores"), closes=True),
    Input("an unknown path", _request(b"/nope")),
    Input("a method that is not allowed", _request(method=b"DELETE")),
    Input("an unknown method", _request(method=b"BREW"), closes=True),
    Input("`Expect: 100-continue`", _body(b"Expect: 100-continue", b"Content-Length: 3", body=b""), closes=True),
    Input("an upgrade", _request(b"/stores", b"Connection: upgrade", b"Upgrade: websocket"), closes=True),
    Input("connections closed at once", b"", answers=0, closes=True, attack=True),
    Input("what is no HTTP", b"NONSENSE\r\n\r\n", closes=True, attack=True),
    *(Input(f"`{path}`", _request(path.encode())) for path in ("/health", "/ready", "/docs", "/favicon.ico")),
)
_TARGETS: Final = (
    Input("the longest path", _request(_filled(b"/", b"a", _LONG))),
    Input("the longest path, percent-encoded", _request(_filled(b"/companies/", b"%2541", _LONG)), everything=True),
    Input("a path of 2,000 segments", _request(_filled(b"/", b"/%41", _LONG)), everything=True, attack=True),
    Input(
        "2,000 segments behind an unknown method", _request(_filled(b"/", b"/%41", _LONG), method=b"BREW"), closes=True
    ),
    Input("a query of 2,000 parameters", _request(_filled(b"/stores?", b"a=1&", _LONG))),
    Input("a query of 1,000, percent-encoded", _request(_filled(b"/stores?", b"%61=%62&", _LONG))),
    Input("a redirect with the longest query", _request(_filled(b"/stores/?", b"%ff", _LONG))),
    Input(
        "a target with a long internationalized host",
        _request(_filled(b"http://xn--", b"a", _LONG) + b"/a"),
        closes=True,
    ),
    Input("a request line that is too long", _request(_filled(b"/", b"a", MAX_LINE_BYTES + 10)), closes=True),
)
_HEADS: Final = (
    Input("a head of 32 KiB, 4 fields", _request(b"/stores", *[b"a: " + b"b" * 7990] * 4)),
    Input(
        f"a head of 32 KiB, {_FIELDS} fields",
        _request(b"/stores", *(b"a%02d: " % number + b"b" * 320 for number in range(_FIELDS))),
        attack=True,
    ),
    Input(
        "a head of 32 KiB, malformed at its end", _request(b"/stores", *[b"a: " + b"b" * 7990] * 4, b"c"), closes=True
    ),
    Input("too many fields", _request(b"/stores", *[b"a: b"] * (MAX_FIELDS + 1)), closes=True),
    Input("a head that is too large", _request(b"/stores", *[b"a: " + b"b" * 8000] * 5), closes=True),
    Input("a head without an end", (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 6000)[: MAX_HEAD_BYTES + 1], closes=True),
)
_FIELD_VALUES: Final = (
    Input('`Accept: x"` and `\\"` to 1,024 characters', _accepting(b"Accept", b'x"', b'\\"')),
    Input("`Accept` with 500 members", _accepting(b"Accept", b"", b"a,"), attack=True),
    Input("`Accept` with 150 weights", _accepting(b"Accept", b"", b"a;q=1,")),
    Input("`Accept` with 300 parameters", _accepting(b"Accept", b"a", b";a")),
    Input(f"`Accept` {_FIELDS} times", _request(b"/stores", *[b"Accept:" + _NUMBER] * _FIELDS)),
    Input("`Accept-Encoding` with 150 weights", _accepting(b"Accept-Encoding", b"", b"*;q=1,", b"/openapi.json")),
    Input(
        "`Prefer: handling=`, 1,000 spaces, `x y`", _request(b"/stores", b"Prefer: handling=" + b" " * 1000 + b"x y")
    ),
    Input("`If-None-Match`, 32 KiB", _request(b"/openapi.json", *[b'If-None-Match: "' + b'",' * 3990] * 4)),
    Input("`If-Match`, 32 KiB", _request(b"/openapi.json", *[b'If-Match: W/"' + b'W/"' * 2650] * 4)),
    Input("`x-api-key`, 8 KiB", _request(b"/stores", b"x-api-key: " + b"a" * _LONG)),
    Input("`X-Request-Id`, 8 KiB", _request(b"/stores", b"X-Request-Id: " + b"a" * _LONG)),
    Input("`traceparent`, 8 KiB", _request(b"/stores", b"traceparent: 00-" + b"a" * _LONG), everything=True),
    Input("`Origin`, 8 KiB", _request(b"/stores", b"Origin: " + b"a" * _LONG), everything=True),
    Input(
        "`X-Forwarded-For`, 8 KiB",
        _request(b"/stores", b"X-Forwarded-For: " + _filled(b"", b"127.0.0.1,", _LONG) + b"127.0.0.1"),
        everything=True,
    ),
)
_BODIES: Final = (
    Input("line ends before a request line", b"\r\n" * (MAX_LINE_END_BYTES // 2) + _request()),
    Input("64 KiB of line ends", b"\r\n" * 32_768, closes=True, attack=True),
    Input(
        "a body of 1,000,000 bytes, line ends",
        _body(b"Content-Length: %d" % _BODY_BYTES, body=b"\r\n" * (_BODY_BYTES // 2)),
        attack=True,
    ),
    Input(
        "a body of 1,000,000 bytes, one chunk",
        _body(_CHUNKED, body=b"%x\r\n%b\r\n0\r\n\r\n" % (_BODY_BYTES, bytes(_BODY_BYTES))),
    ),
    Input(
        f"a body of {MAX_BODY_PARTS} chunks of a byte",
        _body(_CHUNKED, body=b"1\r\na\r\n" * MAX_BODY_PARTS + b"0\r\n\r\n"),
        attack=True,
    ),
    Input(
        f"a body of {MAX_BODY_PARTS} chunks with extensions",
        _body(
            _CHUNKED,
            body=(_filled(b"1", b";a=b", MAX_BODY_LINE_BYTES // MAX_BODY_PARTS - 8) + b"\r\na\r\n") * MAX_BODY_PARTS
            + b"0\r\n\r\n",
        ),
    ),
    Input(
        f"a body of {MAX_BODY_PARTS} trailer fields",
        _body(_CHUNKED, body=b"0\r\n" + b"a:\r\n" * MAX_BODY_PARTS + b"\r\n"),
    ),
    Input("10,000 chunks of a byte", _body(_CHUNKED, body=b"1\r\na\r\n" * 10_000), closes=True),
    Input("a body that is too large", _request(b"/stores", b"Content-Length: 2000000"), closes=True),
    Input("what is no HTTP, and 1,000,000 bytes more", b"NONSENSE\r\n\r\n" + bytes(_BODY_BYTES), closes=True),
)
_DOCUMENTS: Final = (
    Input("`/openapi.json`", _request(b"/openapi.json")),
    Input("`/openapi.json`, `br`", _request(b"/openapi.json", b"Accept-Encoding: br")),
    Input("`/docs/swagger-ui.css`", _request(b"/docs/swagger-ui.css")),
    Input("`/docs/swagger-ui-bundle.js`, 1.4 MB", _request(b"/docs/swagger-ui-bundle.js"), attack=True),
    Input("`/docs/swagger-ui-bundle.js`, `br`", _request(b"/docs/swagger-ui-bundle.js", b"Accept-Encoding: br")),
    Input("`/metrics`, where it is public", _request(b"/metrics"), bounded=False),
)

# Each is compared with an ordinary 401.
INPUTS: Final = (ONCE, *_SMALL, *_TARGETS, *_HEADS, *_FIELD_VALUES, *_BODIES, *_DOCUMENTS)
ATTACKS: Final = (PLAIN, *(each for each in INPUTS if each.attack))
