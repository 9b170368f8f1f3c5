"""Small data sets, written as files in every format."""

import csv
import gzip
import io
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from service.dataset import Dataset
from service.loading.dataset import Loaded, load
from service.model.records import COMPANIES, STORES, Resource
from service.reading.batch import Batch
from service.reading.diagnostics import Diagnostic
from service.reading.files.data_files import FileSet, StoredFile
from service.reading.files.records import RecordReader
from service.reading.formats.file_format import FORMATS
from tests.engine.ranked_keys import IN_FILES

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Record = dict[str, object]
STORE_FIELDS = [field.name for field in STORES.fields]
COMPANY_FIELDS = [field.name for field in COMPANIES.fields]
REQUIRED = [field.name for field in STORES.fields if field.required]


def store(identifier: str = "s1", **fields: object) -> Record:
    """Return a valid store of company c1, with some fields as given; it may be anywhere, as its country is unknown."""
    required: Record = {"store_id": identifier, "company_id": "c1", "address_1": "1 Elm St", "city": "Ada"}
    return required | {"country": "Utopia"} | fields


def company(identifier: str = "c1", **fields: object) -> Record:
    """Return a valid company, with some fields as given."""
    return {"company_id": identifier, "name": "Acme"} | fields


def as_csv(records: Iterable[Mapping[str, object]], columns: Sequence[str] = STORE_FIELDS, *, end: str = "\n") -> bytes:
    """Return records as CSV, with the columns of stores unless others are given, None as an empty cell."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator=end, restval="")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue().encode()


def as_lines(records: Iterable[object]) -> bytes:
    """Return records as JSON lines."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def as_json(value: object) -> bytes:
    """Return a value as JSON."""
    return json.dumps(value, ensure_ascii=False).encode()


def packed(text: bytes, ending: str) -> bytes:
    """Return a text compressed by the extension of a file name."""
    if ending.endswith(".gz"):
        return gzip.compress(text)
    return zstd.compress(text) if ending.endswith(".zst") else text


COMPANIES_FILE = as_csv([company()], ["company_id", "name"])


DERIVED = '[companies]\nfrom = "stores"\n'  # in a mapping


def load_files(folder: Path, files: Mapping[str, bytes], **options: Any) -> Loaded:
    """Load a folder of just these files; all of what is read goes through spools. For the options see `load`."""
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return load(folder, spools=IN_FILES, **options)


def read_batches(form: str, stored: bytes, resource: Resource) -> Iterator[Batch]:
    """Return the records of a file without a mapping. Raises FileError."""
    file = StoredFile(f"x.{form}", FORMATS[form], None, stored, None)
    return RecordReader(resource, FileSet({}, [])).read(file).batches


def load_stores(folder: Path, content: bytes, name: str = "stores.csv") -> Loaded:
    """Load a folder of one stores file, and of company c1."""
    return load_files(folder, {"companies.csv": COMPANIES_FILE, name: content})


def load_mapped(folder: Path, mapping: str, stores: bytes | str, name: str = "stores.csv", **options: Any) -> Loaded:
    """Load a folder of one stores file and a mapping, and of company c1 unless companies are derived."""
    files = {name: stores.encode() if isinstance(stores, str) else stores, "mapping.toml": mapping.encode()}
    return load_files(folder, files if DERIVED in mapping else files | {"companies.csv": COMPANIES_FILE}, **options)


def load_companies(folder: Path, content: bytes, name: str = "companies.csv") -> Loaded:
    """Load a folder of one companies file, and of no stores."""
    return load_files(folder, {name: content, "stores.jsonl": b""})


def dataset(loaded: Loaded) -> Dataset:
    """Return the data set that is loaded."""
    assert loaded.dataset is not None, loaded.report.errors
    return loaded.dataset


def served(loaded: Loaded, collection: str = "stores") -> list[dict[str, Any]]:
    """Return the records of a table that is loaded."""
    return [json.loads(row[:-1]) for row in rows(loaded, collection)]


def rows(loaded: Loaded, collection: str = "stores") -> list[bytes]:
    """Return the rows of a table that is loaded."""
    table = getattr(dataset(loaded), collection)
    return [table.rows[row] for row in range(len(table))]


def refusal(loaded: Loaded) -> Diagnostic:
    """Return the only error of a refused data set."""
    assert loaded.dataset is None
    (error,) = (error for error in loaded.report.errors if error.code == "file")
    assert (error.record, error.field, error.value) == (None, None, None)
    assert error.why
    return error
