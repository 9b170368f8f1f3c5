"""The choice of the source for the value of `--data`."""

from pathlib import Path

import pytest

from service.publishing.choice import choose_source
from service.publishing.local_source import BakedFileSource, FolderSource
from service.publishing.remote_source import RemoteBakedFile, RemoteFolder
from service.publishing.source import Source
from service.settings import Settings
from tests.run.generations import Generation


def choose(text: str, cache: Path, **options: str) -> Source:
    return choose_source(text, Settings(**options), cache)  # type: ignore[arg-type] # of each option a text


def test_urls_files_and_folders_are_distinguished(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert isinstance(choose(str(tmp_path / "file"), tmp_path), BakedFileSource)
    for url in ("HTTPS://host/set.baked", "http://host/export?file=stores.csv", "http://host/x#a.csv", "s3://bucket/x"):
        assert isinstance(choose(url, tmp_path), RemoteBakedFile)
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


def test_options_of_data_files_are_refused_where_no_such_file_is_read(tmp_path: Path) -> None:
    baked = str(Generation(1).bake(tmp_path))
    read = "--mapping and --encoding are for data files"
    options = (
        ({"mapping": "overture"}, read),
        ({"encoding": "cp1252"}, read),
        ({"places": "x"}, "bake it with --places"),
    )
    for data in (baked, "https://origin.example/set.baked"):
        for each, why in options:
            with pytest.raises(ValueError, match=why):
                choose(data, tmp_path, **each)
    with pytest.raises(ValueError, match="bake it with --places"):
        choose("https://origin.example/folder/", tmp_path, places="x")


@pytest.mark.parametrize("scheme", ["ftp", "FTP", "sftp", "file", "git+ssh", "s3a"])
def test_another_scheme_is_rejected_with_advice_and_without_secrets(tmp_path: Path, scheme: str) -> None:
    with pytest.raises(ValueError, match=r"or give a URL with http, https, s3, gs or az$") as caught:
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
    for mapping, option in (("", ""), ("overture", " --mapping overture")):
        with pytest.raises(ValueError, match="bake the data first") as caught:
            choose(f"http://user:hunter2@host{path}", tmp_path, mapping=mapping)
        assert f", `{command}{option}`, and " in str(caught.value)
        assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://stores.csv", "http://stores.csv/"),
        ("http://stores.zip/", "http://stores.zip/"),
        ("https://u:hunter2@host/a.csv/?token=hunter2#x", "https://host/a.csv/"),
        ("https://host/a/manifest.json?token=hunter2", "https://host/a/"),
        ("s3://bucket", "s3://bucket/"),
        ("S3://bucket/a/manifest.json", "s3://bucket/a/"),
        ("s3://bucket/a/", "s3://bucket/a/"),
    ],
)
def test_a_url_that_ends_with_a_slash_or_a_manifest_is_that_of_a_folder(tmp_path: Path, url: str, name: str) -> None:
    source = choose(url, tmp_path)
    assert isinstance(source, RemoteFolder)
    assert source.name == name
    assert source.look() == ""


def test_data_files_in_a_folder_at_a_url_are_read_with_options(tmp_path: Path) -> None:
    (tmp_path / "mapping.toml").touch()
    source = choose("http://host/a/", tmp_path, mapping=str(tmp_path / "mapping.toml"), encoding="cp1252")
    first = source.look()
    assert first
    (tmp_path / "mapping.toml").unlink()  # as some editors do before they write it again
    assert source.look() not in ("", first)


@pytest.mark.parametrize(
    "url",
    [
        *("s3://", "s3:///key", "s3://id:hunter2@bucket/x", "s3://bucket/x?sign=hunter2"),
        *("s3://b/a//hunter2", "s3://b/../hunter2"),
    ],
)
def test_a_url_of_an_object_that_is_not_valid_is_rejected_without_quoting_it(tmp_path: Path, url: str) -> None:
    with pytest.raises(ValueError, match=r"the (URL|key) of an object") as caught:
        choose(url, tmp_path)
    assert "hunter2" not in str(caught.value)
