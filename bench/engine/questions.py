"""Distinct queries of the shapes of the HTTP benchmark, for the parts of the service."""

from pathlib import Path
from typing import Final

import msgspec

from bench.wire.sample import Sample
from bench.wire.shapes import Request, Shape, read_shapes
from service.baking.baked_file import load_baked
from service.engine.table import Table
from service.loading.acceptance import InvalidRecords, accept
from service.loading.dataset import Dataset
from service.model.query import Query, QueryParser
from service.model.records import STORES
from service.web.request_target import query_pairs

SHAPES: Final = ("city", "city-open", "page", "dense", "scattered")


class Directory(msgspec.Struct, frozen=True):
    """A data set, and the shapes of requests for it, by slug."""

    dataset: Dataset
    shapes: dict[str, Shape]


class Questions(msgspec.Struct, frozen=True):
    """A table, query strings, and the parsed queries."""

    table: Table
    texts: list[str]
    queries: list[Query]


def read_directory(baked: Path, sample: Sample) -> Directory:
    """Return a synthetic, baked data set. Raises `Refused`."""
    dataset, _ = accept(load_baked(baked), InvalidRecords.REFUSE)
    return Directory(dataset, {shape.slug: shape for shape in read_shapes(sample.folder, sample.seed)})


def read_questions(directory: Directory) -> dict[str, Questions]:
    """Return the queries of each shape on a data set."""
    stores, shapes = directory.dataset.stores, directory.shapes
    return {slug: _questions(stores, shapes[slug].requests) for slug in SHAPES}


def _questions(table: Table, requests: tuple[Request, ...]) -> Questions:
    parser = QueryParser(STORES)
    texts = [request.target.partition("?")[2] for request in requests]
    return Questions(table, texts, [parser.parse(query_pairs(text), strict=False) for text in texts])
