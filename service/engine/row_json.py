"""Rows as JSON: with their distance, or some members only, if the query says so."""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import UNSET

from service.engine.column import Rows
from service.engine.projection import project, project_lines
from service.engine.table import Table
from service.model.query import Query
from service.model.records import DISTANCE

Distances = Sequence[float | None]
LINE_END: Final = b"\n"


def shows_distances(query: Query) -> bool:
    """Return whether the rows that answer a query have their distances."""
    return bool(query.near) and (not query.fields or DISTANCE in query.fields)


def distances(table: Table, query: Query, rows: Rows) -> Distances | None:
    """Return the distance of each row, None if the query does not want them."""
    if not query.near or table.locations is None or (query.fields and DISTANCE not in query.fields):
        return None
    return table.locations.distances(query.near, rows)


def json_list(table: Table, query: Query, rows: Rows, metres: Distances | None) -> Sequence[bytes | memoryview]:
    """Return rows as chunks of JSON that concatenate to a list body; `metres` are their distances, if wanted."""
    chunks = table.json(rows) if metres is None else table.json_with_distances(rows, metres)
    return project(chunks, query.fields) if query.fields else chunks


def json_lines(table: Table, query: Query, rows: Rows, metres: Distances | None) -> bytes | memoryview:
    """Return rows as JSON, each followed by LF; no row has one."""
    if query.fields:
        whole = msgspec.structs.replace(query, fields=UNSET)
        return project_lines(json_list(table, whole, rows, metres), query.fields)
    if metres is None:
        return table.rows.lines(rows)
    return b"".join((*table.json_with_distances(rows, metres, LINE_END), LINE_END))
