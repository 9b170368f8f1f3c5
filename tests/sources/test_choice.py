"""The choice of the source for the value of `--data`."""

from pathlib import Path

import pytest

from service.loading.acceptance import InvalidRecords
from service.sources.baked_file_source import BakedFileSource
from service.sources.choice import choose_source
from service.sources.folder_source import FolderSource
from service.sources.source import Source
from service.sources.url_source import UrlSource


def choose(text: str, cache: Path) -> Source:
    return choose_source(text, invalid=InvalidRecords.REFUSE, compile_timeout=60, cache=cache)


def test_urls_files_and_folders_are_distinguished(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert isinstance(choose("HTTPS://origin.example/set.baked", tmp_path), UrlSource)
    assert isinstance(choose(str(tmp_path / "file"), tmp_path), BakedFileSource)
    for folder in (str(tmp_path), str(tmp_path / "nowhere"), "x" * 300, "a:b", "s3:/bucket"):
        assert isinstance(choose(folder, tmp_path), FolderSource)


@pytest.mark.parametrize("scheme", ["s3", "ftp", "gs", "S3", "sftp", "file", "git+ssh"])
def test_another_scheme_is_rejected_with_advice_and_without_secrets(tmp_path: Path, scheme: str) -> None:
    with pytest.raises(ValueError, match=r"the http:// or https:// URL of a baked file$") as caught:
        choose(f"{scheme}://user:hunter2@bucket/set.baked?signature=hunter2", tmp_path)
    assert str(caught.value).startswith(f"{scheme.lower()}:// is not supported: ")
    assert ("give the path alone" in str(caught.value)) is (scheme == "file")
    assert "hunter2" not in str(caught.value)
