"""What is fuzzed: everything that reads bytes of others."""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from fuzz import data, requests, seeds


class Target(msgspec.Struct, frozen=True):
    """A reader of any bytes, what fuzzing it starts from, and the most bytes that it is given."""

    read: Callable[[bytes], None]
    seeds: Sequence[bytes]
    longest: int = 512


TARGETS: Final = {
    "heads": Target(requests.read_heads, seeds.HEADS, 4_096),
    "chunks": Target(requests.read_chunks, seeds.CHUNKS),
    "query": Target(requests.read_query, seeds.QUERIES),
    "path": Target(requests.read_path, (b"companies/a%2Fb", b"stores/", b"/evil.example//")),
    "fields": Target(requests.read_fields, seeds.FIELDS, 1_200),
    "tracing": Target(requests.read_tracing, seeds.TRACES),
    "conditions": Target(requests.read_conditions, (*seeds.DATES, *seeds.FIELDS)),
    "origin": Target(requests.read_cors_origin, seeds.ORIGINS, 80),
    "rate": Target(requests.read_key_rate, seeds.RATES, 40),
    "keys": Target(requests.read_key_file, seeds.key_files(), 4_096),
    "forwarding": Target(requests.read_forwarded, seeds.FORWARDED, 1_024),
    "values": Target(data.read_values, (*seeds.VALUES_OF_KINDS, b"\n".join(seeds.VALUES_OF_KINDS)), 1_024),
    "csv": Target(data.read_csv, seeds.csv_texts(), 4_096),
    "json": Target(data.read_json, seeds.json_texts(), 4_096),
    "jsonl": Target(data.read_json_lines, seeds.json_lines(), 4_096),
    "gzip": Target(data.read_gzip, seeds.packed(), 4_096),
    "zstd": Target(data.read_zstd, seeds.packed(), 4_096),
    "manifest": Target(data.read_manifest, seeds.MANIFESTS),
    "baked": Target(data.read_baked_file, (seeds.baked(), seeds.baked()[:5_000]), 32_768),
    "header": Target(data.read_sealed_header, (seeds.header(),), 16_384),
}
