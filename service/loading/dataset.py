"""Load a data set: its tables, and a report of the errors and warnings in its files."""

import gc
import os.path
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from datetime import date
from functools import partial
from hashlib import sha256
from itertools import groupby, zip_longest
from operator import attrgetter
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from service.background import Progress, silent
from service.dataset import AS_FOUND, Dataset, InvalidRecords, ReadOptions, Rejected, Totals, describe_as_of
from service.engine.columns.column import StringArray
from service.engine.table import Table
from service.loading.batch_diagnostics import MAX_LISTED
from service.loading.compiler import Compiler
from service.loading.places import Texts, derive_places
from service.model.attributes import NOTHING_DECLARED, Declaration
from service.model.records import COMPANIES, Resource
from service.reading.diagnostics import Diagnostic, DiagnosticCode, FileError
from service.reading.files.container import is_file
from service.reading.files.data_files import FileSet, StoredFile, read_dataset
from service.reading.files.file_names import holds_data
from service.reading.files.places_file import read_places
from service.reading.files.records import RecordReader
from service.spool import Spools
from service.texts import counted, printable

_FIRST_PART: Final = 1 / 64  # of a file, by which the size of its records is estimated
_GROWTH: Final = 1.8  # of spools while they become a table, as measured


class Report(msgspec.Struct, frozen=True):
    """The errors, warnings and totals of a data set; `check --json` prints it, with the errors as `faults`."""

    errors: list[Diagnostic] = msgspec.field(name="faults")
    warnings: list[Diagnostic]
    totals: Totals


class Loaded(msgspec.Struct, frozen=True, eq=False):
    """The data set of the valid records, None if a file cannot be used, and the report.

    error_counts    the number of errors by code, including those that the report does not list
    warning_counts  the same of warnings
    assumed         what was assumed about the files, in one line for each
    path, options   where its files are, and how they were read
    """

    dataset: Dataset | None
    report: Report
    error_counts: Mapping[DiagnosticCode, int]
    warning_counts: Mapping[DiagnosticCode, int]
    assumed: Sequence[str]
    path: Path
    options: ReadOptions


def load(  # noqa: PLR0913 - what a data set depends on
    path: Path,
    *,
    options: ReadOptions = AS_FOUND,
    fingerprint: str | None = None,
    progress: Progress = silent,
    today: date | None = None,
    spools: Spools | None = None,
) -> Loaded:
    """Load the data set of a folder, of an archive or of a single file.

    With the `fingerprint` of a data signature, its files must be unchanged since, or have a manifest. The report has
    all errors. Without a time of the data, stores whose closing dates are before `today` are closed. The files,
    the records and the tables wait in `spools`. Raises OSError if these cannot be written, and what `progress` raises.
    """
    collects = gc.isenabled()
    gc.disable()  # it would traverse millions of records; none of them is in a cycle
    try:
        files = read_dataset(path, options=options, fingerprint=fingerprint, today=today, spools=spools)
        return _load(path, options, files, progress)
    finally:
        if collects:
            gc.enable()


def dataset_version(tables: Iterable[Table], declaration: Declaration = NOTHING_DECLARED, listed: str = "") -> str:
    """Return the version in hexadecimal digits: the same for the same records, whatever their source and format.

    It is a digest of the rows in order, of the ranks of the sort field, which rows need not include, of the changes of
    their clocks, of what is declared of attributes, and of the digest of a list of places. It is the same on every
    Python version.
    """
    digest = sha256(declaration.digest)
    for table in tables:
        digest.update(len(table).to_bytes(8, "little"))
        digest.update(table.rows.data)
        column = table.columns[table.order_by]
        digest.update(column.non_null_count.to_bytes(8, "little"))
        digest.update(column.codes.astype("<u4").view(np.uint8).data)
        if table.hours is not None:
            digest.update(table.hours.changes.astype("<i8").view(np.uint8).data)
            digest.update(table.hours.offsets.astype("<i4").view(np.uint8).data)
    digest.update(listed.encode())
    return digest.hexdigest()[:16]  # 64 bits: enough to distinguish the data sets of one service


def _load(path: Path, options: ReadOptions, files: FileSet, progress: Progress) -> Loaded:
    listed, assumed, schema = None, list[str](), files.mapping.schema
    try:
        listed = read_places(options.places, files.spools) if options.places else None
    except FileError as error:
        files.errors.append(error.diagnostic(options.places))
    companies = _compile(schema.companies, files, companies=None, assumed=assumed, progress=progress)
    known = companies.identifiers if companies else None
    stores = _compile(schema.stores, files, companies=known, assumed=assumed, progress=progress)
    read = [compiler for compiler in (companies, stores) if compiler]
    skipped, repeated = sum(compiler.skipped for compiler in read), sum(compiler.repeated for compiler in read)
    dataset, totals = None, Totals(0, 0, skipped, repeated)
    if not files.errors and companies is not None and stores is not None:
        of_companies = _build(companies, None, progress)
        of_stores = _build(stores, of_companies, progress)
        totals = Totals(len(of_stores), len(of_companies), skipped, repeated)
        digest = listed.digest if listed is not None else ""
        column = of_stores.columns["postal_code"]  # empty if nothing is searched instead
        column, codes = stores.searched.get("postal_code", (column, StringArray.of(())))
        places = derive_places(of_stores, Texts.of(column.codes, codes), listed, files.spools)
        tables = of_stores, of_companies
        version = dataset_version(tables, schema.declaration, digest)
        dataset = Dataset(*tables, places, files.generated_at, version, totals, stores.as_of, schema, digest)
    errors = [*files.errors, *(error for compiler in read for error in compiler.errors)]
    of_places = listed.errors if listed is not None else ()
    errors += of_places[:MAX_LISTED]
    warnings = [warning for compiler in read for warning in compiler.warnings]
    others = Counter[DiagnosticCode]({"file": len(files.errors), "places": len(of_places)})
    counts = (
        sum((compiler.error_counts.by_code for compiler in read), others),
        sum((compiler.warning_counts.by_code for compiler in read), Counter[DiagnosticCode]()),
    )
    return Loaded(dataset, Report(errors, warnings, totals), *counts, assumed, path, options)


def _compile(
    resource: Resource,
    files: FileSet,
    *,
    companies: AbstractSet[str] | None,
    assumed: list[str],
    progress: Progress,
) -> Compiler | None:
    """Return the compiled records of files; None if one cannot be used, which adds an error to `files`."""
    stored = files.files.pop(resource.name, None)
    if stored is None:
        return None
    compiler = Compiler(resource, file=stored[0].name, companies=companies, as_of=files.as_of, spools=files.spools)
    reader, is_complete, earlier = RecordReader(resource, files), True, 0
    is_derived = files.derives_companies and resource.name == COMPANIES.name
    for file, following in zip_longest(stored, stored[1:]):
        is_last = following is None or following.stored is not file.stored  # of the sheets of a workbook
        try:
            found = _read(file, files, reader, compiler, progress)
            if is_last and file.listing is not None and not is_derived:
                file.listing.check_records(compiler.records - earlier)
        except FileError as error:
            is_complete = False
            if (diagnostic := error.diagnostic(file.name)) not in files.errors:  # both are read from one file
                files.errors.append(diagnostic)
            found = ()
        if found:
            assumed.append(f"{printable(file.name)}: {'; '.join(found)}")
        if is_last:
            earlier = compiler.records
        if file.reader is not None and is_last and following is not None:  # else read again if companies are derived
            file.reader.close()
    if not is_complete:
        return None
    compiler.close()
    return compiler


def _read(
    file: StoredFile, files: FileSet, reader: RecordReader, compiler: Compiler, progress: Progress
) -> Sequence[str]:
    """Read the records of a file; return what was assumed about it."""
    compiler.begin(file.name)
    size, records = compiler.size, reader.read(file)
    is_first = True
    for batch in records.batches:
        compiler.add(batch)
        if is_first and batch.done >= _FIRST_PART * batch.total:
            whole = size + (compiler.size - size) * batch.total / batch.done
            files.spools.require(int(_GROWTH * whole))
            is_first = False
        progress(f"Reading {printable(file.name)}", batch.done, batch.total)
    for line, issue in records.warnings:
        compiler.warn(Diagnostic(issue.code, file.name, line, None, None, None, issue.why))
    return [*records.assumed, *describe_as_of(compiler.as_of)]


def _build(compiler: Compiler, companies: Table | None, progress: Progress) -> Table:
    step = f"Indexing {compiler.resource.name}"
    progress(step, 0, 1)
    table = compiler.build(companies, partial(progress, step))
    progress(step, 1, 1)
    return table


def accept(loaded: Loaded, invalid: InvalidRecords) -> Dataset:
    """Return a data set that can be served. Raises `Rejected` if a file cannot be used, or for invalid records."""
    errors = loaded.report.errors
    if loaded.dataset is not None and (not errors or invalid is InvalidRecords.SKIP):
        return loaded.dataset
    others = sum(loaded.error_counts.values()) - 1
    why, hint = f"{errors[0]} (and {others:,} more)" if others else str(errors[0]), ""
    if os.path.isdir(loaded.path) or (is_file(loaded.path) and holds_data(loaded.path)):  # noqa: PTH112 - Path.is_dir raises if a name is too long
        of_records = any(error.record is not None for error in errors)
        skip = "; `--invalid skip` skips invalid records" if of_records else ""
        hint = f"{check_command(loaded)} reports every error{skip}"
    raise Rejected(why, hint=hint)


def check_command(loaded: Loaded) -> str:
    """Return the command that lists all errors and warnings of a data set, safe to print."""
    return printable(f"`store-directory check {shlex.quote(str(loaded.path))}{loaded.options}`")


class Group(msgspec.Struct, frozen=True):
    """The errors or the warnings (`kind`) of one code: their number, and those in the report, at least one."""

    kind: str
    code: DiagnosticCode
    count: int
    listed: Sequence[Diagnostic]

    def __str__(self) -> str:
        """Return the code and the number: `range: 3 warnings`."""
        return f"{self.code}: {counted(self.count, self.kind)}"


def groups(loaded: Loaded) -> Iterator[Group]:
    """Yield the errors, then the warnings, by code; first about time zones, without which no hours are known."""
    report, counts = loaded.report, {**loaded.error_counts, **loaded.warning_counts}
    for kind, diagnostics in (("error", report.errors), ("warning", report.warnings)):
        first = sorted(diagnostics, key=lambda each: (each.code != "timezone", each.code))
        for code, group in groupby(first, key=attrgetter("code")):
            listed = list(group)
            yield Group(kind, code, counts[code], listed)


def notes(loaded: Loaded) -> Iterator[str]:
    """Yield the lines to log: skipped records, one line for each code, and the command that lists everything."""
    if loaded.report.totals.skipped:
        yield f"skipped {counted(loaded.report.totals.skipped, 'invalid record')}"
    found = list(groups(loaded))
    yield from (f"{group}, the first: {group.listed[0]}" for group in found)
    if found:
        yield f"{check_command(loaded)} reports every error and warning"
