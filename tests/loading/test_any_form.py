"""The same records in any form of file give the same tables: formats, dialects, mappings and containers combined."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, cast

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

from service.dataset import ReadOptions
from service.loading.dataset import load
from tests.engine.ranked_keys import IN_FILES
from tests.loading.data_files import STORE_FIELDS, Record, as_json, as_lines, dataset, load_files, packed, store
from tests.workbooks import Value, ods, xlsx
from tests.zip_archives import zipped

pytestmark = pytest.mark.process  # of Parquet and workbooks

DATE: Final = "created_at"
DEGREES: Final = ("latitude", "longitude")
STORES: Final[Sequence[Record]] = [
    store("s1", name='A "quoted",;|\tname', latitude="43.70", longitude="-79.40", created_at="2024-05-31"),
    store("s2", company_id="c2", city="Köln", phone_number="+1 (555) 0100", is_open=True),
    store("é", address_1="Straße 1,5", postal_code="01234", latitude="-0.5", longitude="0.0", is_open=False),
    store("s4", province="ON", created_at="1999-12-31"),
]
COMPANIES: Final = [{"company_id": name, "name": name} for name in ("c1", "c2")]


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """The form in which records are written. Options that a format or container lacks are ignored."""

    format: str
    container: str
    compression: str
    mapped: bool  # other names, German dates and numbers
    beside: bool  # the mapping is beside the files
    declared: str  # where encoding and delimiter are: in an option or in the mapping
    encoding: str
    delimiter: str
    separator_line: bool
    human: bool  # names with spaces
    line_end: str
    blank: bool  # rows and columns
    derived: bool  # no file of companies


FORMS: Final = st.builds(
    Form,
    format=st.sampled_from(
        ["csv", "csv", "csv", "tsv", "txt", "json", "jsonl", "geojson", "geojsonl", "parquet", "xlsx", "ods"]
    ),
    container=st.sampled_from(["folder", "zip", "zip of a folder", "file", "zip of a file"]),
    compression=st.sampled_from(["", ".gz", ".zst"]),
    mapped=st.booleans(),
    beside=st.booleans(),
    declared=st.sampled_from(["option", "mapping"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "windows-1252"]),
    delimiter=st.sampled_from(",;\t|"),
    separator_line=st.booleans(),
    human=st.booleans(),
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
    blank=st.booleans(),
    derived=st.booleans(),
)


def mapped_record(record: Record) -> Record:
    """Return a record under other names, with a date and numbers as Germans write them."""
    german = {name: value.replace(".", ",") if name in DEGREES else value for name, value in texts(record).items()}
    if DATE in german:
        german[DATE] = ".".join(reversed(german[DATE].split("-")))
    return {f"Feld {name}": german.get(name, value) for name, value in record.items()}


def texts(record: Record) -> dict[str, str]:
    return {name: value for name, value in record.items() if isinstance(value, str)}


def written(form: Form) -> bytes:
    """Return the stores in a format."""
    records = [mapped_record(record) for record in STORES] if form.mapped else STORES
    columns = [f"Feld {name}" for name in STORE_FIELDS] if form.mapped else STORE_FIELDS
    features = [{"type": "Feature", "geometry": None, "properties": record} for record in records]
    match form.format:
        case "json":
            return as_json({"stores": records})
        case "jsonl":
            return as_lines(records)
        case "geojson":
            return as_json({"type": "FeatureCollection", "features": features})
        case "geojsonl":
            return as_lines(features)
        case "parquet":
            file = io.BytesIO()
            pq.write_table(pa.table({name: [record.get(name) for record in records] for name in columns}), file)
            return file.getvalue()
    return as_rows(form, as_table(form, records, columns))


def as_table(form: Form, records: Sequence[Record], columns: Sequence[str]) -> Iterator[Sequence[Value]]:
    """Yield rows of cells: the header, and the records."""
    empty = [""] * form.blank
    if form.blank:
        yield ["", "", ""]
    yield [*(name.replace("_", " ").title() if form.human and not form.mapped else name for name in columns), *empty]
    for record in records:
        yield [*(cast("Value", record.get(name, "")) for name in columns), *empty * 2]


def as_rows(form: Form, table: Iterable[Sequence[Value]]) -> bytes:
    match form.format:
        case "xlsx":
            return xlsx({"S": list(table)})
        case "ods":
            return ods({"S": list(table)})
    return as_dialect(form, table).encode(form.encoding)


def as_dialect(form: Form, table: Iterable[Sequence[Value]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=form.delimiter, lineterminator=form.line_end)
    for row in table:
        writer.writerow(row)
        text.write(form.line_end * form.blank)
    return f"sep={form.delimiter}{form.line_end}" * form.separator_line + text.getvalue()


def mapping(form: Form) -> str:
    """Return a mapping with what the form needs, "" if it needs none."""
    is_csv = form.format in ("csv", "tsv", "txt")
    lines = []
    if is_csv and form.encoding == "windows-1252" and form.declared == "mapping":
        lines.append(f"encoding = {json.dumps(form.encoding)}")
    if is_csv and form.declared == "mapping" and not form.separator_line:
        lines.append(f"delimiter = {json.dumps(form.delimiter)}")
    if form.mapped:
        lines += ['decimal = ","', 'date = "dd.mm.yyyy"', "[stores.fields]"]
        lines += [f"{name} = {{ from = 'Feld {name}', optional = true }}" for name in STORE_FIELDS]
    if form.derived and "file" not in form.container:
        lines += ["[companies]", 'from = "stores"']
    return "\n".join(["[stores]", *lines]) if lines else ""


def contained(form: Form, folder: Path) -> tuple[Path, ReadOptions]:
    """Write the files; return what is to be loaded, and how."""
    archived, alone = "zip" in form.container, "file" in form.container
    declared, name = mapping(form), f"stores.{form.format}{'' if archived else form.compression}"
    files = {name: written(form) if archived else packed(written(form), name)}
    if not form.derived and not alone:
        files["companies.json"] = as_json(COMPANIES)
    beside = bool(declared) and form.beside and form.container != "file"
    if beside:
        files["mapping.toml"] = declared.encode()
    options = ReadOptions(
        mapping=write({"declared.toml": declared.encode()}, folder) if declared and not beside else "",
        encoding=form.encoding if form.encoding == "windows-1252" and form.declared == "option" else "",
    )
    if archived:
        inner = "d/" if form.container == "zip of a folder" else ""
        return Path(write({"data.zip": zipped({inner + name: each for name, each in files.items()})}, folder)), options
    (folder / "data").mkdir()
    file = Path(write(files, folder / "data"))
    return (file if alone else file.parent), options


def write(files: Mapping[str, bytes], folder: Path) -> str:
    """Write files into a folder; return the path of the first."""
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return str(folder / next(iter(files)))


@pytest.mark.process
@given(FORMS)
def test_the_same_records_in_any_form_give_the_same_tables(form: Form) -> None:
    """All of what is read goes through spools."""
    with TemporaryDirectory() as folder:
        path, options = contained(form, Path(folder))
        loaded = load(path, options=options, spools=IN_FILES)
        twin = load_files(Path(folder) / "twin", {"stores.json": as_json(STORES), "companies.json": as_json(COMPANIES)})
    assert loaded.report.errors == twin.report.errors == []
    assert dataset(loaded).version == dataset(twin).version
