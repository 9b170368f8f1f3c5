"""Files that seem to hold the records of a data set, but not under the name, or in the form, in which they are read."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

from service.loading.formats import COMPRESSIONS, FORMATS

_LIKENESS: Final = 0.75  # of `companies` and `company`; that of `stores` and `stops` is less
_OTHER_FORMATS: Final = frozenset({"tsv", "tab", "txt", "xls", "xlsx", "ods", "parquet", "xml", "db", "sqlite"})
_OTHER_COMPRESSIONS: Final = frozenset({"bz2", "xz", "zip", "7z", "rar", "tar", "tgz", "br", "lz4", "zstd"})


def describe_misnamed(names: Iterable[str], wanted: str) -> str:
    """Return what to do with the first file that seems to be meant by `wanted`, such as `stores`; "" for none."""
    corrections = (_correction(name, wanted) for name in names if _is_like(name, wanted))
    return next(filter(None, corrections), "")


def _is_like(name: str, wanted: str) -> bool:
    stem = name.partition(".")[0].casefold()
    return wanted in stem or bool(get_close_matches(wanted, [stem], cutoff=_LIKENESS))


def _correction(name: str, wanted: str) -> str:
    """Return what to do with a file; "" where that is not known, as of one that another program still writes."""
    _, *endings = name.casefold().split(".")
    compression = f".{endings.pop()}" if endings and endings[-1] in COMPRESSIONS else ""
    ending = endings[-1] if endings else ""
    right = f"{wanted}.{ending}{compression}"
    if ending in FORMATS:
        return f"found {name!r}: the name must be {right}" + (", in lower case" if name.casefold() == right else "")
    if ending in _OTHER_COMPRESSIONS:
        return f"found {name!r}: unpack it, or compress it with gzip (.gz) or Zstandard (.zst)"
    if ending in _OTHER_FORMATS:
        return f"found {name!r}: save it as CSV UTF-8 (comma delimited), and name it {wanted}.csv"
    return "" if ending else f"found {name!r}: the name must say what it holds, as {wanted}.csv{compression} does"
