"""The data that is served to requests, and what all operations on it share."""

from datetime import datetime
from functools import lru_cache
from typing import Final

from aiohttp import hdrs

from service.loading.dataset import Dataset
from service.model.errors import (
    OtherVersion,
    PreconditionFailed,
    ServiceUnavailable,
    TooManyRequests,
    Unauthorized,
    UnprocessableContent,
)
from service.model.operation import VERSION_HEADER
from service.snapshot.snapshot import SnapshotHolder
from service.web.answer import header_lines
from service.web.headers.conditional import http_date
from service.web.policy import Policy
from service.web.representation import CommonHeaders
from service.web.routes import Call

TAG: Final = "directory"
DATA_ERRORS: Final = (Unauthorized, TooManyRequests, PreconditionFailed, UnprocessableContent, ServiceUnavailable)
# During a reload, responses from two data sets are in progress.
_GENERATIONS: Final = 2


class ServedData:
    """The served data, with the header fields that its responses share."""

    def __init__(self, snapshots: SnapshotHolder, policy: Policy) -> None:
        self._snapshots = snapshots
        self._cache_control = policy.cache_control
        self._vary = policy.vary(hdrs.ACCEPT_ENCODING, of_data=True)
        self._common = lru_cache(_GENERATIONS)(self._make_common)

    def for_call(self, call: Call) -> tuple[Dataset, CommonHeaders]:
        """Return the data set for a call. Raises `ServiceUnavailable`, `OtherVersion`."""
        current = self._snapshots.current
        if current is None:
            raise ServiceUnavailable("The data is still being loaded")
        dataset, versions = current.dataset, call.fields.versions
        if versions and any(version.strip() not in ("", dataset.version) for version in versions):
            raise OtherVersion(VERSION_HEADER, dataset.version)
        return dataset, self._common(dataset.version, current.modified)

    def _make_common(self, version: str, modified: datetime | None) -> CommonHeaders:
        fields = {"Cache-Control": self._cache_control, VERSION_HEADER: version}
        second = None if modified is None else int(modified.timestamp())
        if second is not None:
            fields["Last-Modified"] = http_date(second)
        return CommonHeaders(headers=header_lines(fields), vary=self._vary, modified=second)
