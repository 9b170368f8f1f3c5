"""The fuzz targets: everything that reads untrusted bytes."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import msgspec

from tests.fuzz import alphabets, data, requests, seeds
from tests.fuzz.input_shapes import Alphabet


class Target(msgspec.Struct, frozen=True):
    """A reader of any bytes, the seeds of its corpus, the tokens of its syntax.

    longest    the most bytes of an input
    unchecked  the reader whose complexity is measured, if `read` also checks the result
    """

    read: Callable[[bytes], None]
    seeds: Sequence[bytes]
    alphabet: Alphabet
    longest: int = 512
    unchecked: Callable[[bytes], None] | None = None


TARGETS: Final = {
    "heads": Target(requests.read_heads, seeds.HEADS, alphabets.HEADS, 4_096, requests.read_heads_at_once),
    "chunks": Target(requests.read_chunks, seeds.CHUNKS, alphabets.CHUNKS),
    "query": Target(requests.read_query, seeds.QUERIES, alphabets.QUERY),
    "path": Target(requests.read_path, (b"companies/a%2Fb", b"stores/", b"/evil.example//"), alphabets.PATH),
    "fields": Target(requests.read_fields, seeds.FIELDS, alphabets.FIELDS, 1_200),
    "tracing": Target(requests.read_tracing, seeds.TRACES, alphabets.TRACES),
    "conditions": Target(requests.read_conditions, (*seeds.DATES, *seeds.FIELDS), alphabets.CONDITIONS),
    "origin": Target(requests.read_cors_origin, seeds.ORIGINS, alphabets.ORIGINS, 80),
    "rate": Target(requests.read_key_rate, seeds.RATES, alphabets.RATES, 40),
    "keys": Target(requests.read_key_file, seeds.key_files(), alphabets.KEY_FILES, 4_096),
    "forwarding": Target(requests.read_forwarded, seeds.FORWARDED, alphabets.FORWARDED, 1_024),
    "values": Target(
        data.read_values, (*seeds.VALUES_OF_KINDS, b"\n".join(seeds.VALUES_OF_KINDS)), alphabets.VALUES, 1_024
    ),
    "places": Target(data.read_coordinates, seeds.PLACES, alphabets.PLACES, 80),
    "place list": Target(data.read_place_list, seeds.PLACE_LISTS, alphabets.PLACE_LISTS, 1_024),
    "point": Target(data.read_point, seeds.POINTS, alphabets.POINTS),
    "words": Target(data.read_search, seeds.SEARCHES, alphabets.SEARCHES, 1_200),
    "csv": Target(partial(data.read_records, "csv"), seeds.csv_texts(), alphabets.CSV, 4_096),
    "dialect": Target(data.read_dialect, seeds.dialects(), alphabets.DIALECTS, 1_024),
    "proposal": Target(data.read_for_proposal, (*seeds.dialects(), *seeds.json_lines()), alphabets.DIALECTS, 4_096),
    "json": Target(data.read_json, seeds.json_texts(), alphabets.JSON, 4_096),
    "jsonl": Target(data.read_json_lines, seeds.json_lines(), alphabets.JSON_LINES, 4_096),
    "geojson": Target(partial(data.read_records, "geojson"), seeds.geojson_texts(), alphabets.GEOJSON, 4_096),
    "overpass": Target(data.read_overpass, seeds.overpass_texts(), alphabets.OVERPASS, 4_096),
    "geojsonl": Target(partial(data.read_records, "geojsonl"), seeds.geojson_lines(), alphabets.GEOJSON_LINES, 4_096),
    "paths": Target(data.read_paths, (*seeds.json_texts(), *seeds.json_lines()), alphabets.PATHS, 4_096),
    "parquet": Target(data.read_parquet, seeds.parquet_files(), alphabets.PARQUET, 8_192),
    "workbook": Target(data.read_workbook_xml, seeds.WORKBOOK_XML, alphabets.WORKBOOK_XML, 4_096),
    "wkb": Target(data.read_wkb, seeds.GEOMETRIES, alphabets.WKB),
    "gzip": Target(partial(data.unpack, "gz"), seeds.packed(), alphabets.GZIP, 4_096),
    "zstd": Target(partial(data.unpack, "zst"), seeds.packed(), alphabets.ZSTD, 4_096),
    "zip": Target(data.read_zip, seeds.archives(), alphabets.ZIP, 4_096),
    "mapping": Target(data.read_mapping, seeds.MAPPINGS, alphabets.MAPPINGS, 1_024),
    "no-value": Target(data.read_no_value, seeds.NO_VALUE, alphabets.NO_VALUE),
    "hours": Target(data.read_hours, seeds.HOURS, alphabets.HOURS, 1_024),
    "manifest": Target(data.read_manifest, seeds.MANIFESTS, alphabets.MANIFESTS),
    "baked": Target(data.read_baked_file, (seeds.baked(), seeds.baked()[:5_000]), alphabets.BAKED, 32_768),
    "header": Target(data.read_sealed_header, (seeds.header(),), alphabets.HEADERS, 32_768),
}
