"""Processes that read Parquet and workbooks start at once, as in `tests/reading`."""

from tests.reading.conftest import warm_readers

__all__ = ["warm_readers"]
