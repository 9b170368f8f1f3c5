"""The seeds of the corpora, made by the project's own code."""

import csv
import gzip
import io
import struct
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZIP_STORED

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from service.access.key_file import KeyEntry, encode_keys
from tests.baking.random_datasets import baked_file, random_dataset
from tests.engine.oracle import Record
from tests.engine.random_records import VALUES
from tests.engine.search_oracle import NAMES
from tests.loading import data_files
from tests.zip_archives import zipped

_DATASET = random_dataset((6, 2, 4, 1))
_STORES: Sequence[Record] = _DATASET.records["stores"]

QUERIES = (
    b"city=toronto&city=%C3%96rebro&is_open=yes&limit=5&page_num=2&sort_by=city&sort_order=desc",
    b"latitude=43.70&longitude=-79.4&postal_code=m5v+2t6&company_id=a%2Fb&parent_company_id=null",
    b"country=&province=%20&limit=+1_0.0&page_num=99999999999999999999&unknown=1&limit=2",
    b"near=43.7,-79.4&radius=5e3&bbox=-79.6,43.5,-79.1,43.9&q=caf%C3%A9+king%20st+&sort_by=distance&fields=distance",
    b"bbox=-79.6,43.5,-79.1,43.9&zoom=+1_2.0&is_open=on&q=king",
    b"open_at=2026-12-24T10:00:00+01:00&open_at=2026-12-24%2009:00:30.5Z&near=0,0",
)
POINTS = (
    *("52\xb022'13\"N 4\xb053'42\"E".encode(), b"SRID=4326;POINT Z(10.75 59.91 12)", b"-123.12, 49.28", b"POINT EMPTY"),
    b'{"type":"Point","coordinates":[10.75,59.91]}',
    b"lat: 1.5, lng: 2,5",
)
PLACES = (b"43.7,-79.4", b" -0.0 , 1.8e2 ", b"-79.6,43.5,-79.1,43.9", b"177,-20,-178,-12", b"5e3", b"+inf", b"1_000")
SEARCHES = tuple(name.encode() for name in NAMES)
VALUES_OF_KINDS = tuple(value.encode() for values in VALUES.values() for value in values)
FIELDS = (
    b"gzip;q=0.5, br;q=1.0, zstd, *;q=0, identity;q=0.001",
    b'handling=strict; x="a,b", respond-async',
    b'W/"a", "b-zstd", *',
    b"text/html, application/problem+json;q=0.9",
)
PARENT = b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
TRACES = (PARENT, b"01ARZ3NDEKTSV4RRFFQ69G5FAV", b"/sd_abcdefgh1234/x")
DATES = (b"Fri, 31 May 2024 10:00:00 GMT", b"Friday, 31-May-24 10:00:00 GMT", b"Fri May 31 10:00:00 2024")
ORIGINS = (b"https://shop.example", b"http://localhost:3000", b"https://[::1]:443", b"*", b"HTTPS://SHOP.example:443")
RATES = (b"100/s", b"1/min", b"999999999/h", b"5/d")
FORWARDED = (b"192.0.2.60, 2001:db8::1", b"[2001:db8::1]:4711\n10.0.0.1:80")
MANIFESTS = (
    b'{"generated_at": "2024-05-31T10:00:00Z", "files": {"stores.csv": {"sha256": "%b", "records": 3}}}' % (b"0" * 64),
)

NO_VALUE = (b"n/a\nN/A \n\n k.A.", "Straße\nSTRASSE\nİ".encode())
HOURS = (
    b"Mo-Fr 09:00-12:30,14:00-18:00; Sa 10:00-14:00, Su 10-12; PH off; Dec 24-26 off",
    'lundi au vendredi : 9h – 18h30\nsamedi fermé || "sur rendez-vous"'.encode(),  # noqa: RUF001 - a dash
    b'{"hours":[{"day":"monday","opens":"09:00","closes":"18:00"}],"exception_hours":[],"timezone":"UTC"}',
    b'{"periods":[{"openDay":"MONDAY","closeDay":"TUESDAY","openTime":{"hours":9},"closeTime":"02:00"}]}',
    b'[{"dayOfWeek":["Monday"],"opens":"09:00","closes":"18:00"},{"validFrom":"2026-12-24","validThrough":"2026-12-26"}]',
    b"9 AM - 5 PM\0closed\0\0-",
)
PLACE_LISTS = (
    b"name,kind,country,latitude,longitude,province\nUlm,city,DE,48.4,10,BW\n89073,postal_code,DE,48.4,10,\nUlm,x,DE,,\n",
    b"DE\t89073\tUlm\tBaden-Wurttemberg\tBW\tTubingen\t084\t\t08421\t48.3984\t9.9916\t4\nDE\t1\n",
)
MAPPINGS = (
    b"""[stores]
encoding = "windows-1252"
delimiter = ";"
decimal = ","
date = ["dd.mm.yyyy", "m/d/yy h:mm am/pm", "rfc3339"]
time_zone = "Europe/Berlin"
no_value = ["n/a"]
[stores.fields]
address_1 = { join = ["a", "b"], separator = ", " }
name = { first = ["a", { join = ["a", "b"] }], default = "x" }
is_open = { from = "Status", values = { "auf" = true, "zu" = false }, other = true, closing_date = "x" }
created_at = { from = "a.0.b", date = "yyyy-mm-dd", optional = true }
country = { constant = "DE" }
latitude = { from = "x", split = ".", part = 1 }
longitude = { from = "x", point = "lat lon" }
[companies]
from = "stores"
""",
    b'preset = "overture"\n[stores.fields]\ncity = "x"\n',
)

_SHAPES = (
    b"null",
    b'{"type": "Point", "coordinates": [-79.40, 43.7, 5]}',
    b'{"type": "Polygon", "coordinates": [[[0, 0], [1e0, 0], [1, 1], [0, 0]]]}',
    b'{"type": "GeometryCollection", "geometries": [{"type": "MultiPoint", "coordinates": [[179, 1], [-179, 2]]}]}',
)
GEOMETRIES = (
    struct.pack("<BIdd", 1, 1, -79.4, 43.7),
    struct.pack(">BIIddd", 0, 0xA0000001, 4326, 1, 2, 3),
    struct.pack("<BIIIddddBI", 1, 3, 1, 2, 0, 0, 4, 2, 1, 7)[:-5],
    struct.pack("<BIIBII", 1, 7, 1, 1, 2, 0),
)
_COMPRESSIONS: tuple[dict[str, Any], ...] = (
    {"compression": "none"},
    {"compression": "zstd", "data_page_version": "2.0", "use_dictionary": False},
)


def key_files() -> tuple[bytes, ...]:
    """Return key files: one of two keys, one of none."""
    now = datetime(2026, 1, 2, tzinfo=UTC)
    shop = KeyEntry(name="shop", sha256="ab" * 32, created_at=now, expires_at=now, rate="100/s", burst=200)
    return encode_keys((shop, KeyEntry(name="till", sha256="cd" * 32, created_at=now, revoked_at=now))), encode_keys(())


def csv_texts() -> tuple[bytes, ...]:
    """Return stores as CSV, once with every ending of a line, and once quoted all over."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(_STORES[0]), quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(_STORES)
    plain = b"store_id,company_id,address_1,city,country,latitude\ns1,a,1 Main St,Toronto,CA,43.7\r\n\r\ns2,a,x,y,z,\r"
    return text.getvalue().encode(), plain, b"\xef\xbb\xbf" + plain.replace(b"Toronto", b'"To\nron""to"')


def dialects() -> tuple[bytes, ...]:
    """Return stores as spreadsheets write them: with semicolons, in UTF-16 with tabs, with empty columns and rows."""
    text = csv_texts()[1].decode()
    semicolons, tabs = text.replace(",", ";").encode(), text.replace(",", "\t").encode("utf-16")
    return semicolons, tabs, b"sep=;\r\n;;\r\n" + semicolons.replace(b"latitude", b'"Lat,itude";;'), b"a,b;c"


def json_texts() -> tuple[bytes, ...]:
    """Return stores as an array, within an object, and with values of every type."""
    array = orjson.dumps(list(_STORES))
    odd = b'[{"store_id": "\\ud83d\\ude00", "is_open": null, "latitude": 43.70, "x": [1e5, {}]}, null, 5, "\\u0000"]'
    return array, b'{"stores": %b}' % array, odd


def json_lines() -> tuple[bytes, ...]:
    """Return stores a line each."""
    return (b"\n".join(map(orjson.dumps, _STORES)) + b"\n", b'{"store_id": "s1"}\r\n\n[]\n"x"')


def geojson_texts() -> tuple[bytes, ...]:
    """Return a feature collection of stores, and one of every geometry."""
    features = [
        {"type": "Feature", "properties": dict(record), "geometry": {"type": "Point", "coordinates": [-79.4, 43.7]}}
        for record in _STORES
    ]
    odd = b",".join(b'{"type": "Feature", "id": 5, "geometry": %b}' % shape for shape in _SHAPES)
    crs = b'"crs": {"type": "name", "properties": {"name": "EPSG:4326"}}'
    return (
        orjson.dumps({"type": "FeatureCollection", "features": features}),
        b'{"type": "FeatureCollection", %b, "features": [%b]}' % (crs, odd),
    )


def geojson_lines() -> tuple[bytes, ...]:
    """Return features a line each, and a text sequence."""
    lines = [b'{"type": "Feature", "properties": {"store_id": "s1"}, "geometry": %b}\n' % shape for shape in _SHAPES]
    return b"".join(lines), b"".join(b"\x1e" + line for line in lines)


def overpass_texts() -> tuple[bytes, ...]:
    """Return elements of OpenStreetMap with every kind of location, and two that are none."""
    node = b'{"type": "node", "id": 1, "lat": 43.70, "lon": -79.4, "timestamp": "2024-05-31T10:00:00Z"}'
    way = b'{"type": "way", "id": 2, "center": {"lat": 43.7, "lon": -79.4}, "nodes": [1], "tags": {"a.b": "y"}}'
    relation = b'{"type": "relation", "id": 3, "bounds": {"minlat": 1, "minlon": 2, "maxlat": 3, "maxlon": 4}}'
    elements = b"[%b]" % b", ".join((node, way, relation, b'{"lat": [], "tags": 5}', b"null"))
    return elements, b'{"version": 0.6, "elements": %b}' % elements


WORKBOOK_XML = (
    b'<c r="A2" s="1"><v>1067</v></c><c r="B2" s="2"><f>A1</f><v>-0.25</v></c><c r="C2"><f>A1</f><v/></c>',
    b'<c t="str"><f>HYPERLINK("https://x.org","x")</f><v>x</v></c><c s="3"><v>0.5</v></c>',
    b'<numFmt numFmtId="164" formatCode="[h]:mm;@"/><cellXfs><xf numFmtId="164"/></cellXfs>',
    b'<table:table-cell office:value-type="float" office:value="1067"><text:p>01067</text:p></table:table-cell>',
    b'<table:table-cell table:formula="of:=1"/><text:p><text:a xlink:href="https://x.org">x</text:a></text:p>',
    b'<table:table-cell table:number-rows-spanned="2" office:value-type="string"><text:p>x</text:p></table:table-cell>',
)


def parquet_files() -> tuple[bytes, ...]:
    """Return Parquet of nested columns and a geometry, compressed and not, and with the metadata of GeoParquet."""
    table = pa.table(
        {
            "store_id": ["s1", None],
            "names": [{"a": 1.5, "b": ["x"]}, None],
            "tags": pa.array([[("a", "b")], None], pa.map_(pa.string(), pa.string())),
            "at": pa.array([1, None], pa.timestamp("ms", "UTC")),
            "geometry": [GEOMETRIES[0], None],
        }
    ).replace_schema_metadata({})
    files = [io.BytesIO() for _ in _COMPRESSIONS]
    for file, options in zip(files, _COMPRESSIONS, strict=True):
        pq.write_table(table, file, store_schema=False, **options)
    files.append(io.BytesIO())
    geo = {"geo": '{"primary_column":"geometry","columns":{"geometry":{"encoding":"WKB","crs":{"name":"WGS 84"}}}}'}
    pq.write_table(table.replace_schema_metadata(geo), files[-1], store_schema=False)
    return tuple(file.getvalue() for file in files)


def packed() -> tuple[bytes, ...]:
    """Return compressed texts, one of them of two parts."""
    text = csv_texts()[0]
    return gzip.compress(text), gzip.compress(text) + gzip.compress(text), data_files.packed(text, ".zst")


def archives() -> tuple[bytes, ...]:
    """Return zip archives: at the top, in a folder, and without compression."""
    stores = csv_texts()[0]
    companies = b"company_id,name\na,Acme\n"
    return (
        zipped({"stores.csv": stores, "companies.csv": companies}),
        zipped({"data/stores.csv": stores, "data/companies.csv": companies, "__MACOSX/data/._stores.csv": b""}),
        zipped({"shops.csv": stores}, ZIP_STORED),
    )


@cache
def baked() -> bytes:
    """Return a small baked file."""
    with TemporaryDirectory() as folder:
        return baked_file(_DATASET.write(Path(folder) / "data"), Path(folder) / "small.baked").read_bytes()


def header() -> bytes:
    """Return the header of that file, without its length."""
    return baked()[8 : 8 + int.from_bytes(baked()[:8], "little")]


HEADS = (
    b"GET /stores?city=x HTTP/1.1\r\nHost: t\r\nx-api-key: k\r\n\r\n\r\nHEAD /health HTTP/1.0\r\n\r\n",
    b"POST http://t/health HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"BREW /health HTTP/1.1\r\nHost: t\r\nAccept: application/problem+json\r\n\r\n",
    b"CONNECT t:80 HTTP/1.1\r\nHost: t\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
    b"GET /\n\r\n\r\nHEAD /health HTTP/1.0\r\n\r\n",  # the line of HTTP/0.9
)
CHUNKS = (b"5;a=b\r\nhello\r\n0\r\nx: y\r\n\r\nGET", b'1;a="b\\""\r\n\r\r\n000\r\n\r\n', b"fffff\r\n")
