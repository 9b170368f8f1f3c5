"""The choice of the source for the value of `--data`."""

from pathlib import Path

import pytest

from service.read_options import ReadOptions
from service.safeguards import InvalidRecords
from service.sources.baked_file_source import BakedFileSource
from service.sources.choice import choose_source
from service.sources.folder_source import FolderSource
from service.sources.remote_source import RemoteSource
from service.sources.source import Source
from tests.run.generations import Generation


def choose(text: str, cache: Path) -> Source:
    return choose_source(text, invalid=InvalidRecords.REFUSE, compile_timeout=60, cache=cache)


def test_urls_files_and_folders_are_distinguished(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert isinstance(choose("HTTPS://origin.example/set.baked", tmp_path), RemoteSource)
    assert isinstance(choose(str(tmp_path / "file"), tmp_path), BakedFileSource)
    for folder in (str(tmp_path), str(tmp_path / "nowhere"), "x" * 300, "a:b", "s3:/bucket"):
        assert isinstance(choose(folder, tmp_path), FolderSource)


@pytest.mark.parametrize("name", ["filialen.csv", "stores.json.gz", "Shops.JSONL.ZST", "data.zip", "data.ZIP"])
def test_a_data_file_is_distinguished_from_a_baked_one_by_its_first_bytes_then_by_its_name(
    tmp_path: Path, name: str
) -> None:
    file = tmp_path / name
    for content in (b"", b"store_id,company_id\n", b"[]", b'{"stores": []}', b"PK\x03\x04", b"\x1f\x8b"):
        file.write_bytes(content)
        assert isinstance(choose(str(file), tmp_path), FolderSource)
    file.write_bytes(Generation(1).bake(tmp_path).read_bytes())
    assert isinstance(choose(str(file), tmp_path), BakedFileSource)
    file.unlink()
    assert isinstance(choose(str(file), tmp_path), FolderSource)


def test_options_that_say_how_to_read_are_refused_where_nothing_is_read(tmp_path: Path) -> None:
    baked = Generation(1).bake(tmp_path)
    for data in (str(baked), "https://origin.example/set.baked"):
        for options in (ReadOptions(mapping="overture"), ReadOptions(encoding="cp1252")):
            with pytest.raises(ValueError, match="--mapping and --encoding are for data files"):
                choose_source(data, invalid=InvalidRecords.REFUSE, compile_timeout=60, cache=tmp_path, options=options)


@pytest.mark.parametrize("scheme", ["s3", "ftp", "gs", "S3", "sftp", "file", "git+ssh"])
def test_another_scheme_is_rejected_with_advice_and_without_secrets(tmp_path: Path, scheme: str) -> None:
    with pytest.raises(ValueError, match=r"the http:// or https:// URL of a baked file$") as caught:
        choose(f"{scheme}://user:hunter2@bucket/stores.csv?signature=hunter2", tmp_path)
    assert str(caught.value).startswith(f"{scheme.lower()}:// is not supported: ")
    assert ("give the path alone" in str(caught.value)) is (scheme == "file")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("path", "command"),
    [
        ("/stores.csv", "store-directory bake stores.csv stores.baked"),
        ("/a/My%20Shops.JSON.GZ?signature=hunter2#x", "store-directory bake My%20Shops.JSON.GZ My%20Shops.baked"),
        ("/export.zip", "store-directory bake export.zip export.baked"),
    ],
)
def test_the_url_of_data_files_says_to_bake_them_first_with_the_command(
    tmp_path: Path, path: str, command: str
) -> None:
    for options in (ReadOptions(), ReadOptions(mapping="overture")):
        with pytest.raises(ValueError, match="bake the data first") as caught:
            choose_source(
                f"http://user:hunter2@host{path}",
                invalid=InvalidRecords.REFUSE,
                compile_timeout=60,
                cache=tmp_path,
                options=options,
            )
        assert f", `{command}{options}`, and " in str(caught.value)
        assert "hunter2" not in str(caught.value)


def test_a_url_of_another_name_is_fetched(tmp_path: Path) -> None:
    for url in ("http://stores.csv", "http://stores.zip/", "http://host/export?file=stores.csv", "http://host/x#a.csv"):
        assert isinstance(choose(url, tmp_path), RemoteSource)
