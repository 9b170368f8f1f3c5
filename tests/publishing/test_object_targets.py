"""`bake` and `export` write to an object: whole, or not at all."""

from pathlib import Path

import pytest

from service.baking.baked_file import load_baked
from tests.program import run_here
from tests.publishing.s3_server import ACCESS_KEY, BUCKET, SECRET_KEY, S3Server, refusing
from tests.run.generations import Generation

pytestmark = pytest.mark.process


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return Generation(1).write(tmp_path / "data")


def test_bake_writes_the_same_bytes_to_an_object(server: S3Server, data: Path, tmp_path: Path) -> None:
    local = run_here("bake", data, tmp_path / "stores.baked")
    remote = run_here("bake", data, f"s3://{BUCKET}/a/stores.baked")
    assert remote.returncode == 0, remote.stderr
    assert remote.stdout == local.stdout.replace(str(tmp_path), f"s3://{BUCKET}/a")
    assert server.objects == {"a/stores.baked": (tmp_path / "stores.baked").read_bytes()}
    assert load_baked(tmp_path / "stores.baked").version in remote.stdout


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_export_writes_the_same_bytes_to_an_object(server: S3Server, data: Path, tmp_path: Path, ending: str) -> None:
    assert run_here("export", data, tmp_path / f"stores.{ending}").returncode == 0
    remote = run_here("export", data, f"s3://{BUCKET}/stores.{ending}")
    assert remote.returncode == 0, remote.stderr
    assert server.objects == {f"stores.{ending}": (tmp_path / f"stores.{ending}").read_bytes()}


def test_an_invalid_dataset_writes_no_object(server: S3Server, data: Path) -> None:
    (data / "stores.json").write_text("[{}]")
    assert run_here("bake", data, f"s3://{BUCKET}/stores.baked").returncode == 1
    assert run_here("export", data, f"s3://{BUCKET}/stores.csv").returncode == 1
    assert server.requests == []


def test_an_object_that_cannot_be_written_is_an_error_without_secrets(server: S3Server, data: Path) -> None:
    server.answers["PUT"] = [refusing(403, "SignatureDoesNotMatch"), refusing(403, "AccessDenied")]
    for why in ("the secret key is wrong", "access denied"):
        result = run_here("bake", data, f"s3://{BUCKET}/stores.baked")
        assert result.returncode == 1
        assert f"Error: s3://{BUCKET}/stores.baked: it cannot be uploaded: {why}\n" in result.stderr
        assert [secret for secret in (ACCESS_KEY, SECRET_KEY) if secret in result.stderr] == []
    result = run_here("bake", data, "s3://nowhere/stores.baked")
    assert "it cannot be uploaded: the bucket does not exist" in result.stderr
    assert server.objects == {}


@pytest.mark.parametrize(
    "target", ["s3://bucket", "s3://bucket/a/", "s3://user:hush@bucket/a", "https://host/hush.csv"]
)
def test_another_url_is_a_usage_error_that_does_not_quote_it(data: Path, target: str) -> None:
    result = run_here("bake", data, target)
    assert (result.returncode, "hush" in result.stderr) == (2, False)
    result = run_here("export", data, "s3://bucket/stores.txt")
    assert (result.returncode, "must end with one of .csv, .ndjson, .geojson, .parquet" in result.stderr) == (2, True)
