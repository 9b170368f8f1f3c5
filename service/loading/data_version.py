"""The version of a data set: a digest of its content."""

from collections.abc import Iterable
from hashlib import sha256
from typing import Final

import numpy as np

from service.engine.table import Table

_DIGITS: Final = 16  # 64 bits: enough to tell the data sets of one service apart


def dataset_version(tables: Iterable[Table]) -> str:
    """Return the same version for the same records by whatever road they came, as hexadecimal digits.

    It digests the rows in their order, and what orders them (it need not be answered), which is the same on every
    Python.
    """
    digest = sha256()
    for table in tables:
        digest.update(len(table).to_bytes(8, "little"))
        digest.update(table.rows.data)
        column = table.columns[table.order_by]
        digest.update(column.valued.to_bytes(8, "little"))
        digest.update(column.codes.astype("<u4").view(np.uint8).data)
    return digest.hexdigest()[:_DIGITS]
