"""Readers of parts of requests and settings. Each takes any bytes; an exception is a finding.

The errors that a reader promises are caught, and what must hold of what it read is asserted.
"""

import json
import re
from contextlib import suppress
from ipaddress import ip_address
from typing import Final
from urllib.parse import quote, unquote

from aiohttp import hdrs
from multidict import CIMultiDict, CIMultiDictProxy

from service.access.key_file import KeyFileError, encode_keys, read_keys
from service.access.keyring import unrevoked
from service.access.token_bucket import parse_rate
from service.model.envelope import opening
from service.model.errors import NotFound, PreconditionFailed, RequestError, UnprocessableContent
from service.model.operation import IGNORED_HEADER
from service.model.parameters import map_parameters_of
from service.model.query import Query, QueryParser, query_pairs
from service.model.records import COMPANIES, STORES
from service.settings import parse_origin
from service.web.connections.framing import ChunkedBody, read_request
from service.web.connections.heads import HeadReader, RejectedHead
from service.web.http.conditional import evaluate_conditions
from service.web.http.content_coding import IDENTITY, acceptable
from service.web.http.forwarded import X_FORWARDED_FOR, parse_trusted_proxies, safe_id, trace_id
from service.web.http.header_fields import LINE_END, HeaderLines, is_strict, weights
from service.web.http.links import MAX_BYTES, ignored_parameter_lines, link_lines, page_link_base
from service.web.http.request import without_trailing_slash
from service.web.http.response import Answer, error_answer
from service.web.pipeline.access_log import loggable_path
from service.web.pipeline.plan import Identity, entity_tag
from service.web.pipeline.routes import AnswerRoute, Routes
from tests.declared_attributes import STORES_WITH_HOURS

_READERS: Final = (
    QueryParser(STORES_WITH_HOURS),
    QueryParser(STORES, map_parameters_of(STORES)),
    QueryParser(COMPANIES),
    QueryParser(),
)
_CONDITIONS: Final = (hdrs.IF_NONE_MATCH, hdrs.IF_MATCH, hdrs.IF_MODIFIED_SINCE, hdrs.IF_UNMODIFIED_SINCE)
_ROUTES: Final = Routes(
    AnswerRoute(path=path, answer=lambda *_: Answer(()))
    for path in ("/stores", "/stores/{id}", "/docs/page.js", "/companies/{id}")
)
_MODIFIED: Final = 1_717_149_600
_ROWS: Final = 2_000
_TRACE_BYTES: Final = 16
_TAG_DIGITS: Final = 32
_LIKE_A_KEY: Final = re.compile(r"sd_[\w-]{8}")


def read_query(given: bytes) -> None:
    """Read a query, and write what is made of it: links, tags, the beginning of a page."""
    raw = _text(given)
    pairs = query_pairs(raw)
    for reader in _READERS:
        for strict in (False, True):
            with suppress(UnprocessableContent):
                query, unknown = reader.read(pairs, strict=strict)
                _check(raw, query)
                for line in _lines(ignored_parameter_lines(unknown)):
                    assert len(line) <= len(f"{IGNORED_HEADER}: ") + MAX_BYTES


def _check(raw: str, query: Query) -> None:
    assert len(_lines(link_lines(page_link_base(raw), query, _ROWS))) <= 1
    assert json.loads(opening(query, _ROWS) + b"]}", parse_int=str)["total_count"] == str(_ROWS)
    assert all(list(each.keys) == sorted({*each.keys}) for each in query.filters)
    links = page_link_base(raw, "/stores")
    assert links.isascii()
    assert len(entity_tag(Identity("/stores", query, "v", links=links), IDENTITY)) == _TAG_DIGITS


def _lines(headers: HeaderLines) -> list[str]:
    """Return header lines without their ends."""
    *lines, rest = headers.split(LINE_END)
    assert not rest
    assert all(line.isascii() and line.isprintable() for line in lines)
    return lines


def read_path(given: bytes) -> None:
    """Read a path, and write where it leads."""
    raw = _text(given)
    route, segment = _ROUTES.find(f"/{raw}")
    if raw.isascii():
        again, same = _ROUTES.find("/" + "/".join(quote(unquote(each), safe="") for each in raw.split("/")))
        assert (again, unquote(same)) == (route, unquote(segment))
    location = without_trailing_slash(f"/{raw}/", raw)
    assert location.isascii()
    assert location.isprintable()


def read_fields(given: bytes) -> None:
    """Read header fields, a line each, that are lists."""
    fields = [_text(line) for line in given.split(b"\n")]
    assert all(0 <= weight <= 1 for weight in weights(fields).values())
    assert acceptable(*fields)
    assert is_strict([]) <= is_strict(fields) <= True
    assert error_answer(NotFound(), fields).status == NotFound.status


def read_tracing(given: bytes) -> None:
    """Read the identity of a request, and escape it and a path as in the log."""
    raw = _text(given)
    identifier, trace = safe_id(raw), trace_id(raw)
    assert identifier in (None, raw)
    assert identifier is None or (identifier.isascii() and identifier.isprintable())
    assert trace is None or len(bytes.fromhex(trace)) == _TRACE_BYTES
    shown = loggable_path(raw)
    assert shown.isascii()
    assert _LIKE_A_KEY.search(shown) is None


def read_conditions(given: bytes) -> None:
    """Read conditions, a header field each line, in turn of each kind."""
    lines = [_text(line) for line in given.split(b"\n")]
    headers = CIMultiDictProxy(CIMultiDict(zip(_CONDITIONS * len(lines), lines, strict=False)))
    for modified in (None, _MODIFIED):
        with suppress(PreconditionFailed):
            assert evaluate_conditions(headers, ("a", "b-zstd"), modified) in (None, "", "a", "b-zstd")


def read_cors_origin(given: bytes) -> None:
    """Read an origin of the settings."""
    with suppress(ValueError):
        origin = parse_origin(given.decode("utf-8", "surrogateescape"))
        assert origin.isascii()
        assert parse_origin(origin) == origin


def read_key_rate(given: bytes) -> None:
    """Read the rate of a key."""
    with suppress(ValueError):
        rate = parse_rate(given.decode("utf-8", "surrogateescape"))
        assert rate.burst == rate.requests > 0


def read_key_file(given: bytes) -> None:
    """Read a key file; what is read is written as it can be read again."""
    with suppress(KeyFileError):
        entries = read_keys(given)
        assert read_keys(encode_keys(entries)) == entries
        assert len(unrevoked(entries)) <= len(entries)


def read_forwarded(given: bytes) -> None:
    """Find the client's address behind a trusted proxy, in fields of a line each."""
    headers = CIMultiDictProxy(CIMultiDict([(X_FORWARDED_FOR, _text(line)) for line in given.split(b"\n")]))
    client = parse_trusted_proxies(["10.0.0.0/8", "::/0", "unix"]).client("10.0.0.1", headers)
    assert str(ip_address(client)) == client


def read_heads(given: bytes) -> None:
    """Read the heads of requests; byte by byte they are the same as at once."""
    assert _heads(given, step=1) == _heads(given, step=max(1, len(given)))


def read_heads_at_once(given: bytes) -> None:
    """Read the heads of requests: beyond a limit, byte by byte, a request is rejected earlier."""
    _heads(given, step=max(1, len(given)))


def _heads(given: bytes, *, step: int) -> list[object]:
    reader, received, found = HeadReader(), bytearray(), list[object]()
    for start in range(0, len(given), step):
        received += given[start : start + step]
        ended = start + step >= len(given)
        while (head := reader.read(received, ended=ended)) is not None:
            if isinstance(head, RejectedHead):
                accept = head.accept if head.error.may_be_problem else []
                return [*found, (type(head.error), accept)]
            found.append((reader.method or head.method, head.url, head.raw_headers))
            read_request(head, bytearray(), None, reader.method)
            reader.method = None
    return found


def read_chunks(given: bytes) -> None:
    """Skip a body in chunks; byte by byte it ends where it ends at once."""
    assert _skipped(given, step=1) == _skipped(given, step=max(1, len(given)))


def _skipped(given: bytes, *, step: int) -> object:
    body, received = ChunkedBody(), bytearray()
    try:
        for start in range(0, len(given), step):
            received += given[start : start + step]
            if not body.ended:
                body.skip(received)
    except RequestError as error:
        return type(error)
    return bytes(received) if body.ended else None


def _text(given: bytes) -> str:
    """Return what aiohttp would hand on: no line ends, and other bytes than UTF-8 as half surrogates."""
    return given.translate(None, b"\r\n\0").decode("utf-8", "surrogateescape")
