"""Malformed and unacceptable requests, by family. Each contains a secret that must not be echoed or logged."""

from collections.abc import Iterator
from typing import Final

import msgspec

from service.web.connections.limits import MAX_BODY_BYTES, MAX_FIELD_BYTES, MAX_FIELDS, MAX_LINE_BYTES

SECRET: Final = b"s3cret-key"
_END: Final = b"\r\n\r\n"
_HOST: Final = b"Host: test\r\n"
_KEY: Final = b"Connection: close\r\nx-api-key: " + SECRET
_LINE: Final = b"GET /stores?city=" + SECRET + b" HTTP/1.1\r\n"
HEAD: Final = _LINE + _HOST + _KEY + b"\r\n"
_CONTROLS: Final = [*range(9), 11, 12, *range(14, 32), 127]
_NO_TOKEN: Final = b'"(),/:;<=>?@[\\]{}'


class Case(msgspec.Struct, frozen=True):
    """A name and the bytes to send."""

    name: str
    sent: bytes


def _lines() -> Iterator[Case]:
    """Yield malformed request lines."""
    target = b"/stores?city=" + SECRET
    for name, line in {
        "no version": b"GET " + target,
        "no target": b"GET HTTP/1.1",
        "nothing but a method": b"GET",
        "nothing but a method and a space": b"GET ",
        "nothing but CONNECT and a space": b"CONNECT ",
        "nothing but a target": target,
        "no method": target + b" HTTP/1.1",
        "spaces before the method": b"  GET " + target + b" HTTP/1.1",
        "a tab before the method": b"\tGET " + target + b" HTTP/1.1",
        "tabs for spaces": b"GET\t" + target + b"\tHTTP/1.1",
        "two spaces behind the version": b"GET " + target + b" HTTP/1.1  x",
        "a word too many": b"GET " + target + b" more HTTP/1.1",
        "a space in the target": b"GET /sto res HTTP/1.1",
        "a version in small letters": b"GET " + target + b" http/1.1",
        "a line of an answer": b"HTTP/1.1 200 OK",
        "an answer to a secret": b"HTTP/1.1 200 " + SECRET,
        "a proxy line": b"PROXY TCP4 10.0.0.1 10.0.0.2 1 2",
        "a line of mail": b"EHLO " + SECRET,
        "a line of a shell": b"USER " + SECRET,
        "quotes": b'"GET" "' + target + b'" "HTTP/1.1"',
        "empty words": b"   ",
    }.items():
        yield Case(name, line + b"\r\n" + _HOST + _KEY + _END)


def _versions() -> Iterator[Case]:
    for version in (
        *("0.9", "1.2", "1.3", "1.9", "2.0", "2.1", "3.0", "9.9", "0.0", "0.1", "1.10", "1.01", "01.1", "11.1", "1"),
        *("1.", ".1", "1,1", "1.1.1", "-1.1", "+1.1", "1.-1", "1.x", "x.1", "", "1.1x", "1 .1", "1. 1"),
        *("65537.1", "1.65537"),
    ):
        line = b"GET /stores?city=" + SECRET + b" HTTP/" + version.encode() + b"\r\n"
        yield Case(f"HTTP/{version}", line + _HOST + _KEY + _END)
    for name in (
        *("HTTPS/1.1", "HTP/1.1", "ICE/1.0", "RTSP/1.0", "SIP/2.0", "HTTP 1.1", "HTTP\\1.1", "HTTP", "HTCPCP/1.0"),
    ):
        yield Case(name, b"GET /stores " + name.encode() + b"\r\n" + _HOST + _KEY + _END)
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    yield Case("the preface of HTTP/2", preface)
    yield Case("the preface of HTTP/2 and a frame", preface + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00")


def _methods() -> Iterator[Case]:
    for sign in (*_CONTROLS, *_NO_TOKEN, 128, 255):
        line = b"G" + bytes([sign]) + b"T /stores HTTP/1.1\r\n"
        yield Case(f"byte {sign} in a method", line + _HOST + _KEY + _END)


def _targets() -> Iterator[Case]:
    for sign in (*_CONTROLS, 32, 128, 255):
        line = b"GET /stores?city=" + SECRET + bytes([sign]) + b"x HTTP/1.1\r\n"
        yield Case(f"byte {sign} in a target", line + _HOST + _KEY + _END)
    for target in (
        *("stores", "?limit=1", "#top", "*", "test", "test:80", ":80", "//", "http:", "http:/stores", "http://"),
        *("http:///stores", "http://[::1/stores", "http://[/stores", "http://a:b/stores"),
        *("http://t:99999/stores", "\\stores"),
        *("./stores", "../stores", "javascript:alert(1)", "mailto:a@b", "data:,x", "http:/test"),
    ):
        yield Case(f"target {target}", b"GET " + target.encode() + b" HTTP/1.1\r\n" + _HOST + _KEY + _END)
    for target in ("/", "test", "*", "test:http", "", "@", "[::1"):
        yield Case(f"CONNECT {target}", b"CONNECT " + target.encode() + b" HTTP/1.1\r\n" + _HOST + _KEY + _END)


def _fields() -> Iterator[Case]:
    for sign in (*(sign for sign in _CONTROLS), 32, 9, *_NO_TOKEN.replace(b":", b""), 128, 255):
        yield Case(f"byte {sign} in a name", HEAD + b"x" + bytes([sign]) + b"y: " + SECRET + _END)
    for sign in _CONTROLS:
        yield Case(f"byte {sign} in a value", HEAD + b"x: " + SECRET + bytes([sign]) + b"y" + _END)
    for name, field in {
        "no colon": SECRET,
        "no name": b": " + SECRET,
        "a space before the colon": b"x : " + SECRET,
        "a tab before the colon": b"x\t: " + SECRET,
        "a folded value": b"x: a\r\n " + SECRET,
        "a value folded with a tab": b"x: a\r\n\t" + SECRET,
        "an empty folded value": b"x:\r\n " + SECRET,
        "CR alone behind a value": b"x: " + SECRET + b"\ry: z",
        "CR CR LF": b"x: " + SECRET + b"\r\r\ny: z",
        "LF CR": b"x: " + SECRET + b"\n\ry: z",
    }.items():
        yield Case(name, HEAD + field + _END)
    yield Case("a first field that is folded", _LINE + b" " + _KEY + b"\r\n" + _HOST + _END)
    yield Case("CR alone for all", HEAD.replace(b"\r\n", b"\r") + b"\r\r" + _END)
    yield Case("LF alone for all", HEAD.replace(b"\r\n", b"\n") + b"\n")
    yield Case("LF alone at the end", HEAD + b"\n")
    yield Case("LF alone behind the line", HEAD.replace(b"\r\n", b"\n", 1) + b"\r\n")
    yield Case("LF alone behind a value", HEAD + b"x: y\nz: a" + _END)


def _hosts() -> Iterator[Case]:
    yield Case("no Host", _LINE + _KEY + _END)
    yield Case("two Hosts", HEAD + _HOST + b"\r\n")
    yield Case("two Hosts that differ", HEAD + b"Host: " + SECRET + _END)
    yield Case("a Host with a space before its colon", _LINE + b"Host : test\r\n" + _KEY + _END)


def _lengths() -> Iterator[Case]:
    for length in (
        *("", " ", "x", "-1", "+1", "1.0", "1e1", "0x1", "1 1", "1,1", "1, 1", "1,2", "1;1", "1_0", "0-1"),
        *("1-1", "\u0661"),
        *("1\t1", "\x0b1", "1\x0c", "\xa01", "1\x00", "18446744073709551616", "9" * 30, "184467440737095516160"),
        *("+0", "-0"),
        *("#1", "'1'", '"1"', "1a", "a1", "1\r\n 1", "\r\n 1", "NaN", "Infinity", "1/1", "1:1", "0,0", "00,1", "1,"),
    ):
        head = HEAD + b"Content-Length: " + length.encode("utf-8") + _END
        yield Case(f"Content-Length {length!r}", head + SECRET)
    for first, second in (("1", "2"), ("1", "1"), ("0", "1"), ("1", "x"), ("01", "1"), ("", "1"), ("1", "")):
        lines = f"Content-Length: {first}\r\nContent-Length: {second}".encode()
        yield Case(f"Content-Length {first!r} and {second!r}", HEAD + lines + _END + SECRET)
    for name in ("Content-Length ", "Content-Length\t", " Content-Length", "Content\x00-Length", "Content-Length\x0b"):
        yield Case(f"{name!r}", HEAD + name.encode() + b": 10" + _END + SECRET)


def _codings() -> Iterator[Case]:
    chunks = b"1\r\na\r\n0" + _END
    for coding in (
        *("", "identity", "xchunked", "chunkedx", "chunked,", "chunked, identity", "chunked, gzip"),
        *("chunked, chunked", "x"),
        *("chunked;a=b", "\x0bchunked", "chunked\x0b", "chunk\x00ed", '"chunked"', "chunked\r\n chunked"),
        *("'chunked'", "gzip", "deflate"),
        *("chunked chunked", "cow", "trailers", "ch\u00fcnked", "chunk", "chunked\x0c", "\xa0chunked", "chunked, cow"),
    ):
        head = HEAD + b"Transfer-Encoding: " + coding.encode() + _END
        yield Case(f"Transfer-Encoding {coding!r}", head + chunks)
    for name in (
        *("Transfer-Encoding ", "Transfer-Encoding\t", " Transfer-Encoding"),
        *("Transfer\x00-Encoding", "Transfer Encoding"),
    ):
        yield Case(f"{name!r}", HEAD + name.encode() + b": chunked" + _END + chunks)
    for name, lines in {
        "a length, then chunks": b"Content-Length: 5\r\nTransfer-Encoding: chunked",
        "chunks, then a length": b"Transfer-Encoding: chunked\r\nContent-Length: 5",
        "a length of none and chunks": b"Content-Length: 0\r\nTransfer-Encoding: chunked",
        "a length and an unknown coding": b"Content-Length: 5\r\nTransfer-Encoding: cow",
        "a length and identity": b"Content-Length: 5\r\nTransfer-Encoding: identity",
        "chunked twice": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "chunked, then identity": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "an unknown coding, chunked, a length": b"Transfer-Encoding: cow, chunked\r\nContent-Length: 5",
    }.items():
        yield Case(name, HEAD + lines + _END + chunks)
    yield Case("chunks in HTTP/1.0", HEAD.replace(b"/1.1", b"/1.0") + b"Transfer-Encoding: chunked" + _END + chunks)


def _sizes() -> Iterator[Case]:
    for much in (1, 100, 60_000):
        line = b"GET /stores?q=" + b"a" * (MAX_LINE_BYTES + much) + b" HTTP/1.1\r\n"
        yield Case(f"an address of {MAX_LINE_BYTES + much} bytes and more", line + _HOST + _END)
        yield Case(f"a value too long by {much}", HEAD + b"q: " + b"a" * (MAX_FIELD_BYTES + much) + _END)
        yield Case(f"a name too long by {much}", HEAD + b"q" * (MAX_FIELD_BYTES + much) + b": a" + _END)
        yield Case(f"fields too many by {much}", HEAD + b"q: a\r\n" * (MAX_FIELDS + much) + b"\r\n")
        yield Case(f"a body too long by {much}", HEAD + b"Content-Length: %d" % (MAX_BODY_BYTES + much) + _END)
        yield Case(f"a method of {64 * much} bytes", b"G" * 64 * much + b" /stores\r\n" + _HOST + _END)


def _other_protocols() -> Iterator[Case]:
    for name, sent in {
        "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + SECRET + _END,
        "SSH": b"SSH-2.0-" + SECRET + b"\r\n",
        "Redis": b"*1\r\n$4\r\nPING\r\n",
        "SOCKS": b"\x05\x01\x00" + SECRET,
        "SMB": b"\x00\x00\x00\x85\xffSMB" + SECRET,
        "RDP": b"\x03\x00\x00\x13\x0e\xe0" + SECRET,
        "DNS": b"\x00\x1e\x00\x06\x01\x00\x00\x01" + SECRET,
        "memcached": b"stats " + SECRET + b"\r\n",
        "the PROXY protocol 2": b"\r\n\r\n\x00\r\nQUIT\n\x21\x11" + SECRET,
        "a byte-order mark": b"\xef\xbb\xbf" + HEAD + b"\r\n",
        "UTF-16": HEAD.decode().encode("utf-16") + "\r\n".encode("utf-16-le"),
        "bytes of no kind": bytes(range(256)) + SECRET + _END,
        "NULs": bytes(64) + SECRET + _END,
    }.items():
        yield Case(name, sent)


FAMILIES: Final = {
    "request lines": list(_lines()),
    "versions": list(_versions()),
    "methods": list(_methods()),
    "targets": list(_targets()),
    "fields": list(_fields()),
    "hosts": list(_hosts()),
    "lengths": list(_lengths()),
    "codings": list(_codings()),
    "sizes": list(_sizes()),
    "other protocols": list(_other_protocols()),
}
