"""A sample: a made-up data set on disk."""

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Final, TypeVar

from service.files.atomic_write import atomic_write
from service.model.records import COMPANIES, STORES, Resource
from service.progress import Progress, silent
from service.sampling.companies import found_firms
from service.sampling.file_formats import Form, Record
from service.sampling.gazetteer import read_gazetteer
from service.sampling.seeded_random import shuffled, stream
from service.sampling.stores import stores_of

__all__ = ["DataSetExists", "Form", "write_sample"]

Item = TypeVar("Item")

_TELL_EVERY: Final = 10_000


class DataSetExists(Exception):
    """The folder holds a data set already."""


def write_sample(  # noqa: PLR0913 - the numbers say what to make, the rest how to tell it
    folder: Path, *, stores: int, companies: int, seed: int, form: Form = Form.JSON, progress: Progress = silent
) -> None:
    """Write a made-up data set, byte for byte the same for the same numbers, on every machine and Python version.

    Stores are written as they are made; companies are held in memory. The folder is made where there is none. Both
    files appear when both are complete, and neither if anything ends the work. Raises ValueError for numbers that make
    no data set, DataSetExists where there is one, OSError as the disk gives it.
    """
    _check_numbers(stores=stores, companies=companies, seed=seed)
    _refuse_data_set(folder)
    folder.mkdir(parents=True, exist_ok=True)
    draw = stream(seed)
    founded = found_firms(stores=stores, companies=companies, gazetteer=read_gazetteer(), draw=draw)
    firms = shuffled(_told(founded, "Making companies", companies, progress), draw)
    made = chain.from_iterable(stores_of(firm, draw) for firm in firms)
    company_path, store_path = (folder / f"{resource.name}.{form}" for resource in (COMPANIES, STORES))
    with (
        atomic_write(company_path, durable=False) as company_file,
        atomic_write(store_path, durable=False) as store_file,
    ):
        _write(company_file, form, COMPANIES, (firm.company for firm in firms))
        _write(store_file, form, STORES, _told(made, "Making stores", stores, progress))


def _check_numbers(*, stores: int, companies: int, seed: int) -> None:
    for name, number in (("stores", stores), ("companies", companies), ("seed", seed)):
        if number < 0:
            raise ValueError(f"{name} is {number}: it must be 0 or more")
    if stores and not companies:
        raise ValueError("stores belong to companies: ask for at least 1 company, or for 0 stores")


def _refuse_data_set(folder: Path) -> None:
    for name in (f"{STORES.name}.*", f"{COMPANIES.name}.*", "manifest.json"):
        for path in sorted(folder.glob(name)):
            raise DataSetExists(f"{path} exists: choose another folder, or remove the data set that is there")


def _write(file: BinaryIO, form: Form, resource: Resource, records: Iterable[Record]) -> None:
    file.writelines(form.pieces([field.name for field in resource.fields], records))
    file.flush()  # so that a full disk fails here, before either file is in place


def _told(items: Iterable[Item], step: str, total: int, progress: Progress) -> Iterator[Item]:
    for done, item in enumerate(items):
        if done % _TELL_EVERY == 0:
            progress(step, done, total)
        yield item
    progress(step, total, total)
