"""The undocumented names of aiohttp that the service uses, each with its use.

None of them is private. Only this module imports them; a test compares the list with the installed release.
"""

from collections.abc import Mapping
from typing import Final

from aiohttp.http import HttpRequestParser, RawRequestMessage
from aiohttp.http_exceptions import BadHttpMethod, HttpProcessingError, LineTooLong

__all__ = ("BadHttpMethod", "HttpProcessingError", "HttpRequestParser", "LineTooLong", "RawRequestMessage")

NAMES: Final[Mapping[str, str]] = {
    "aiohttp.http.HttpRequestParser": "parses the head of a request, by llhttp; takes `response_with_body`",
    "aiohttp.http.HttpRequestParser.feed_data": "takes the next bytes of a head, returns a message at its end",
    "aiohttp.http.RawRequestMessage": "is the head of a request, parsed",
    "aiohttp.http.RawRequestMessage.chunked": "is whether its body is chunked, as llhttp sees it",
    "aiohttp.http.RawRequestMessage.headers": "are its header fields",
    "aiohttp.http.RawRequestMessage.method": "is its method",
    "aiohttp.http.RawRequestMessage.should_close": "is whether the client wants the connection closed",
    "aiohttp.http.RawRequestMessage.upgrade": "is whether the client wants to switch the protocol",
    "aiohttp.http.RawRequestMessage.url": "is the target, as a yarl.URL",
    "aiohttp.http.RawRequestMessage.version": "is the version of HTTP",
    "aiohttp.http_exceptions.BadHttpMethod": "is raised if the method is unknown to the parser",
    "aiohttp.http_exceptions.HttpProcessingError": "is the base of what the parser raises; has a `message`",
    "aiohttp.http_exceptions.LineTooLong": "is raised if a line exceeds a limit, which is among its `args`",
}
