"""The clusters of a table that answer a query, as features of GeoJSON."""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET

from service.engine.clusters import Clusters, cluster_all, cluster_bitmap, cluster_rows
from service.engine.grid import Places
from service.engine.long_work import announce
from service.engine.projection import DECODED_BYTES, decode_announced
from service.engine.row_features import encoded
from service.engine.select import find
from service.engine.selection import RowList
from service.engine.table import Table
from service.engine.z_order import Z_ORDER
from service.model.features import STORE_MEMBERS, wrap_clusters
from service.model.query import ALL_ROWS, Criteria, Query

# To write a cluster takes as long as to look at so many rows.
_WRITING: Final = 200
# Rows that are decoded in one step, during which no other thread runs.
_DECODED: Final = 500


def map_clusters(table: Table, query: Query) -> Sequence[bytes]:
    """Return the clusters of a query as JSON, in chunks. Raises `TooManyCells`."""
    clusters = _clusters(table, query)
    single, offsets = (clusters.counts == 1).nonzero()[0], table.rows.offsets
    rows = clusters.rows[single]
    announce(_WRITING * len(clusters) + int((offsets[rows + 1] - offsets[rows]).sum()) // DECODED_BYTES)
    properties = _properties(table, clusters, single)
    points = list(zip(clusters.longitudes.tolist(), clusters.latitudes.tolist(), strict=True))
    return wrap_clusters(encoded(points), properties)


def _properties(table: Table, clusters: Clusters, single: Places) -> list[bytes]:
    """Return the properties of each cluster, as `wrap_clusters` wants them; those at some places are single rows."""
    properties = encoded(clusters.counts.tolist())
    for start in range(0, len(single), _DECODED):
        places = single[start : start + _DECODED]
        stores = decode_announced(table.json(clusters.rows[places]), STORE_MEMBERS)
        for place, store in zip(places.tolist(), encoded(stores), strict=True):
            properties[place] = b"1," + store[1:-1]
    return properties


def _clusters(table: Table, query: Query) -> Clusters:
    """Return the clusters. The rows found are cached without the box: a moved map reuses them."""
    locations, box, zoom = table.locations, query.bbox, query.zoom
    if locations is None or not box or zoom is UNSET:
        raise ValueError("clusters need locations, a box and a zoom")
    criteria = Criteria(query.filters, terms=query.q or ())
    if criteria == ALL_ROWS:
        return cluster_all(locations, box, zoom)
    found = find(table, criteria, Z_ORDER)
    if isinstance(found, RowList):
        return cluster_rows(locations, found.rows, box, zoom)
    return cluster_bitmap(locations, found.bitmap, box, zoom)
