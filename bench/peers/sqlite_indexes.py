"""Indexes of places and words in SQLite: R*Tree and FTS5."""

import sqlite3
from typing import Final

_SEARCHED: Final = (
    *("stores.name", "address_1", "address_2", "city", "province", "postal_code", "store_id"),
    *("companies.name", "domain"),
)
# The tokenizer splits words at apostrophes; the service deletes them. The data set has only ASCII ones.
_TEXTS: Final = ", ".join(f"replace({column}, char(39), '')" for column in _SEARCHED)
_INDEXES: Final = f"""
create virtual table places using rtree (position, west, east, south, north, +latitude real, +longitude real);
insert into places
select position, x, x, y, y, y, x
from (
    select position, cast(latitude as real) as y, cast(longitude as real) as x from stores where latitude is not null
);
create virtual table words using fts5 (
    name, address_1, address_2, city, province, postal_code, store_id, company, domain,
    content = '', columnsize = 0, detail = none, prefix = '2 3', tokenize = 'unicode61 remove_diacritics 2'
);
insert into words (rowid, name, address_1, address_2, city, province, postal_code, store_id, company, domain)
select position, {_TEXTS}
from stores left join companies using (company_id);
"""  # noqa: S608 - the names are ours


def add_indexes(connection: sqlite3.Connection) -> None:
    """Add the indexes to filled tables."""
    connection.executescript(_INDEXES)
    connection.commit()
