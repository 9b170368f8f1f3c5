"""Find files that probably hold the records of a data set, but have the wrong name or format."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Final

from service.reading.file_set.declared_files import common_beginning, patterns_of
from service.reading.file_set.file_names import data_files, parse_name
from service.reading.formats.file_format import COMPRESSIONS, FORMATS, TEXT_RANK
from service.reading.mapping.toml_text import array

_MIN_SIMILARITY: Final = 0.75  # that of `companies` and `company`; `stores` and `stops` are less similar
_ENOUGH_ALIKE: Final = 3  # characters at the beginning
_SHOWN: Final = 3  # names
_CSV: Final = ("csv", "CSV UTF-8 (comma delimited)")
_WORKBOOK: Final = ("xlsx", "an Excel workbook (.xlsx)")
# Formats that are not read, with the extension and the name of one that is.
_CONVERSIONS: Final = {"xls": _WORKBOOK, "xlsb": _WORKBOOK, "xml": _CSV, "db": _CSV, "sqlite": _CSV}
_OTHER_COMPRESSIONS: Final = frozenset({"bz2", "xz", "zip", "7z", "rar", "tar", "tgz", "br", "lz4", "zstd"})


def suggest_file_name(names: Sequence[str], expected: str) -> str:
    """Return what to do with the files that are probably meant as `expected`, such as `stores`; "" for none."""
    if several := similar_files(names, expected):
        found = ", ".join(map(repr, several[:_SHOWN])) + ", …" * (len(several) > _SHOWN)
        return f"found {found}: name one {expected}, or {suggest_patterns(patterns_of(several, names), expected)}"
    corrections = (_correction(name, expected) for name in names if _is_similar(name, expected))
    return next(filter(None, corrections), "")


def similar_files(names: Sequence[str], expected: str) -> list[str]:
    """Return the data files that are probably meant as those of `expected`, if they are several."""
    similar = [name for name in names if parse_name(name) is not None and _is_similar(name, expected)]
    return similar if len(similar) > 1 else []


def alike(names: Sequence[str], expected: str, others: Sequence[str]) -> Sequence[str]:
    """Return several data files that are named like `expected`, or that begin alike and are not named like others."""
    if similar := similar_files(names, expected):
        return similar
    found = [file.name for file in data_files(names) if not any(_is_similar(file.name, each) for each in others)]
    return found if len(found) > 1 and len(common_beginning(found)) >= _ENOUGH_ALIKE else []


def suggest_patterns(patterns: Sequence[str], expected: str) -> str:
    """Return how a mapping declares several files."""
    return f"declare files = {array(patterns)} in [{expected}] of mapping.toml"


def suggest_other_files(names: Iterable[str], expected: str, others: Iterable[str]) -> str:
    """Return what to do if the records are in a data file of another name, which is not like `others`; "" for none."""
    unlike = [name for name in names if not any(_is_similar(name, other) for other in others)]
    found = [repr(file.name) for file in data_files(unlike) if file.format.rank != TEXT_RANK]
    if not found:
        return ""
    which = f"one of {', '.join(found[:_SHOWN])}{', …' * (len(found) > _SHOWN)}" if len(found) > 1 else found[0]
    return f"; if the {expected} are in {which}, check and serve that file by itself"


def suggest_conversion(name: str) -> str:
    """Return what to do with a file of a format that is not read, such as a spreadsheet; "" for another."""
    conversion = _CONVERSIONS.get(name.rpartition(".")[2].casefold())
    return f"save it as {conversion[1]}" if conversion else ""


def _is_similar(name: str, expected: str) -> bool:
    stem = name.partition(".")[0].casefold()
    return expected in stem or bool(get_close_matches(expected, [stem], cutoff=_MIN_SIMILARITY))


def _correction(name: str, expected: str) -> str:
    """Return what to do with a file; "" if unknown, as for a file that another program is still writing."""
    _, *extensions = name.casefold().split(".")
    compression = f".{extensions.pop()}" if extensions and extensions[-1] in COMPRESSIONS else ""
    extension = extensions[-1] if extensions else ""
    correct = f"{expected}.{extension}{compression}"
    if extension in FORMATS:
        return f"found {name!r}: the name must be {correct}" + (", in lower case" if name.casefold() == correct else "")
    if extension in _OTHER_COMPRESSIONS:
        return f"found {name!r}: unpack it, or compress it with gzip (.gz) or Zstandard (.zst)"
    if conversion := suggest_conversion(name):
        return f"found {name!r}: {conversion}, and name it {expected}.{_CONVERSIONS[extension][0]}"
    return "" if extension else f"found {name!r}: add the format to the name, as in {expected}.csv{compression}"
