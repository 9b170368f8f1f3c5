"""The documentation against the code that it describes."""

import ast
import re
import runpy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from inspect import signature
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Final, get_args
from zlib import crc32

import click
import msgspec
import orjson
import pytest
from multidict import CIMultiDict, CIMultiDictProxy

from service.access import key_file as register
from service.access.api_key import KEY_PREFIX, PUBLIC_PREFIX
from service.baking.layout import BakedContent, map_file
from service.commands import main
from service.commands.options import SETTINGS, read_settings
from service.dataset import InvalidRecords, Totals
from service.engine.results import map_clusters
from service.loading.checks import PLACEHOLDERS, REAL_VALUES
from service.loading.dataset import Report, load
from service.model import kinds
from service.model.attributes import NO_ATTRIBUTES
from service.model.coordinates import MAX_ZOOM
from service.model.envelope import ClusterCollection, ClusterProperties, Facet, PaginatedResponse, StorePage
from service.model.errors import HTTPError, HTTPValidationError, ProblemDetails, RequestError, UnprocessableContent
from service.model.kinds import FALSE, TRUE
from service.model.parameters import file_parameters_of, map_parameters_of, parameters_of
from service.model.places import PlacePage
from service.model.query import QueryParser, query_pairs
from service.model.records import COMPANIES, STORES, Company, Resource
from service.publishing.snapshot import SnapshotHolder
from service.publishing.workspace import Reload
from service.reading.columns.countries import countries_by_name
from service.reading.diagnostics import Diagnostic, ErrorCode, WarningCode
from service.reading.files.file_names import parse_manifest
from service.reading.formats.file_format import COMPRESSIONS, FORMATS
from service.reading.mapping.mapping_file import parse_mapping
from service.sampling.sample_dataset import write_sample
from service.settings import SECTIONS
from service.web.connections import limits
from service.web.connections.server import runner
from service.web.endpoints.probes import Health, Ready, Unready, metrics_route
from service.web.http.header_fields import MAX_CHARACTERS, MAX_MEMBERS
from service.web.http.request import RequestFields
from service.web.http.response import Answer
from service.web.pipeline.access_log import AccessLogEntry
from service.web.pipeline.auth import no_authentication
from service.web.pipeline.counters import Counters
from service.web.pipeline.plan import MAX_LONG_QUERIES, MAX_LONG_QUERIES_OF_A_KEY
from service.web.site import make_site
from tests.baking.random_datasets import baked_file
from tests.declared_attributes import STORES_WITH_HOURS
from tests.directory import store, write_directory
from tests.program import run_here
from tests.recording import check_figures
from tests.web.live import DEFAULTS

ROOT = Path(__file__).parents[1]
FOLDERS = (".", "docs", "datasets", "bench", "examples", "examples/*", "deploy/prometheus")
PAGES = [page for folder in FOLDERS for page in sorted(ROOT.glob(f"{folder}/*.md"))]
INTERFACE, DATA, COMMANDS, BAKED, KEYS = (
    (ROOT / "docs" / f"{name}.md").read_text() for name in ("interface", "data", "commands", "baked", "keys")
)
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text()
KINDS_OF_NUMBERS = {"U": "uint", "I": "int", "F": "float"}
INDEXES = ("RESOURCE/text", "places/names", "places/others")
PAGE: Any = PaginatedResponse
ANSWERS = (
    *(*(PAGE[record] for record in STORES.items), Company, ClusterCollection, StorePage, PlacePage),
    *(HTTPError, HTTPValidationError, ProblemDetails, Health, Unready, Ready),
)

each_resource = pytest.mark.parametrize("resource", [STORES, COMPANIES], ids=lambda resource: resource.name)
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def section(page: str, heading: str) -> str:
    """Return the text under a heading, up to the next one."""
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", page, re.MULTILINE | re.DOTALL)
    assert found is not None, f"there is no heading {heading}"
    return found[1]


def rows(text: str, column: str) -> list[dict[str, str]]:
    """Return the rows of all tables of a text whose first column is `column`, each cell by its column."""
    found = []
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        header, _, *lines = [
            [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line[1:-1])]
            for line in table.splitlines()
        ]
        if header[0] == column:
            found += [dict(zip(header, line, strict=True)) for line in lines]
    return found


def codes(text: str) -> list[str]:
    """Return the texts in code spans."""
    return re.findall(r"(?<!`)`([^`\n]+)`", text)


def named(text: str, column: str) -> list[str]:
    """Return the first word of each code span in the first column of a text's tables."""
    return [code.split()[0] for row in rows(text, column) for code in codes(row[column])]


def blocks(page: str, language: str) -> list[str]:
    """Return the blocks of code in a language."""
    return re.findall(rf"^ *```{language}\n(.*?)^ *```$", page, re.MULTILINE | re.DOTALL)


def first_texts(folder: Path, *names: str) -> set[str]:
    """Return each text that is the first argument of a call of one of the names, in the code of a folder."""
    calls = (
        node.args[0]
        for file in folder.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names and node.args
    )
    return {text.value for text in calls if isinstance(text, ast.Constant) and isinstance(text.value, str)}


def test_every_operation_is_in_the_interface_with_whether_it_needs_a_key() -> None:
    document = orjson.loads(make_site(SnapshotHolder(), no_authentication, DEFAULTS).openapi(NO_ATTRIBUTES))
    documented = {codes(row["Request"])[0].removeprefix("GET "): row["Key"] for row in rows(INTERFACE, "Request")}
    for path, operations in document["paths"].items():
        assert documented[path] == ("needed" if operations["get"]["security"] else "")
    assert f"Version {document['info']['version']}." in INTERFACE


def test_every_parameter_is_in_the_interface_with_its_default() -> None:
    known = {(f"`/{resource.name}`", "yes"): list(parameters_of(resource)) for resource in (STORES, COMPANIES)}
    for ending in ("csv", "ndjson", "geojson"):
        of_files = [each for resource in (STORES, COMPANIES) for each in file_parameters_of(resource, ending)]
        known["[files](#whole-results)", f"`.{ending}`"] = of_files
    for (column, mark), parameters in known.items():
        listed = [row for row in rows(section(INTERFACE, "Parameters"), "Parameter") if row[column] in ("yes", mark)]
        documented = {row["Parameter"].strip("`"): row["Default"].strip("`") for row in listed}
        assert documented == {each.name: str(each.schema.get("default", "")) for each in parameters}


def test_every_file_is_in_the_interface_with_its_media_type() -> None:
    document = orjson.loads(make_site(SnapshotHolder(), no_authentication, DEFAULTS).openapi(NO_ATTRIBUTES))
    documented = {codes(row["File"])[0]: codes(row["Media type"])[0] for row in rows(INTERFACE, "File")}
    files = {path: operation["get"] for path, operation in document["paths"].items() if "." in path}
    assert {Path(path).suffix for path in files} == set(documented)
    for path, operation in files.items():
        assert list(operation["responses"]["200"]["content"]) == [documented[Path(path).suffix]]


def test_every_parameter_of_a_map_is_in_the_interface_with_whether_it_is_needed() -> None:
    listed = rows(section(INTERFACE, "Parameters"), "Parameter")
    needs = {row["Parameter"].strip("`"): row["`/clusters`"] for row in listed if row["`/clusters`"]}
    parameters = map_parameters_of(STORES)
    assert needs == {parameter.name: "needed" if parameter.required else "yes" for parameter in parameters}
    assert f"0 to {MAX_ZOOM}" in next(row["Takes"] for row in listed if row["Parameter"] == "`zoom`")
    members = codes(" ".join(row["Member of a feature"] for row in rows(INTERFACE, "Member of a feature")))
    assert members == ["coordinates", *ClusterProperties.__struct_fields__]


@each_resource
def test_every_filter_is_in_the_interface_with_its_kind(resource: Resource) -> None:
    documented = {row["Parameter"].strip("`"): row["Takes"] for row in rows(INTERFACE, "Parameter")}
    assert {field.name: documented[field.name] for field in resource.filters} == {
        field.name: field.kind.name for field in resource.filters
    }


def listed(heading: str, resource: Resource) -> list[str]:
    """Return the names that a list under a heading of the interface has for a resource."""
    item = rf"^- on `/{resource.name}`: ([^.\n]*(?:\n  [^.\n]*)*)"
    return codes(re.findall(item, section(INTERFACE, heading), re.MULTILINE)[0])


@each_resource
def test_sort_keys_searched_fields_and_facets_are_in_the_interface_in_order(resource: Resource) -> None:
    company = [] if resource is COMPANIES else ["name", "domain"]
    assert listed("Sorting", resource) == list(resource.sort_keys)
    assert listed("Words", resource) == [*(field.name for field in resource.searched), *company]
    assert listed("Facets", resource) == list(resource.facets)


def examples_of_matching() -> Iterator[tuple[str, str, str, bool]]:
    for row in rows(section(INTERFACE, "Filters"), "Kind"):
        for given, unlike, value in re.findall(r"`([^`]+)` (does not find|finds) `([^`]+)`", row["Examples"]):
            yield row["Kind"], given, value, unlike == "finds"


@pytest.mark.parametrize(("kind", "given", "value", "same"), list(examples_of_matching()))
def test_every_example_of_matching_is_true(kind: str, given: str, value: str, *, same: bool) -> None:
    matched = getattr(kinds, kind.upper()).normalize
    assert (matched(given) == matched(value)) is same


def test_every_status_of_an_error_is_in_the_interface_with_its_headers() -> None:
    documented = {int(row["Status"]): row["Also"] for row in rows(INTERFACE, "Status")}
    errors = RequestError.__subclasses__()
    assert list(documented) == sorted(error.status for error in errors)
    for error in errors:
        also = "closes the connection" if error.closes else ""
        headers = ", ".join(f"`{name}: {value}`" for name, value in error.headers.items())
        assert documented[error.status] == also + headers


def examples_of_faults() -> Iterator[tuple[str, str, str]]:
    for row in rows(INTERFACE, "Given"):
        for query in codes(row["Given"]):
            if "=" in query:
                yield query, row["`type`"].strip("`"), row["`msg`"]


@pytest.mark.parametrize(("query", "kind", "msg"), list(examples_of_faults()))
def test_every_example_of_a_422_is_answered_as_documented(query: str, kind: str, msg: str) -> None:
    parser = QueryParser(STORES_WITH_HOURS if "open_at" in query else STORES)
    if "zoom=" in query:
        parser = QueryParser(STORES, map_parameters_of(STORES))
    elif "bom=" in query:
        parser = QueryParser(STORES, file_parameters_of(STORES, "csv"))
    with pytest.raises(UnprocessableContent) as raised:
        parser.parse(query_pairs(query), strict=True)
    assert isinstance(raised.value.body, HTTPValidationError)
    (fault,) = raised.value.body.detail
    beginning, _, end = msg.partition("…")
    assert fault.type == kind
    assert fault.msg == msg or (end and fault.msg.startswith(beginning) and fault.msg.endswith(end))


@pytest.mark.parametrize("example", blocks(INTERFACE, "json"))
def test_every_response_in_the_interface_has_a_valid_shape(example: str) -> None:
    wire = orjson.dumps(orjson.loads(example))
    assert wire in [encoded_again(wire, answer) for answer in ANSWERS]


def test_the_clusters_in_the_interface_are_those_that_the_request_gets(tmp_path: Path) -> None:
    """From the single stores that the response names, and others around mean positions, a hundredth degree apart."""
    text = section(INTERFACE, "Clusters for maps")
    (example,), (query,) = blocks(text, "json"), re.findall(r"/clusters\?([^']+)'", text)
    stores: list[dict[str, Any]] = []
    for feature in (documented := orjson.loads(example))["features"]:
        (longitude, latitude), properties = feature["geometry"]["coordinates"], feature["properties"]
        count = properties.pop("count")
        for number in range(count):
            members = {"store_id": f"s{len(stores) + 10}", **properties}
            north = f"{latitude + (number - (count - 1) / 2) / 100:.7f}"
            stores.append(store(**members, latitude=north, longitude=f"{longitude:.7f}"))
        properties["count"] = count
    dataset = load(write_directory(tmp_path / "data", stores)).dataset
    assert dataset is not None
    found = map_clusters(
        dataset.stores, QueryParser(STORES, map_parameters_of(STORES)).parse(query_pairs(query), strict=True)
    )
    assert orjson.loads(b"".join(found)) == documented
    assert {each["properties"]["count"] for each in documented["features"]} == {1, 2}


def encoded_again(wire: bytes, answer: Any) -> bytes | None:
    """Return JSON after a round trip through the type of a response: unchanged if it is valid."""
    try:
        return msgspec.json.encode(msgspec.json.decode(wire, type=answer))
    except msgspec.ValidationError:
        return None


def members_of(*kinds: type[msgspec.Struct]) -> list[str]:
    """Return the names of all members in JSON."""
    return [field.encode_name for kind in kinds for field in msgspec.structs.fields(kind)]


BEGINNING_WITH_0: Final = section(DATA, "Locations and countries").partition("some begin with 0: ")[2].partition(".")[0]
LISTED: Final[Mapping[str, tuple[Sequence[str], Sequence[str]]]] = {
    "members of a page of GeoJSON": (named(INTERFACE, "Member of a page of GeoJSON"), members_of(StorePage)),
    "members of a page": (named(INTERFACE, "Member of the response"), PaginatedResponse.__struct_fields__),
    "members of a facet": (named(INTERFACE, "Member of a facet"), Facet.__struct_fields__),
    "members of /ready": (named(INTERFACE, "Field"), Ready.__struct_fields__),
    "the access log": (named((ROOT / "docs/observing.md").read_text(), "In the log"), AccessLogEntry.__struct_fields__),
    "codes": (named(DATA, "Code"), (*get_args(ErrorCode), *get_args(WarningCode))),
    "--invalid": (named(section(DATA, "`--invalid`"), "Value"), list(InvalidRecords)),
    "types of a 422": (
        [row["`type`"].strip("`") for row in rows(INTERFACE, "Given")],
        sorted(first_texts(ROOT / "service" / "model", "InvalidValue")),
    ),
    "countries whose postal codes are checked": (
        re.findall(r"\b[A-Z]{2}\b", BEGINNING_WITH_0),
        [country.names[0] for country in countries_by_name().values() if country.postal_digits],
    ),
}
# Names that are mentioned among others.
MENTIONED: Final[Mapping[str, tuple[str, Iterable[str]]]] = {
    "fields of a reload": (section(INTERFACE, "`/health` and `/ready`"), Reload.__struct_fields__),
    "spellings of a flag in requests": (INTERFACE, TRUE | FALSE),
    "spellings of a flag in data": (DATA, TRUE | FALSE),
    "keys of a report": (
        " ".join(f"{row['Key']} {row['Meaning']}" for row in rows(section(DATA, "check"), "Key")),
        members_of(Report, Diagnostic, Totals),
    ),
}


@pytest.mark.parametrize(("documented", "declared"), LISTED.values(), ids=LISTED)
def test_all_names_of_a_kind_are_documented(documented: Sequence[str], declared: Sequence[str]) -> None:
    assert set(documented) == set(declared)


@pytest.mark.parametrize(("text", "declared"), MENTIONED.values(), ids=MENTIONED)
def test_all_names_of_a_kind_are_mentioned(text: str, declared: Iterable[str]) -> None:
    assert set(codes(text)) >= set(declared)


def test_every_limit_is_in_the_interface() -> None:
    documented = [row["Value"] for row in rows(INTERFACE, "Limit")]
    line = (f"{limits.MAX_LINE_BYTES:,} bytes", f"{limits.MAX_HOST_CHARACTERS} characters")
    head = (f"{limits.MAX_FIELD_BYTES:,} bytes", f"{limits.MAX_FIELDS}", f"{limits.MAX_HEAD_BYTES:,} bytes")
    own = limits.Limits()
    parts = (f"{limits.MAX_BODY_PARTS}", f"{limits.MAX_BODY_LINE_BYTES:,} bytes")
    body = (f"{limits.MAX_BODY_BYTES:,} bytes", *parts, f"{limits.MAX_LINE_END_BYTES} bytes")
    lists = (f"{MAX_CHARACTERS:,} characters", f"{MAX_MEMBERS}")
    times = (own.head_seconds, own.idle_seconds, own.write_seconds, own.discard_seconds)
    seconds = [f"{time:g} second{'' if time == 1 else 's'}" for time in times]
    queries = f"{MAX_LONG_QUERIES_OF_A_KEY}, {MAX_LONG_QUERIES}"
    assert documented == [*line, *head, *body, *lists, *seconds, queries, f"{own.connections:,}"]


def test_every_metric_is_in_the_interface() -> None:
    holder = SnapshotHolder()
    traffic = Counters((), holder.slot)
    fields = RequestFields(CIMultiDictProxy(CIMultiDict()))
    answer = metrics_route(holder, traffic, key_file_ok=lambda: True).answer(fields, True)
    assert isinstance(answer, Answer)
    body = b"".join(answer.pieces).decode()
    documented = {row["Name"].strip("`"): row["Type"] for row in rows(INTERFACE, "Name")}
    metrics = dict(re.findall(r"^# TYPE (\S+) (\S+)$", body, re.MULTILINE))
    # Those of the process are there on Linux only.
    assert metrics == {name: kind for name, kind in documented.items() if name in metrics or name.startswith("store_")}


@each_resource
def test_every_field_is_in_the_data_format_with_its_kind(resource: Resource) -> None:
    (text,) = re.findall(rf"^{resource.name.title()}:\n\n((?:\|.*\n)+)", DATA, re.MULTILINE)
    documented = [(row["Field"].strip("`"), row["Kind"], row["Required"]) for row in rows(text, "Field")]
    assert documented == [(field.name, field.kind.name, "yes" if field.required else "") for field in resource.fields]


def test_every_format_is_in_the_data_format() -> None:
    endings = {ending for name in codes(section(DATA, "Files")) for ending in name.split(".")[1:]}
    assert endings >= {*FORMATS, *COMPRESSIONS}


def test_every_placeholder_and_where_it_is_a_value_is_in_the_data_format() -> None:
    text = section(DATA, "Placeholders and formulas")
    paragraph = text.partition("are\nserved unchanged")[0]
    assert {kinds.fold(text) for text in codes(paragraph)} == PLACEHOLDERS
    real = {
        row["In"].strip("`"): {kinds.fold(text) for text in codes(row["These are values"])} for row in rows(text, "In")
    }
    assert real.pop("identifiers") == set()
    assert real == REAL_VALUES


def examples_of_flaws() -> Iterator[tuple[str, str, str]]:
    for kind, heading in (("faults", "Errors"), ("warnings", "Warnings")):
        for row in rows(section(DATA, heading), "Code"):
            if row["Example"].startswith('`"'):
                yield kind, row["Code"].strip("`"), row["Example"].strip("`")


@pytest.mark.parametrize(("kind", "code", "example"), list(examples_of_flaws()))
def test_every_example_of_an_invalid_record_is_reported(tmp_path: Path, kind: str, code: str, example: str) -> None:
    fields = orjson.loads(f"{{{example}}}")
    report = load(write_directory(tmp_path / "data", [store("s1", **fields)])).report
    documented = {"faults": report.errors, "warnings": report.warnings}
    # A column that says that stores are closed is also one that is not used.
    assert {flaw.code for flaw in documented.pop(kind)} - ({"unused"} if code == "closed" else set()) == {code}
    assert list(documented.values()) == [[]]


def test_the_report_of_check_has_the_documented_shape() -> None:
    (example,) = blocks(section(DATA, "check"), "json")
    wire = orjson.dumps(orjson.loads(example))
    assert encoded_again(wire, Report) == wire


def test_the_manifest_in_the_docs_is_valid() -> None:
    (example,) = blocks(section(DATA, "The manifest"), "json")
    manifest = parse_manifest(example.encode())
    assert manifest.generated_at is not None
    assert all(listing.records for listing in manifest.files.values())


def commands() -> dict[str, click.Command]:
    """Return the commands by name."""
    with click.Context(main) as context:
        found = {name: main.get_command(context, name) for name in main.list_commands(context)}
    return {name: command for name, command in found.items() if command is not None}


def documented_commands() -> Iterator[tuple[str, click.Command]]:
    yield "Commands", main
    for name, command in commands().items():
        yield name, command
        inner = command.commands if isinstance(command, click.Group) else {}
        yield from ((f"{name} {each}", under) for each, under in inner.items())


@pytest.mark.parametrize(("heading", "command"), list(documented_commands()))
def test_the_tables_of_options_say_what_help_says(heading: str, command: click.Command) -> None:
    headings = [heading, *(SECTIONS.values() if heading == "serve" else ())]
    documented = [row for each in headings for row in rows(section(COMMANDS, each), "Option")]
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    with click.Context(command) as context:
        helped = [record for option in options if (record := option.get_help_record(context))]
    assert [codes(row["Option"])[0] for row in documented] == [option for option, _ in helped]
    for row, (_, text) in zip(documented, helped, strict=True):
        effect, _, extra = text.partition("  [")
        (default,) = re.findall(r"default: ([^;\]]*)", extra) or re.findall("required", extra) or [""]
        assert row["Default"].strip("`") == default
        assert row["Effect"].replace("`", "").startswith(effect.replace("`", ""))
        assert all(variable in row["Effect"] for variable in re.findall(r"STORE_DIRECTORY_\w+", extra))


def test_the_time_that_open_requests_get_is_in_the_commands() -> None:
    seconds = signature(runner).parameters["shutdown_seconds"].default
    assert f"up to {seconds} seconds" in " ".join(section(COMMANDS, "Signals").split())


def test_every_command_is_in_the_commands_with_its_exit_codes() -> None:
    assert {code for row in rows(COMMANDS, "Command") for code in codes(row["Command"])} == set(commands())
    for row in rows(section(COMMANDS, "Exit codes"), "Code"):
        assert {code for column in row for code in codes(column)} == set(commands())
        assert all(row.values())


def test_the_example_of_a_settings_file_has_every_setting(tmp_path: Path) -> None:
    (example,) = blocks(COMMANDS, "toml")
    (tmp_path / "settings.toml").write_text(example)
    assert list(read_settings(tmp_path / "settings.toml")) == list(SETTINGS)


def test_the_key_file_in_the_docs_is_valid_with_every_member() -> None:
    (example,) = blocks(KEYS, "json")
    (entry,) = register.read_keys(example.encode())
    assert list(orjson.loads(example)["keys"][0]) == list(register.KeyEntry.__struct_fields__) == named(KEYS, "Member")
    assert entry.limit is not None
    assert all(f"`{prefix}[0-9A-Za-z]{{49}}`" in KEYS for prefix in (KEY_PREFIX, PUBLIC_PREFIX))


def test_the_commands_on_keys_work_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"store-directory keys ([^)\n]*)", KEYS.replace("2027-01-01", "9999-01-01"))
    ended = [run_here("keys", *command.split()) for command in commands]
    assert [each.returncode for each in ended] == [0] * len(commands)
    assert re.findall(r"`keys (?:new|list|revoke) [^`]*`", KEYS) == []
    assert [
        each["name"] for each in orjson.loads(run_here("keys", "list", "--key-file", "keys.json", "--json").stdout)
    ] == ["shop", "website", "shop-2027", "shop-2027"]
    last = next(each.stdout for each in reversed(ended) if each.stdout.startswith(KEY_PREFIX))
    (line,) = (line for line in ended[-1].stdout.splitlines() if sha256(last.strip().encode()).hexdigest()[:12] in line)
    assert "valid" in line


ATTRIBUTES: Final = """[stores.attributes]
cities = { from = "city", kind = "list" }
opening_hours = { kind = "hours", constant = '{"timezone":"UTC","hours":[],"exception_hours":[]}' }
"""
SCHEMA: Final = parse_mapping(ATTRIBUTES.encode()).schema


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with `data` and `stores.baked`."""
    folder = tmp_path_factory.mktemp("baked")
    write_sample(folder / "data", stores=1500, companies=9, seed=1)
    (folder / "data/mapping.toml").write_text(ATTRIBUTES)
    return baked_file(folder / "data", folder / "stores.baked").parent


@pytest.fixture
def baked(folder: Path) -> BakedContent:
    return map_file(folder / "stores.baked")


def test_every_array_and_text_of_a_baked_file_is_in_the_layout(baked: BakedContent) -> None:
    indexes = [name for name in codes(section(BAKED, "Arrays").partition("`INDEX` is ")[2]) if name in INDEXES]
    assert sorted(indexes) == sorted(INDEXES)
    documented = {
        codes(row["Array"])[0].replace("INDEX", index): {
            KINDS_OF_NUMBERS[code[0]] + code[1:] for code in codes(row["Type"])
        }
        for row in rows(BAKED, "Array")
        for index in (INDEXES if "INDEX" in row["Array"] else ("",))
    }
    alone = {name for name in documented if "RESOURCE" not in name}
    expected = {name: documented[name] for name in alone}
    for pattern in documented.keys() - alone:
        for resource in (SCHEMA.stores, SCHEMA.companies):
            lists = [field for field in resource.fields if field.is_list]
            others = [field for field in resource.filters if field.has_values]
            hours = [field for field in resource.fields if field == resource.hours]
            kinds = {"texts": lists, "times": hours, "values": others}
            fields = kinds.get(pattern.split("/")[2], resource.fields)
            names = {pattern.replace("RESOURCE", resource.name).replace("FIELD", field.name) for field in fields}
            expected |= dict.fromkeys(names, documented[pattern])
    assert expected.keys() == {*baked.arrays, *orjson.loads(baked.metadata["numbered"]), "header_crc32"}
    assert all(array.dtype.name in expected[name] for name, array in baked.arrays.items())
    assert sorted(named(BAKED, "Text")) == sorted([*baked.metadata, "as_of", "listed", "crc32:ARRAY"])


def test_what_a_location_takes_in_a_baked_file_is_documented(baked: BakedContent) -> None:
    sizes = []
    for part in ("z_order", "locations"):
        taken = {name: array for name, array in baked.arrays.items() if name.startswith(f"stores/{part}/")}
        stores, located = len(taken[f"stores/{part}/order"]), len(taken[f"stores/{part}/latitudes"])
        others = sum(taken[f"stores/{part}/{each}"].itemsize for each in ("order", "positions"))
        rest = sum(array.nbytes for array in taken.values()) - others * stores
        assert (others, rest % located) == (8, 0)
        sizes.append(others + rest // located)
    assert "takes {} bytes in the Z-order and {} in the locations, one without 8".format(*sizes) in BAKED


@pytest.mark.ci
def test_what_a_store_takes_in_a_baked_file_is_documented_within_a_fiftieth(tmp_path: Path) -> None:
    """As the difference between two files, so that what companies and words take, which stores share, counts little."""
    sizes = []
    for stores in (5_000, 10_000):
        write_sample(folder := tmp_path / f"{stores}", stores=stores, companies=120, seed=1)
        sizes.append(baked_file(folder, folder / "stores.baked").stat().st_size)
    pages = [ROOT / name for name in ("docs/baked.md", "docs/running.md", "examples/sidecar/pod.yaml")]
    taken = round((sizes[1] - sizes[0]) / 5_000)
    check_figures(r"(\d+) (?:MB for 1,000,000|bytes per store)", taken, pages, within=0.02)


def test_numpy_alone_reads_a_baked_file_as_documented(
    folder: Path, monkeypatch: pytest.MonkeyPatch, baked: BakedContent
) -> None:
    (snippet,) = blocks(BAKED, "python")
    assert set(re.findall(r"^(?:import|from) (\w+)", snippet, re.MULTILINE)) == {"json", "numpy"}
    (folder / "snippet.py").write_text(snippet)
    monkeypatch.chdir(folder)
    read = runpy.run_path("snippet.py")
    checksums = {f"crc32:{name}": f"{crc32(array.tobytes()):08x}" for name, array in baked.arrays.items()}
    assert read["texts"] == baked.metadata | checksums
    numbered = orjson.loads(baked.metadata["numbered"])
    assert list(read["arrays"]) == [*baked.arrays, "header_crc32", *numbered]
    assert all(read["arrays"][name].tolist() == list(range(length)) for name, length in numbered.items())
    for name, array in baked.arrays.items():
        assert (read["arrays"][name].dtype, read["arrays"][name].tolist()) == (array.dtype, array.tolist())
    cities = {each["city"] for each in read["in_the_first_city"]}
    stores = orjson.loads((folder / "data" / "stores.json").read_bytes())
    (city,) = cities
    assert city == min((each["city"] for each in stores), key=kinds.fold)
    assert len(read["in_the_first_city"]) == sum(each["city"] == city for each in stores)


@each_page
def test_every_link_leads_to_an_existing_file_and_heading(page: Path) -> None:
    for path, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", page.read_text()):
        target = page.parent / path if path else page
        assert target.exists(), f"{path} is not there"
        assert not anchor or anchor in anchors(target.read_text()), f"{path} has no heading {anchor}"


def anchors(page: str) -> list[str]:
    """Return the headings of a page as links name them."""
    headings = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    return [re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings]


FIGURES: Final = {
    "ARCHITECTURE.md": "at most {engine.select._BATCH_ROWS} rows or {engine.select._BATCH_BYTES!K} KiB",
    "docs/decisions.md": "every {server.process.GC_THRESHOLD:,} new objects",
    "docs/interface.md": """
        more than {engine.geography.clusters.MAX_CELLS:,} cells have stores
        at most {model.operation.MAX_IGNORED} names and {web.http.links.MAX_BYTES} bytes
        more than {model.parameters.MAX_DIGITS:,} digits
        longer than {web.http.links._MAX_QUERY:,} bytes, only `next`
        the {model.envelope.MAX_FACET_VALUES} most frequent values
        a radius of {engine.geography.grid.EARTH_RADIUS:,} m
        Latitudes beyond {engine.geography.z_order._MAX_LATITUDE} degrees
        Bodies under {web.http.content_coding.MIN_BYTES:,} bytes are not compressed
        up to {settings.Settings().response_cache} MiB""",
    "docs/hostile.md": """
        timeout: {web.connections.limits.Limits().head_seconds:g} seconds for the whole head
        up to {web.connections.limits.MAX_LINE_END_BYTES} bytes before each request line
        or {web.connections.limits.Limits().idle_seconds:g} seconds
        read nothing for {web.connections.limits.Limits().write_seconds:g} seconds
        {web.connections.limits.MAX_BODY_BYTES!M} MiB is skipped, for up to a second
        {web.connections.limits.TURN_BYTES!K} KiB of a body or response
        up to {web.connections.limits.TURN_BYTES!K} KiB of the requests behind it
        at most {web.connections.limits.MAX_HELD_BYTES!M} MiB in a process
        the admin listener {web.connections.limits.MAX_ADMIN_HELD_BYTES!M} MiB
        read nothing for {web.connections.limits.READING_SECONDS} seconds
        of more than {web.pipeline.app.SHORT_BYTES!K} KiB
        look at {engine.columns.row_budget.MOST_ROWS:,} rows
        by default {settings.MAX_CONNECTIONS:,}
        descriptors less {server.listener._RESERVE}
        has {web.connections.limits.ADMIN_CONNECTIONS} connections of its own""",
    "docs/keys.md": """
        a file over {access.key_file.MAX_FILE_BYTES!M} MiB
        the first {access.key_file._ID_DIGITS} digits of its SHA-256
        wait for each other up to {files.LOCK_TIMEOUT_SECONDS:g} seconds""",
    "docs/rates.md": """
        up to {access.rate_limiter.MAX_CONCURRENT} queries at once
        up to {access.token_bucket.MAX_BUCKETS:,} recently used keys
        the {access.token_bucket.MAX_BUCKETS:,} clients that were last seen""",
    "docs/observing.md": """
        truncated to {web.pipeline.access_log._MAX_PATH:,} characters
        up to {server.log._MAX_QUEUED_LINES:,} lines
        The first {web.pipeline.counters._MAX_KEYS} names""",
    "docs/data.md": """
        nested more than {reading.formats.json_text.MAX_JSON_DEPTH} deep
        more than {reading.text.MAX_SIZE!M} MiB
        more than {reading.text.MAX_RATIO} times its size
        more than {reading.files.container.MAX_ENTRIES:,} entries
        {reading.isolation.MAX_DATA!M} MiB of memory plus four times the size of the file
        or {reading.isolation.MAX_SECONDS} s of CPU time
        more than {reading.formats.arrow.MAX_RECORDS:,} records
        the first {reading.columns.field_names.MAX_UNUSED} names
        the first {loading.batch_diagnostics.MAX_LISTED:,} of one code""",
    "docs/mapping.md": """
        the first {reading.batch.BATCH_SIZE:,} records
        the first {reading.batch.BATCH_SIZE:,} records
        More than {reading.proposal.entry._MAX_UNKNOWN} such words
        more than {reading.columns.flags.MAX_TEXTS} different texts
        up to {reading.mapping.toml.MAX_SIZE!M} MiB
        values have up to {reading.mapping.declaration.MAX_TEXT} characters
        have at most {model.attributes.MOST} each
        at most {reading.mapping.declaration.MOST_BYTES:,}
        A separator has up to {reading.mapping.entries._MAX_SEPARATOR} characters
        A format has up to {reading.columns.dates._MAX_LENGTH} characters
        a list up to {reading.mapping.entries._MAX_FORMATS} formats""",
    "docs/baked.md": """
        of another format than `{baking.layout.FORMAT}`
        at least {baking.baked_file._LEAST_NUMBERED:,} numbers""",
    "docs/operating.md": """
        (`{baking.layout.FORMAT}`)
        a line every {server.log._LOG_SECONDS:g} seconds
        blocks for {server.workers._HUNG_SECONDS} seconds""",
    "docs/upgrading.md": """
        The format is `{baking.layout.FORMAT}`
        More than {web.pipeline.plan.MAX_LONG_QUERIES_OF_A_KEY} long queries of a key""",
    "docs/running.md": """
        has changed for {reading.files.container._QUIET_SECONDS:g} second
        the service's {web.connections.limits.Limits().idle_seconds:g} seconds
        At most {web.http.forwarded.MAX_PROXIES} proxies
        every `--poll` seconds, {settings.Settings().poll:g} by default
        `--compile-timeout SECONDS` ({settings.Settings().compile_timeout:g} by default
        more than {publishing.object_store._PART!M} MiB
        blocks for {server.workers._HUNG_SECONDS} seconds""",
    "docs/caching.md": "idle connections after {web.connections.limits.Limits().idle_seconds:g} seconds",
    "docs/commands.md": "sends nothing for {commands.probe._SECONDS} seconds",
}
FIGURE: Final = re.compile("{(?P<name>[^}!:]+)(?:!(?P<unit>.))?(?::(?P<format>[^}]+))?}")


def figure(found: re.Match[str]) -> str:
    """Return the value of a constant of the service, or of a default, in a format; `!K` is in KiB, `!M` in MiB."""
    name, _, default = found["name"].partition("().")
    value = resolve_name(f"service.{name}")
    value = getattr(value(), default) if default else value
    return format(value >> {"K": 10, "M": 20}[found["unit"]] if found["unit"] else value, found["format"] or "")


@pytest.mark.parametrize("page", FIGURES)
def test_the_figures_in_a_page_are_those_of_the_code(page: str) -> None:
    text = " ".join((ROOT / page).read_text("utf-8").split())
    sentences = FIGURE.sub(figure, FIGURES[page]).split("\n")
    assert [sentence for sentence in sentences if sentence.strip() not in text] == []


# Names of other programs in the developers' pages, and their options in all.
OTHERS: Final = {"process_vm_readv", "writev", "--build-arg", "--set", "--unix-socket", "--volume"}
CODE: Final = ("service", "tests", "bench", "tools")
NAME: Final = r"_*[A-Za-z]\w+(?:\.\w+)*"
# What other targets make, which is not in a fresh checkout.
MADE: Final = (".venv/", "dist/", "bench/data/")


@cache
def words() -> set[str]:
    """Return all words of the code, and its options."""
    files = (file for folder in CODE for file in (ROOT / folder).rglob("*.py"))
    return {word for file in files for word in re.findall(r"\w+|--[a-z-]+", file.read_text("utf-8"))}


@cache
def files() -> list[str]:
    """Return the paths of all files and folders of the project, each after a slash."""
    folders = (*CODE, "docs", "datasets", "deploy", "examples", ".ci")
    paths = [*ROOT.iterdir(), *(path for folder in folders for path in (ROOT / folder).rglob("*"))]
    return [f"/{path.relative_to(ROOT)}" for path in paths if "__pycache__" not in path.parts]


def found(name: str) -> list[Path]:
    """Return the files and folders whose paths end with a name."""
    return [ROOT / path[1:] for path in files() if path.endswith(f"/{name.rstrip('/')}")]


def wrong_files(text: str) -> Iterator[str]:
    """Yield each file, folder, and definition in one, that a page names and that does not exist."""
    folders = {path.name for base in (ROOT, ROOT / "service") for path in base.iterdir() if path.is_dir()}
    for name in re.findall(r"(?<![^\s('\"])[\w.-]+(?:/[\w.-]+)*/?(?![\w/*{])", "\n".join(codes(text))):
        is_path = len(name) > 2 and "/" in name and (name.endswith("/") or name.split("/")[0] in folders)
        if (is_path or name.endswith((".py", ".js"))) and not name.startswith(MADE) and not found(name):
            yield name
    for defined, name in re.findall(rf"((?:`{NAME}`(?:, | and )?)+)\s+in\s+`([\w/]+(?:\.\w+|/))`", text):
        places = [each for path in found(name) for each in (path.rglob("*.py") if path.is_dir() else [path])]
        definitions = "\n".join(each.read_text("utf-8") for each in places)
        for each in codes(defined):
            if not re.search(rf"^\s*(?:(?:async )?def |class )?{each}\b", definitions, re.MULTILINE):
                yield f"{each} in {name}"


def wrong_commands(text: str) -> Iterator[str]:
    """Yield each target, module, command, option, variable and metric that a page names and that does not exist."""
    targets = set(re.findall(r"^([a-z%-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    targets |= {target.replace("%", path.stem) for target in targets for path in (ROOT / "bench").iterdir()}
    yield from set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE)) - targets
    modules = re.findall(rf"-m ((?:{'|'.join(CODE)})\b[\w.]*)", text)
    yield from (name for name in modules if not found(name.replace(".", "/")) + found(f"{name.replace('.', '/')}.py"))
    options = {name: {text for each in command.params for text in each.opts} for name, command in documented_commands()}
    for line in re.findall(r"store-directory ([a-z][^`\n|;#)&$>]*)", text):
        name = next((name for name in (" ".join(line.split()[:2]), line.split()[0]) if name in options), None)
        yield from set(re.findall(r"(?<!\S)--[a-z-]+", line)) - options[name] if name else [line]
    spans = [code.split()[0].split("=")[0] for code in codes(text) if re.match("--[a-z]", code)]
    yield from set(spans) - {*OTHERS, *words()}.union(*options.values())
    variables = {f"STORE_DIRECTORY_{option[2:].replace('-', '_').upper()}" for option in options["serve"]}
    yield from set(re.findall(r"\bSTORE_DIRECTORY_\w+", text)) - variables
    yield from set(re.findall(r"\bstore_directory_\w+", text)) - {*named(INTERFACE, "Name"), *words()}


@each_page
def test_every_file_command_option_and_name_in_a_page_exists(page: Path) -> None:
    """In pages for developers also each name of code; the changelog has those of earlier versions."""
    text = page.read_text("utf-8")
    wrong = [*wrong_files(text), *wrong_commands(text)] if page.name != "CHANGELOG.md" else []
    if page.parent in (ROOT, ROOT / "bench") and page.name != "CHANGELOG.md":
        names = [code for code in codes(text) if re.fullmatch(NAME, code) and code not in OTHERS]
        wrong += [name for name in names if not set(name.split(".")) <= words() and not found(name)]
    assert wrong == [], wrong


def test_the_packages_in_the_architecture_are_those_that_exist() -> None:
    text = section(ARCHITECTURE, "The packages")
    packages = {folder.parent.name for folder in (ROOT / "service").glob("*/__init__.py")}
    assert packages <= set(re.findall(r"(\w+)/ ", text))
    names = re.findall(r"(?<=[\s(])[\w./-]+(?:/|\.\w+)(?=[\s,:;)])", text)
    assert [name for name in names if not found(name)] == []


def test_every_text_of_the_explorer_in_its_page_exists() -> None:
    texts = "".join((ROOT / "service/web/explorer" / name).read_text("utf-8") for name in ("strings.js", "en.js"))
    quoted = re.findall(r'"([^"\n]+)"', (ROOT / "docs/explorer.md").read_text("utf-8"))
    assert [text for text in quoted if f'"{text}"' not in texts] == []


SEARCHED = {
    "smuggling": ("SECURITY.md", "docs/hostile.md"),
    "slowloris": ("SECURITY.md", "docs/hostile.md"),
    "timeout": ("docs/interface.md", "docs/hostile.md", "docs/running.md"),
    "rate limit": ("README.md", "docs/rates.md", "docs/keys.md", "docs/interface.md"),
    "latency": ("docs/observing.md", "docs/running.md", "docs/hostile.md"),
    "graceful shutdown": ("README.md", "docs/README.md", "docs/running.md"),
    "backoff": ("docs/running.md",),
    "case-insensitive": ("docs/interface.md", "docs/data.md"),
    "backpressure": ("docs/hostile.md",),
    "load shedding": ("docs/hostile.md",),
    "token bucket": ("docs/rates.md",),
    "log injection": ("SECURITY.md", "docs/observing.md"),
    "cors": ("docs/interface.md", "docs/caching.md"),
    "debounce": ("docs/running.md",),
}


@pytest.mark.parametrize(("term", "pages"), SEARCHED.items())
def test_a_search_for_the_usual_term_finds_its_pages(term: str, pages: tuple[str, ...]) -> None:
    assert [page for page in pages if term not in (ROOT / page).read_text().lower()] == []
