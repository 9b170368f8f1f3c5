"""Decide whether a loaded data set is served."""

import os.path
import shlex

from service.data_set import Dataset, Rejected
from service.loading.dataset import Loaded
from service.reading.file_set.data_signature import is_file
from service.reading.file_set.file_names import holds_data
from service.safeguards import InvalidRecords
from service.texts import printable


def accept(loaded: Loaded, invalid: InvalidRecords) -> Dataset:
    """Return a data set that can be served. Raises `Rejected` if a file cannot be used, or for invalid records."""
    errors = loaded.report.errors
    if loaded.dataset is not None and (not errors or invalid is InvalidRecords.SKIP):
        return loaded.dataset
    others = (sum(loaded.error_counts.values()) or len(errors)) - 1
    why = f"{errors[0]} (and {others:,} more)" if others else str(errors[0])
    raise Rejected(why, hint=_hint(loaded, of_records=any(error.record is not None for error in errors)))


def check_command(loaded: Loaded) -> str:
    """Return the command that lists all errors and warnings of a data set, safe to print."""
    return printable(f"`store-directory check {shlex.quote(str(loaded.path))}{loaded.options}`")


def _hint(loaded: Loaded, *, of_records: bool) -> str:
    """Return the command that lists every error; "" if there is no such data set."""
    if not os.path.isdir(loaded.path) and not (is_file(loaded.path) and holds_data(loaded.path)):  # noqa: PTH112 - Path.is_dir raises if a name is too long
        return ""
    skip = "; `--invalid skip` skips invalid records" if of_records else ""
    return f"{check_command(loaded)} reports every error{skip}"
