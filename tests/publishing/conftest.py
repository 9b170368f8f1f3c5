"""Two baked files, a transport that holds the first, a workspace, and a server that speaks S3."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.background import Progress
from service.publishing import compiler_process, local_source as verified_files
from service.publishing.compiler_process import compile_files
from service.publishing.local_source import FolderSource
from service.publishing.source import Message, Outcome, Step
from service.publishing.workspace import Workspace, workspace
from tests.baking.random_datasets import baked_file
from tests.directory import store, write_directory
from tests.publishing.fake_transport import FakeTransport
from tests.publishing.s3_server import S3Server, s3_server

PROXIES = {"http_proxy", "https_proxy", "all_proxy", "no_proxy"}


@pytest.fixture(autouse=True)
def _without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.lower() in PROXIES]:
        monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _is_on_a_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no folder be in memory, as that of temporary files may be: there, no file is listed as verified."""
    monkeypatch.setattr(verified_files, "_MOUNTS", Path("/nonexistent"))


@pytest.fixture(scope="session")
def editions(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    """Return two baked files of some 400 kB."""
    folder = tmp_path_factory.mktemp("editions")
    return _edition(folder, "one"), _edition(folder, "other")


def _edition(folder: Path, name: str) -> bytes:
    data = write_directory(
        folder / name, [store(f"s{number}", name=name, address_2="-" * 400) for number in range(500)]
    )
    return baked_file(data, folder / f"{name}.baked").read_bytes()


@pytest.fixture
def one(editions: tuple[bytes, bytes]) -> bytes:
    return editions[0]


@pytest.fixture
def other(editions: tuple[bytes, bytes]) -> bytes:
    return editions[1]


@pytest.fixture
def remote(one: bytes) -> FakeTransport:
    return FakeTransport(one)


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Workspace]:
    with workspace(tmp_path) as made:
        yield made


@pytest.fixture
def _compiled_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile in a thread, without the half second that another Python takes: `test_folder_source` has that."""

    async def compile_here(source: FolderSource, to: Path, fingerprint: str, progress: Progress) -> Outcome:
        settings, sent = source._settings, list[Message]()  # noqa: SLF001 - as the method that it replaces
        monkeypatch.setattr(compiler_process, "send", sent.append)
        arguments = (Path(source.name), to, settings.invalid, fingerprint, settings.read_options)
        outcome = await asyncio.to_thread(compile_files, *arguments)
        for step in sent:
            assert isinstance(step, Step)
            progress(step.name, step.done, step.total)
        return outcome

    monkeypatch.setattr(FolderSource, "_run_compiler", compile_here)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    """Return a server that speaks S3, with its variables in the environment."""
    with s3_server(monkeypatch) as running:
        yield running
