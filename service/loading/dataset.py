"""A data set, loaded: its tables, and the report of what is wrong with its files."""

import gc
from collections import Counter
from collections.abc import Iterator, Mapping, Set as AbstractSet
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from service.engine.table import Table
from service.loading.compiler import Compiler
from service.loading.data_files import FileSet, StoredFile, read_folder
from service.loading.data_version import dataset_version
from service.loading.decompression import count_breaks, unpack
from service.loading.faults import Code, Fault, RefusedError
from service.model.records import COMPANIES, STORES, Resource
from service.progress import Progress, silent

_UNTERMINATED: Final = "the last line has no end, as in a file that was cut"


class Dataset(msgspec.Struct, frozen=True, eq=False, weakref=True):
    """The tables of stores and companies, when the data was made, where its manifest says so, and its version."""

    stores: Table
    companies: Table
    generated_at: datetime | None
    version: str


class Totals(msgspec.Struct, frozen=True):
    """How many stores and companies are served; how many records of both kinds are skipped, how many repeated."""

    stores: int
    companies: int
    skipped: int
    repeated: int


class Summary(msgspec.Struct, frozen=True):
    """What is known of a data set without its tables."""

    version: str
    generated_at: datetime | None
    totals: Totals

    @classmethod
    def of(cls, dataset: Dataset, report: "Report") -> "Summary":
        """Return the summary of a data set and its report."""
        return cls(dataset.version, dataset.generated_at, report.totals)


class Report(msgspec.Struct, frozen=True):
    """Everything told of a data set; encoded, it is what `check --json` prints."""

    faults: list[Fault]
    warnings: list[Fault]
    totals: Totals


class Loaded(msgspec.Struct, frozen=True, eq=False):
    """A data set of the records that are sound, None where a file or the set is refused, and the report.

    warned  how many warnings of each code there are: more than the report has of them, where they are many
    """

    dataset: Dataset | None
    report: Report
    warned: Mapping[Code, int] = {}


def load(folder: Path, *, fingerprint: str | None = None, progress: Progress = silent) -> Loaded:
    """Load the data set of a folder.

    With the `fingerprint` of a look, its files must still be those, or have a manifest. Whatever is wrong with them is
    told in the report. Raises what `progress` raises, and nothing else.
    """
    with _collector_at_rest():
        return _load(read_folder(folder, fingerprint=fingerprint), progress)


def _load(files: FileSet, progress: Progress) -> Loaded:
    companies = _compile(COMPANIES, files, None, progress)
    stores = _compile(STORES, files, companies.identifiers if companies else None, progress)
    read = [compiler for compiler in (companies, stores) if compiler]
    faults = [fault for compiler in read for fault in compiler.faults]
    warnings = [warning for compiler in read for warning in compiler.warnings]
    warned = sum((compiler.tally.by_code for compiler in read), Counter[Code]())
    skipped, repeated = sum(compiler.skipped for compiler in read), sum(compiler.repeated for compiler in read)
    if files.faults or companies is None or stores is None:
        return Loaded(None, Report(files.faults + faults, warnings, Totals(0, 0, skipped, repeated)), warned)
    tables = _build(stores, progress), _build(companies, progress)
    dataset = Dataset(*tables, files.generated_at, dataset_version(tables))
    totals = Totals(len(dataset.stores), len(dataset.companies), skipped, repeated)
    return Loaded(dataset, Report(faults, warnings, totals), warned)


def _compile(
    resource: Resource, files: FileSet, companies: AbstractSet[str] | None, progress: Progress
) -> Compiler | None:
    """Return a file's records, compiled; None where the file is refused, which is added to the faults of the set."""
    file = files.files.pop(resource.name, None)
    if file is None:
        return None
    compiler = Compiler(resource, file=file.name, companies=companies)
    try:
        _read(file, compiler, progress)
    except RefusedError as refused:
        files.faults.append(refused.fault(file.name))
        return None
    return compiler


def _read(file: StoredFile, compiler: Compiler, progress: Progress) -> None:
    text = unpack(file.stored, file.compression)
    for batch in file.format.read(text, compiler.resource):
        compiler.add(batch)
        progress(f"Reading {file.name}", batch.done, batch.total)
    if file.listing is not None:
        file.listing.check_records(compiler.records)
    if file.format.lacks_end(text):
        line = 1 + count_breaks(text, 0, len(text))
        compiler.warn(Fault("unterminated", file.name, line, None, None, None, _UNTERMINATED))
    compiler.close()


def _build(compiler: Compiler, progress: Progress) -> Table:
    step, size = f"Indexing {compiler.resource.name}", len(compiler.identifiers)
    progress(step, 0, size)
    table = compiler.build()
    progress(step, size, size)
    return table


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Keep the garbage collector from looking through millions of records, none of which is in a cycle."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
