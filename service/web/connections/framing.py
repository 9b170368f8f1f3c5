"""The framing of requests: parsed heads become requests, whose bodies are skipped."""

from aiohttp import HttpVersion10, HttpVersion11, hdrs
from yarl import URL

from service.model.errors import BadRequest, ContentTooLarge, RequestError
from service.web.connections.aiohttp_names import RawRequestMessage
from service.web.connections.body import ChunkedBody, RequestBody, SizedBody
from service.web.connections.limits import MAX_BODY_BYTES, MAX_HOST_CHARACTERS
from service.web.requests.request import Request
from service.web.requests.request_fields import RequestFields


def read_request(
    message: RawRequestMessage, received: bytearray, remote: str | None
) -> tuple[Request, RequestBody | None]:
    """Return the request of a parsed head, and its body if more of it is to come.

    Removes the received part of the body from `received`, which begins after the head.
    """
    headers, version, url = message.headers, message.version, message.url
    keep_alive = not (message.should_close or message.upgrade)  # an upgrade is declined; what follows may not be HTTP
    body, error = None, None
    try:
        if url.absolute and not _has_valid_host(url):
            raise BadRequest
        body = _body(message)
        if body is not None:
            keep_alive = keep_alive and hdrs.EXPECT not in headers  # the body may come now, or never
            body.skip(received)
    except RequestError as exc:
        body, error = None, exc.with_traceback(None)  # which would make a cycle with this frame
        if version != HttpVersion10:  # RFC 9110 section 2.5: the highest version that the server speaks
            version = HttpVersion11
    request = Request(
        line=_line(message),
        method=message.method,
        path=url.raw_path,
        query=url.raw_query_string,
        version=version,
        fields=RequestFields(headers),
        remote=remote,
        keep_alive=keep_alive,
        error=error,
    )
    return request, None if body is None or body.ended else body


def _line(message: RawRequestMessage) -> bytes:
    """Return the request line of a head."""
    version = message.version
    line = f"{message.method} {message.path} HTTP/{version.major}.{version.minor}"
    return line.encode("utf-8", "surrogateescape")


def _has_valid_host(url: URL) -> bool:
    """Return whether the host of a target is valid, unlike `xn--`, and not too long."""
    if len(url.raw_host or "") > MAX_HOST_CHARACTERS:  # decoding it takes quadratic time
        return False
    try:
        _ = url.host
    except ValueError:
        return False
    return True


def _body(message: RawRequestMessage) -> RequestBody | None:
    """Return the body that the header fields announce (RFC 9112 section 6.3).

    Raises `ContentTooLarge`. Raises `BadRequest` for a version other than 1.0 and 1.1, and for any transfer coding but
    chunked, alone and in HTTP/1.1: another server may see another end of such a request (request smuggling).
    """
    headers, version = message.headers, message.version
    if version is not HttpVersion11 and version != HttpVersion10:
        raise BadRequest
    if hdrs.TRANSFER_ENCODING in headers:
        alone = [coding.lower() for coding in headers.getall(hdrs.TRANSFER_ENCODING)] == ["chunked"]
        if not (message.chunked and alone) or version != HttpVersion11:
            raise BadRequest
        return ChunkedBody()
    if hdrs.CONTENT_LENGTH not in headers:
        return None
    length = headers[hdrs.CONTENT_LENGTH]
    if not (length.isascii() and length.isdigit()):
        raise BadRequest
    significant = length.lstrip("0")[: len(str(MAX_BODY_BYTES)) + 1]  # int() limits the number of digits
    if int(significant or 0) > MAX_BODY_BYTES:
        raise ContentTooLarge
    return SizedBody(int(significant or 0))
