"""A server that speaks S3, with its variables in the environment."""

from collections.abc import Iterator

import pytest

from tests.object_stores.s3_server import S3Server, s3_server


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    with s3_server(monkeypatch) as running:
        yield running
