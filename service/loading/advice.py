"""What to do about a data set that is refused."""

import os.path
import shlex
from pathlib import Path

from service.loading.acceptance import Cause
from service.reading.file_names import holds_data
from service.reading.folder_signature import is_file
from service.reading.read_options import AS_FOUND, ReadOptions


def advice(source: str, cause: Cause, options: ReadOptions = AS_FOUND) -> str:
    """Return the command that reports more about the refused data set at `source`.

    It is "" if `check` does not take `source`, and for a limit, whose message names the option that allows it.
    """
    if cause is Cause.LIMIT or not _is_checked(source):
        return ""
    skip = "; `--invalid skip` skips invalid records" if cause is Cause.RECORDS else ""
    return f"`store-directory check {shlex.quote(source)}{options}` reports every error{skip}"


def _is_checked(source: str) -> bool:
    folder = os.path.isdir(source)  # noqa: PTH112 - Path.is_dir raises if a name is too long
    return folder or (is_file(Path(source)) and holds_data(Path(source)))
