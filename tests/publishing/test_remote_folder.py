"""A remote folder as a source: what its manifest lists is fetched, and compiled only if it is what is listed."""

import os
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from service.baking.baked_file import load_baked
from service.dataset import InvalidRecords, Rejected
from service.publishing.remote_source import RemoteFolder
from service.publishing.source import Unavailable
from service.settings import Settings
from tests.publishing.fake_transport import FakeTransport, Response, chunked, claiming, cut, endless, failing, unframed
from tests.publishing.fetching import Fetcher
from tests.run.generations import COMPANIES, MANIFEST, STORES, Generation
from tests.sampling.test_sample import small_disk

pytestmark = pytest.mark.usefixtures("_compiled_here")

URL = "https://user:hush@origin.example/data/?token=hush"
NAME = "https://origin.example/data/"
FIRST, SECOND = Generation(1), Generation(2)


class FolderFetcher(Fetcher):
    """A process that fetches from a folder."""

    def __init__(
        self, remote: FakeTransport, folder: Path, *, invalid: InvalidRecords = InvalidRecords.REFUSE, mapping: str = ""
    ) -> None:
        super().__init__(remote, folder)
        settings = Settings(invalid=invalid, mapping=mapping)
        self.source = RemoteFolder(URL, self.cache, remote, settings, pauses=(0, 0))

    async def names(self, known: str = "") -> tuple[str, str]:
        """Fetch; return the fingerprint and the name of the records."""
        fetched = await self.fetch(known)
        assert fetched is not None
        return fetched.fingerprint, served(self.to)


def served(file: Path) -> str:
    """Return the name of the records of a baked file, which are all of one generation."""
    dataset = load_baked(file)
    (name,) = {msgspec.json.decode(dataset.stores.rows[row].rstrip(b","))["name"] for row in range(len(dataset.stores))}
    return str(name)


def holding(files: Mapping[str, bytes]) -> FakeTransport:
    """Return a folder with files."""
    folder = FakeTransport(b"")
    hold(folder, files)
    return folder


def hold(folder: FakeTransport, files: Mapping[str, bytes]) -> None:
    """Replace the files of a folder; each has its beginning as a tag."""
    for name, content in files.items():
        folder.files.setdefault(name, FakeTransport(b"")).hold(content, f'"{hash(content)}"')


@pytest.fixture
def folder() -> FakeTransport:
    return holding(FIRST.files())


@pytest.fixture
def fetcher(folder: FakeTransport, tmp_path: Path) -> FolderFetcher:
    return FolderFetcher(folder, tmp_path)


def asked(folder: FakeTransport, name: str) -> int:
    return len(folder.files[name].asked)


async def test_what_the_manifest_lists_is_compiled_and_followed(fetcher: FolderFetcher, folder: FakeTransport) -> None:
    folder.files["other.toml"] = FakeTransport(b"not listed")
    known, name = await fetcher.names()
    assert (fetcher.source.name, name) == (NAME, FIRST.name)
    assert {step for step, _, _ in fetcher.steps} > {f"Fetching {NAME}{STORES}", "Indexing stores"}
    assert asked(folder, "other.toml") == 0
    assert list(fetcher.to.parent.glob("*.download")) == []

    assert await fetcher.fetch(known) is None
    assert folder.files[MANIFEST].asked[1:] == [folder.files[MANIFEST].tag]
    assert (asked(folder, STORES), fetcher.to.exists()) == (1, False)

    mapping = b'[stores.fields]\nname = { constant = "mapped" }\n'
    listed = b'"files":{"mapping.toml":{"sha256":"%b"},' % sha256(mapping).hexdigest().encode()
    manifest = SECOND.files()[MANIFEST].replace(b'"files":{', listed)
    hold(folder, SECOND.files() | {"mapping.toml": mapping, MANIFEST: manifest})
    changed, name = await fetcher.names(known)
    assert (changed != known, name) == (True, "mapped")
    folder.files[MANIFEST].tag = ""  # the same content is known without a validator, too
    assert await fetcher.fetch(changed) is None
    assert asked(folder, STORES) == 2


async def test_a_start_serves_the_last_good_copy_and_compiles_nothing_that_did_not_change(
    fetcher: FolderFetcher, folder: FakeTransport, tmp_path: Path
) -> None:
    known, _ = await fetcher.names()
    restarted = FolderFetcher(folder, tmp_path)
    copy = await restarted.fetch()
    assert copy is not None
    assert (copy.fingerprint, copy.confirmed_at is not None, served(restarted.to)) == (known, True, FIRST.name)
    assert await restarted.fetch(known) is None
    assert asked(folder, STORES) == 1

    otherwise = FolderFetcher(folder, tmp_path, invalid=InvalidRecords.SKIP)
    await otherwise.fetch()
    assert (await otherwise.names(known))[0] != known


async def test_a_mapping_on_this_machine_is_used_and_its_change_followed(tmp_path: Path) -> None:
    mapping = tmp_path / "mapping.toml"
    mapping.write_text('[stores.fields]\nname = { constant = "mapped" }\n')
    fetcher = FolderFetcher(holding(FIRST.files()), tmp_path, mapping=str(mapping))
    seen = fetcher.source.look()
    known, name = await fetcher.names()
    assert name == "mapped"
    assert await fetcher.fetch(known) is None
    mapping.write_text('[stores.fields]\nname = "no such member"\n')
    assert fetcher.source.look() not in ("", seen)
    with pytest.raises(Rejected, match="no such member"):
        await fetcher.fetch(known)


async def test_invalid_records_are_rejected_until_the_manifest_changes(
    fetcher: FolderFetcher, folder: FakeTransport
) -> None:
    files = FIRST.files()
    sound, invalid = files[STORES], files[STORES].replace(b"Toronto", b" ")
    old, new = [sha256(each).hexdigest().encode() for each in (sound, invalid)]
    hold(folder, {STORES: invalid, MANIFEST: files[MANIFEST].replace(old, new)})
    with pytest.raises(Rejected, match=rf"^{STORES}:1: record 1: city: a value is required") as caught:
        await fetcher.fetch()
    rejection = caught.value.rejection
    assert rejection.hint.startswith("`store-directory check FOLDER` reports every error")
    assert await fetcher.fetch(rejection.fingerprint) is None


# What is not as listed is never compiled


@pytest.mark.parametrize(
    "answer",
    [
        lambda whole: chunked(whole[:-1]),
        lambda whole: unframed(whole[:-1]),
        lambda whole: chunked(whole[:-1] + b" "),
        lambda whole: chunked(whole * 2),
        lambda whole: claiming(len(whole) - 1),
        lambda _: cut(5),
        lambda _: chunked(b"<html>Log in</html>"),
        lambda _: chunked(b""),
    ],
)
async def test_a_file_that_is_not_as_listed_is_fetched_again_and_never_compiled(
    fetcher: FolderFetcher, folder: FakeTransport, answer: Callable[[bytes], Response]
) -> None:
    broken = folder.files[STORES]
    broken.will(*[answer(broken.content)] * 3)
    why = await fetcher.unavailable()
    assert why in (
        f"{STORES}: the SHA-256 of the file does not match {MANIFEST}",
        f"{STORES}: the response was cut off",
    )
    assert asked(folder, STORES) == 3
    assert list(fetcher.to.parent.glob("*.download")) == []
    assert not fetcher.to.exists()


async def test_files_that_are_replaced_before_or_after_their_manifest_are_fetched_once_they_match(
    fetcher: FolderFetcher, folder: FakeTransport
) -> None:
    known, _ = await fetcher.names()
    files = SECOND.files()
    hold(folder, {name: files[name] for name in (STORES, COMPANIES)})
    assert await fetcher.fetch(known) is None
    folder.files[MANIFEST].will(failing(Unavailable("503 Service Unavailable")))
    assert await fetcher.unavailable(known) == f"{MANIFEST}: 503 Service Unavailable"
    hold(folder, FIRST.files() | {MANIFEST: files[MANIFEST]})
    assert "does not match" in await fetcher.unavailable(known)
    hold(folder, files)
    assert (await fetcher.names(known))[1] == SECOND.name


@pytest.mark.parametrize(
    ("manifest", "why"),
    [
        (b"<html>Log in</html>", "the manifest is malformed"),
        (b'{"files": {"../x": {"sha256": ""}}}', "is not a plain file name"),
        (FIRST.files()[MANIFEST][:-9], "the manifest is malformed"),
    ],
)
async def test_a_malformed_manifest_is_rejected_until_it_changes(
    fetcher: FolderFetcher, folder: FakeTransport, manifest: bytes, why: str
) -> None:
    hold(folder, {MANIFEST: manifest})
    with pytest.raises(Rejected, match=why) as caught:
        await fetcher.fetch()
    assert "hush" not in str(caught.value)
    assert str(caught.value).startswith(f"{NAME}{MANIFEST}: ")
    assert await fetcher.fetch(caught.value.rejection.fingerprint) is None
    assert asked(folder, STORES) == 0


async def test_an_endless_manifest_is_not_received_to_its_end(fetcher: FolderFetcher, folder: FakeTransport) -> None:
    folder.files[MANIFEST].will(endless(b""))
    assert await fetcher.unavailable() == f"{MANIFEST}: the file has more than 1,048,576 bytes"


@pytest.mark.parametrize("name", [MANIFEST, STORES])
async def test_a_missing_file_is_reported_by_its_name(fetcher: FolderFetcher, folder: FakeTransport, name: str) -> None:
    del folder.files[name]
    assert await fetcher.unavailable() == f"{name}: 404 Not Found"


async def test_a_file_larger_than_the_disk_is_not_received(fetcher: FolderFetcher, folder: FakeTransport) -> None:
    folder.files[STORES].will(claiming(1 << 60))
    folder.files[STORES].content = b""
    with small_disk(1000):
        assert await fetcher.unavailable() in ("No space left on device", "File too large")


@pytest.mark.parametrize("length", [None, 4 << 20])
async def test_a_file_without_end_leaves_room_on_the_disk(
    fetcher: FolderFetcher, folder: FakeTransport, monkeypatch: pytest.MonkeyPatch, length: int | None
) -> None:
    blocks, received = 4 << 8, 0  # of 4 KiB

    def measured(descriptor: int) -> SimpleNamespace:
        nonlocal received
        received = max(received, os.fstat(descriptor).st_size)
        return SimpleNamespace(f_frsize=4096, f_blocks=blocks, f_bavail=blocks - received // 4096)

    monkeypatch.setattr(os, "fstatvfs", measured)
    folder.files[STORES].will(endless(b"", length))
    assert await fetcher.unavailable() == "No space left on device"
    assert (received > 0) is (length is None)
    assert received <= 0.95 * 4096 * blocks
    assert asked(folder, STORES) == 1
    assert list(fetcher.to.parent.glob("*.download")) == []
