"""The version of a data set: a digest of its content."""

from collections.abc import Iterable
from hashlib import sha256
from typing import Final

import numpy as np

from service.engine.table import Table

_DIGITS: Final = 16  # 64 bits: enough to distinguish the data sets of one service


def dataset_version(tables: Iterable[Table]) -> str:
    """Return the version in hexadecimal digits: the same for the same records, whatever their source and format.

    It is a digest of the rows in order, and of the ranks of the sort field, which rows need not include. It is the same
    on every Python version.
    """
    digest = sha256()
    for table in tables:
        digest.update(len(table).to_bytes(8, "little"))
        digest.update(table.rows.data)
        column = table.columns[table.order_by]
        digest.update(column.non_null_count.to_bytes(8, "little"))
        digest.update(column.codes.astype("<u4").view(np.uint8).data)
    return digest.hexdigest()[:_DIGITS]
