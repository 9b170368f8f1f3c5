"""Write a sample: a made-up data set."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import Final, TypeVar

from service.model.records import COMPANIES, STORES, Resource
from service.progress import Progress, silent
from service.sampling.companies import generate_firms
from service.sampling.file_formats import Record, SampleFormat
from service.sampling.gazetteer import read_gazetteer
from service.sampling.seeded_random import shuffled, stream
from service.sampling.stores import stores_of

__all__ = ["DataSetExists", "SampleFormat", "write_sample"]

Item = TypeVar("Item")

_PROGRESS_EVERY: Final = 10_000  # items
_BUFFER_BYTES: Final = 1 << 20


class DataSetExists(Exception):
    """The folder holds a data set already."""


def write_sample(  # noqa: PLR0913 - three numbers identify the content
    folder: Path,
    *,
    stores: int,
    companies: int,
    seed: int,
    file_format: SampleFormat = SampleFormat.JSON,
    progress: Progress = silent,
) -> None:
    """Write a made-up data set: the same numbers give the same bytes, on every machine and Python version.

    Companies are held in memory, stores are streamed. The folder is created if it is missing. Both files get their
    names when both are complete, and neither after an error or interrupt. Raises ValueError for invalid numbers,
    DataSetExists if the folder holds a data set, and OSError.
    """
    _check_numbers(stores=stores, companies=companies, seed=seed)
    _check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    draw = stream(seed)
    generated = generate_firms(stores=stores, companies=companies, gazetteer=read_gazetteer(), draw=draw)
    firms = shuffled(_with_progress(generated, "Making companies", companies, progress), draw)
    made = chain.from_iterable(stores_of(firm, draw) for firm in firms)
    paths = [folder / f"{resource.name}.{file_format}" for resource in (COMPANIES, STORES)]
    with _atomic_files(paths) as (company_path, store_path):
        _write(company_path, file_format, COMPANIES, (firm.company for firm in firms))
        _write(store_path, file_format, STORES, _with_progress(made, "Making stores", stores, progress))


def _check_numbers(*, stores: int, companies: int, seed: int) -> None:
    for name, number in (("stores", stores), ("companies", companies), ("seed", seed)):
        if number < 0:
            raise ValueError(f"{name} is {number}: it must be 0 or more")
    if stores and not companies:
        raise ValueError("stores belong to companies: ask for at least 1 company, or for 0 stores")


def _check_folder(folder: Path) -> None:
    for name in (f"{STORES.name}.*", f"{COMPANIES.name}.*", "manifest.json"):
        for path in sorted(folder.glob(name)):
            raise DataSetExists(f"{path} exists: choose another folder, or remove the data set that is there")


@contextmanager
def _atomic_files(paths: Sequence[Path]) -> Iterator[Sequence[Path]]:
    """Yield temporary paths; rename the files to `paths` at the end, or remove them after an error."""
    temporary = [path.with_name(f".{path.name}.part") for path in paths]
    with ExitStack() as undo:
        for path in temporary:
            undo.callback(path.unlink, missing_ok=True)
        yield temporary
        for written, path in zip(temporary, paths, strict=True):
            written.replace(path)
            undo.callback(path.unlink, missing_ok=True)
        undo.pop_all()


def _write(path: Path, file_format: SampleFormat, resource: Resource, records: Iterable[Record]) -> None:
    fields = [field.name for field in resource.fields]
    with path.open("wb", buffering=_BUFFER_BYTES) as file:
        file.writelines(file_format.chunks(fields, records))


def _with_progress(items: Iterable[Item], step: str, total: int, progress: Progress) -> Iterator[Item]:
    for done, item in enumerate(items):
        if done % _PROGRESS_EVERY == 0:
            progress(step, done, total)
        yield item
    progress(step, total, total)
