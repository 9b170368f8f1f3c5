"""Requests, built from parsed heads."""

import pytest
from aiohttp import HttpVersion, HttpVersion11
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from service.model.errors import ContentTooLarge
from service.web.connections.framing import read_request
from service.web.connections.heads import RawRequestMessage
from service.web.connections.limits import MAX_BODY_BYTES
from service.web.http.request import Request


def read(*fields: tuple[str, str], version: HttpVersion = HttpVersion11, chunked: bool = False) -> Request:
    headers = CIMultiDictProxy(CIMultiDict(fields))
    message = RawRequestMessage("GET", "/", version, headers, (), False, None, False, chunked, URL("/"))
    return read_request(message, bytearray(), None)[0]


@pytest.mark.parametrize("length", [str(MAX_BODY_BYTES + 1), "1" + "0" * 18, "1" + "0" * 5000])
def test_a_content_length_over_the_limit_is_413_however_many_digits_it_has(length: str) -> None:
    assert isinstance(read(("Content-Length", length)).error, ContentTooLarge)


@pytest.mark.parametrize("length", ["0", "0" * 5000, "0" * 5000 + "1", str(MAX_BODY_BYTES)])
def test_a_content_length_within_the_limit_is_accepted_with_any_leading_zeros(length: str) -> None:
    assert read(("Content-Length", length)).error is None
