"""Distinct queries of the shapes of the HTTP benchmark, for the parts of the service."""

from pathlib import Path
from typing import Final

import msgspec

from bench.wire.sample import Sample
from bench.wire.shapes import Shape, read_shapes
from service.baking.baked_file import load_baked
from service.data_set import Dataset
from service.engine.table import Table
from service.model.query import Query, QueryParser
from service.model.records import STORES
from service.web.requests.request_target import query_pairs

SHAPES: Final = ("city", "city-open", "page", "dense", "scattered")


class Directory(msgspec.Struct, frozen=True):
    """A data set, and the shapes of requests for it, by slug."""

    dataset: Dataset
    shapes: dict[str, Shape]


class Queries(msgspec.Struct, frozen=True):
    """A table, query strings, and the parsed queries."""

    table: Table
    texts: list[str]
    parsed: list[Query]


def read_directory(baked: Path, sample: Sample) -> Directory:
    """Return a synthetic, baked data set. Raises `Rejected`."""
    return Directory(load_baked(baked), {shape.slug: shape for shape in read_shapes(sample.folder, sample.seed)})


def read_queries(directory: Directory) -> dict[str, Queries]:
    """Return the queries of each shape on a data set."""
    parser, queries = QueryParser(STORES), {}
    for slug in SHAPES:
        texts = [request.target.partition("?")[2] for request in directory.shapes[slug].requests]
        parsed = [parser.parse(query_pairs(text), strict=False) for text in texts]
        queries[slug] = Queries(directory.dataset.stores, texts, parsed)
    return queries
