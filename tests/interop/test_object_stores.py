"""Data in the buckets of real servers is served and followed, and written there, whole or not at all."""

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from service.publishing.object_store import ObjectUrl, upload
from service.publishing.source import Unavailable
from service.publishing.transport import ObjectTransport
from tests.interop.object_servers import MOTO, RCLONE, READER, SEAWEEDFS, ObjectServer, object_server, put
from tests.interop.software import TOOLS
from tests.program import run
from tests.publishing.following import BAKED, FIRST, SECOND, baked, follow
from tests.publishing.s3_server import ACCESS_KEY, BUCKET, SECRET_KEY

# What boto3 imports, installed beside the servers.
BOTO3 = ("boto3", "botocore", "s3transfer", "jmespath", "dateutil", "six.py", "urllib3")


@pytest.fixture(params=[SEAWEEDFS, RCLONE, MOTO], ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> ObjectServer:
    found: ObjectServer = request.param
    return found


@pytest.fixture(name="folder")
def running(
    kind: ObjectServer, tmp_path: Path, unused_tcp_port_factory: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """Run a server; return its folder."""
    with object_server(kind, tmp_path / kind.name, unused_tcp_port_factory, monkeypatch):
        yield tmp_path / kind.name


def putting(folder: Path) -> Callable[[Mapping[str, bytes]], None]:
    def put_all(files: Mapping[str, bytes]) -> None:
        for name, content in files.items():
            put(folder, f"data/{name}", content)

    return put_all


def test_a_file_in_a_bucket_is_served_and_followed(folder: Path, tmp_path: Path) -> None:
    editions = tuple(baked(each, tmp_path / "made") for each in (FIRST, SECOND))
    log = follow(f"s3://{BUCKET}/data/{BAKED}", putting(folder), editions, tmp_path / "work", "--workers", "2")
    assert "hush" not in log


def test_a_folder_in_a_bucket_is_served_and_followed(folder: Path, tmp_path: Path) -> None:
    editions = tuple(each.files() for each in (FIRST, SECOND))
    log = follow(f"s3://{BUCKET}/data/", putting(folder), editions, tmp_path / "work")
    assert "hush" not in log


async def fetched(key: str) -> bytes:
    pieces = []
    async with ObjectTransport(f"s3://{BUCKET}/{key}").get("") as remote:
        assert remote is not None
        while piece := await remote.read():
            pieces.append(piece)
    return b"".join(pieces)


@pytest.mark.parametrize("size", [0, 1000, 17_000_000])
async def test_a_file_is_uploaded_in_parts_or_not(folder: Path, size: int) -> None:
    (file := folder / "file").write_bytes(content := os.urandom(size))
    await asyncio.to_thread(upload, file, ObjectUrl("s3", BUCKET, "a/file"), part=6 << 20)
    assert await fetched("a/file") == content


async def test_baked_and_exported_data_arrives_in_the_bucket(folder: Path, tmp_path: Path) -> None:
    data = FIRST.write(tmp_path / "data")
    for command, name in (("bake", BAKED), ("export", "stores.csv")):
        assert run(command, data, folder / name).returncode == 0
        result = run(command, data, f"s3://{BUCKET}/out/{name}")
        assert result.returncode == 0, result.stderr
        assert await fetched(f"out/{name}") == (folder / name).read_bytes()


async def error_of(url: str) -> str:
    with pytest.raises(Unavailable) as caught:
        async with ObjectTransport(url).get(""):
            pass
    return str(caught.value)


@pytest.mark.parametrize("kind", [SEAWEEDFS], indirect=True)
async def test_what_is_wrong_is_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await error_of(f"s3://{BUCKET}/nothing") == "there is no such object"
    assert await error_of("s3://no-such-bucket/x") == "the bucket does not exist"
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    assert await error_of(f"s3://{BUCKET}/probe") == "the secret key is wrong"
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "hush")
    assert await error_of(f"s3://{BUCKET}/probe") == "the access key is unknown"
    for name, value in zip(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), READER, strict=True):
        monkeypatch.setenv(name, value)
    assert await fetched("probe") == b"probe"
    for part in (1 << 20, 1):
        with pytest.raises(Unavailable, match=r"^access denied$"):
            await asyncio.to_thread(upload, folder / "object", ObjectUrl("s3", BUCKET, "probe"), part=part)


@pytest.mark.parametrize("kind", [SEAWEEDFS], indirect=True)
def test_a_profile_has_the_credentials(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (credentials := tmp_path / "credentials").write_text(
        f"[chain]\naws_access_key_id = {ACCESS_KEY}\naws_secret_access_key = {SECRET_KEY}\n"
    )
    (packages := tmp_path / "packages").mkdir()
    (site,) = TOOLS.glob("lib/python*/site-packages")
    for name in BOTO3:
        (packages / name).symlink_to(site / name)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    data, to = FIRST.write(tmp_path / "data"), f"s3://{BUCKET}/{BAKED}"
    profile = {"AWS_PROFILE": "chain", "AWS_SHARED_CREDENTIALS_FILE": str(credentials)}
    result = run("bake", data, to, PYTHONPATH=f"{packages}:{os.environ.get('PYTHONPATH', '')}", **profile)
    assert result.returncode == 0, result.stderr
    result = run("bake", data, to, PYTHONPATH=f"{packages}:{os.environ.get('PYTHONPATH', '')}", AWS_PROFILE="none")
    assert "the profile in AWS_PROFILE has no credentials (ProfileNotFound)" in result.stderr
    assert folder.exists()
