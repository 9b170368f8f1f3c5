"""Write a sample: a synthetic data set."""

import csv
from collections.abc import Iterable, Iterator
from io import TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Final, Literal, TypeAlias, TypeVar, get_args

import msgspec
from msgspec.structs import astuple

from service.background import Progress, silent
from service.files import atomic_write
from service.model.records import COMPANIES, STORES, Company, Resource, Store
from service.sampling.records import generate_firms, stores_of
from service.sampling.reference_data import read_gazetteer, shuffled, stream

Record = Store | Company


Item = TypeVar("Item")
# A format of files, by its extension.
SampleFormat: TypeAlias = Literal["json", "jsonl", "csv"]
FORMATS: Final[tuple[SampleFormat, ...]] = get_args(SampleFormat)
_PROGRESS_EVERY: Final = 10_000


class DatasetExists(Exception):
    """The folder holds a data set already."""


def write_sample(  # noqa: PLR0913 - three numbers identify the content
    folder: Path,
    *,
    stores: int,
    companies: int,
    seed: int,
    file_format: SampleFormat = "json",
    progress: Progress = silent,
) -> None:
    """Write a synthetic data set: the same numbers give the same bytes, on every machine and Python version.

    Companies are held in memory, stores are streamed. The folder is created if it is missing. Both files get their
    names when both are complete, and neither after an error or interrupt. Raises ValueError for stores without a
    company, DatasetExists if the folder holds a data set, and OSError.
    """
    if stores and not companies:
        raise ValueError("stores belong to companies: ask for at least 1 company, or for 0 stores")
    for name in (f"{STORES.name}.*", f"{COMPANIES.name}.*", "manifest.json"):
        for path in sorted(folder.glob(name)):
            raise DatasetExists(f"{path} exists: choose another folder, or remove the data set that is there")
    folder.mkdir(parents=True, exist_ok=True)
    draw = stream(seed)
    generated = generate_firms(stores=stores, companies=companies, gazetteer=read_gazetteer(), draw=draw)
    firms = shuffled(_with_progress(generated, "Making companies", companies, progress), draw)
    made = chain.from_iterable(stores_of(firm, draw) for firm in firms)
    company_path, store_path = (folder / f"{resource.name}.{file_format}" for resource in (COMPANIES, STORES))
    with (
        atomic_write(company_path, durable=False) as company_file,
        atomic_write(store_path, durable=False) as store_file,
    ):
        _write(company_file, file_format, COMPANIES, (firm.company for firm in firms))
        _write(store_file, file_format, STORES, _with_progress(made, "Making stores", stores, progress))


def _write(file: BinaryIO, file_format: SampleFormat, resource: Resource, records: Iterable[Record]) -> None:
    if file_format == "csv":
        text = TextIOWrapper(file, "utf-8", newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(field.name for field in resource.fields)
        writer.writerows(map(_cell, astuple(record)) for record in records)
        text.detach()
    elif file_format == "jsonl":
        file.writelines(msgspec.json.encode(record) + b"\n" for record in records)
    else:
        before = b"[\n"
        for record in records:
            file.write(before + msgspec.json.encode(record))
            before = b",\n"
        file.write(b"[\n]\n" if before == b"[\n" else b"\n]\n")
    file.flush()  # so that a full disk fails here, before either file is in place


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else ""


def _with_progress(items: Iterable[Item], step: str, total: int, progress: Progress) -> Iterator[Item]:
    for done, item in enumerate(items):
        if done % _PROGRESS_EVERY == 0:
            progress(step, done, total)
        yield item
    progress(step, total, total)
