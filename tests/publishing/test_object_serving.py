"""A file and a folder in a bucket are served, and followed when they are replaced."""

import re
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from service.publishing.object_store import ObjectUrl, open_store
from tests.program import run_here, serving
from tests.publishing.following import BAKED, FIRST, SECOND, baked, follow, served
from tests.publishing.s3_server import ACCESS_KEY, BUCKET, SECRET_KEY, S3Server

pytestmark = pytest.mark.process


def test_a_file_in_a_bucket_is_served_and_followed_and_its_last_good_copy_served_while_the_store_is_down(
    server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = ({f"a b/{BAKED}": baked(each, tmp_path / "made")[BAKED]} for each in (FIRST, SECOND))
    url, work = f"s3://{BUCKET}/a b/{BAKED}", tmp_path / "work"
    log = follow(url, server.objects.update, (first, second), work, "--workers", "2")
    assert not [secret for secret in (ACCESS_KEY, SECRET_KEY, "Traceback", "panicked") if secret in log]
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    with serving("--data", url, "--cache", work / "cache", "--no-auth") as service:
        assert served(service) == SECOND.name
        assert service.ready()["status"] == "ready"


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    for command in (("serve", "--data", "s3://bucket/x"), ("bake", "datasets", "s3://bucket/x")):
        result = run_here(*command)
        assert result.returncode == 2
        assert "needs the package obstore: pip install 'store-directory[object-stores]'" in result.stderr


@pytest.mark.parametrize(
    ("scheme", "variables", "why"),
    [
        ("s3", {"AWS_ENDPOINT_URL": "hush here"}, "AWS_ENDPOINT_URL is not an http or https URL"),
        ("s3", {"AWS_ALLOW_HTTP": "hush"}, "the variables AWS_* are not valid"),
        ("s3", {"AWS_PROFILE": "hush"}, "AWS_PROFILE needs the package boto3: pip install boto3"),
        ("gs", {"GOOGLE_SERVICE_ACCOUNT_KEY": "hush"}, "the variables GOOGLE_* are not valid"),
        ("gs", {"GOOGLE_APPLICATION_CREDENTIALS": "/hush"}, "credentials: set GOOGLE_APPLICATION_CREDENTIALS"),
        ("az", {}, "no account: set AZURE_STORAGE_ACCOUNT_NAME"),
        (
            "az",
            {"AZURE_STORAGE_ACCOUNT_NAME": "account", "AZURE_STORAGE_ACCOUNT_KEY": "hush!"},
            "the variables AZURE_* are not valid",
        ),
    ],
)
def test_settings_in_the_environment_that_are_not_valid_are_reported_without_their_value(
    monkeypatch: pytest.MonkeyPatch, scheme: str, variables: Mapping[str, str], why: str
) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=re.escape(why)) as caught:
        open_store(ObjectUrl(scheme, "bucket", "x"))
    assert "hush" not in str(caught.value)
