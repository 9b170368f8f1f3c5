"""What is answered, before it is an aiohttp response."""

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Final

import msgspec
from aiohttp import web

from service import __version__
from service.errors import RequestError

JSON: Final = "application/json"
_SERVER: Final = f"store-directory/{__version__}"
_NONE: Final[Mapping[str, str]] = MappingProxyType({})


class Answer(msgspec.Struct, frozen=True):
    """A body with its media type, status and further headers."""

    body: bytes
    media_type: str = JSON
    status: HTTPStatus = HTTPStatus.OK
    headers: Mapping[str, str] = _NONE

    @classmethod
    def of(cls, error: RequestError) -> "Answer":
        """Return the one shape of error, for every error."""
        return cls(msgspec.json.encode(error.body), status=error.status, headers=error.headers)

    def with_headers(self, headers: Mapping[str, str]) -> "Answer":
        """Return the same answer with further headers."""
        return Answer(self.body, self.media_type, self.status, {**self.headers, **headers})

    def response(self) -> web.Response:
        """Return the answer as aiohttp sends it."""
        headers = {"Content-Type": self.media_type, "Server": _SERVER, **self.headers}
        return web.Response(body=self.body, status=self.status, headers=headers)
