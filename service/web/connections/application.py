"""The interface of the application to connections."""

from collections.abc import Sequence
from typing import Protocol

from service.model.errors import RequestError
from service.web.http.request import Request, RequestFields
from service.web.http.response import Response
from service.web.pipeline.counters import Counters


class Application(Protocol):
    """Answers requests.

    traffic      counts events of connections
    memory_used  share of their memory that connections hold, set by the server; if it is high, long answers are refused
    """

    traffic: Counters
    memory_used: float

    async def __call__(self, request: Request) -> Response:
        """Answer a request. Never raises."""

    def from_cache(self, line: bytes, fields: RequestFields, remote: str | None) -> Response | None:
        """Answer a repeated request from the cache; None on a miss."""

    def malformed(self, error: RequestError, accept: Sequence[str], client: str | None) -> Response:
        """Answer a request that HTTP parsing rejected."""

    def unknown_method(self, target: str, accept: Sequence[str], client: str | None) -> Response:
        """Answer a request that HTTP parsing rejected for its method."""
