"""Requests, built from parsed heads."""

from aiohttp import HttpVersion, HttpVersion11
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from service.model.errors import BadRequest, ContentTooLarge
from service.web.connections.framing import read_request
from service.web.connections.heads import RawRequestMessage
from service.web.connections.limits import MAX_BODY_BYTES
from service.web.http.request import Request


def read(*fields: tuple[str, str], version: HttpVersion = HttpVersion11, chunked: bool = False) -> Request:
    headers = CIMultiDictProxy(CIMultiDict(fields))
    message = RawRequestMessage("GET", "/", version, headers, (), False, None, False, chunked, URL("/"))
    return read_request(message, bytearray(), None)[0]


def test_a_content_length_is_ascii_digits_within_the_limit_even_if_the_parser_accepts_more() -> None:
    for length in ("", "-1", "+1", "1_0", "1.0", "0x1", " 1", "\u0661", "\u00b2", "1,1"):
        assert isinstance(read(("Content-Length", length)).error, BadRequest), length
    for length in (str(MAX_BODY_BYTES + 1), "1" + "0" * 18, "1" + "0" * 5000):
        assert isinstance(read(("Content-Length", length)).error, ContentTooLarge)
    for length in ("0", "0" * 5000, "0" * 5000 + "1", str(MAX_BODY_BYTES)):
        assert read(("Content-Length", length)).error is None


def test_a_transfer_coding_other_than_chunked_alone_in_http_1_1_is_rejected() -> None:
    for codings, chunked in (
        *((["chun\u212aed"], False), (["chunked"], False), (["identity"], False)),
        *((["gzip, chunked"], True), (["gzip", "chunked"], True), (["chunked", "chunked"], True)),
    ):
        fields = [("Transfer-Encoding", coding) for coding in codings]
        assert isinstance(read(*fields, chunked=chunked).error, BadRequest), codings
    field = ("Transfer-Encoding", "Chunked")
    assert read(field, chunked=True).error is None
    assert isinstance(read(field, version=HttpVersion(1, 0), chunked=True).error, BadRequest)


def test_an_unsupported_version_is_answered_in_the_highest_supported_one() -> None:
    request = read(version=HttpVersion(2, 0))
    assert (type(request.error), request.version) == (BadRequest, HttpVersion11)
