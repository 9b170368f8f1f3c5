"""The data sets that are served in turn, each with its oracle: a naive scan of its records."""

import asyncio
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from service.baking.baked import bake
from tests.baking.made_up import Made, loaded, make
from tests.engine.oracle import Record
from tests.model.asking import Answered, ask_model
from tests.model.interface import application
from tests.web.dated import date

# A page of all of them is over 32 KiB: the service encodes it in a thread.
_STORES: Final = 500
_COMPANIES: Final = 600
_VARIETY: Final = 16
_KEPT: Final = ("store_id", "company_id")
_DATES: Final = ("2024-05-31T10:00:00.5+02:00", "2024-06-30T10:00:00Z", "2024-07-31T10:00:00Z")

# Answers a path, a query string, and whether unknown parameters are rejected.
Plain = Callable[[str, str, bool], Answered]


class Edition(msgspec.Struct, frozen=True, eq=False):
    """A data set as it is served.

    modified   the time in its manifest, in whole seconds, if it has one
    folder     its files; `baked` is the same compiled
    plain      the oracle
    companies  the identifiers of its companies
    """

    version: str
    modified: int | None
    folder: Path
    baked: Path
    plain: Plain
    companies: Sequence[str]


def write_editions(folder: Path, seed: int) -> Sequence[Edition]:
    """Write the data sets of a seed into a new folder, as files and as baked files.

    The second has the identifiers of the first with other values, so that its pages have the same counts. The third is
    smaller and undated. The fourth has the records of the first, hence its version, and a later date.
    """
    first = make((_STORES, _COMPANIES, _VARIETY, seed))
    small = make((_STORES // 4, _COMPANIES // 4, _VARIETY, seed + 1))
    rotated = Made({name: _rotated(records) for name, records in first.records.items()}, None)
    plain = _model(first)
    return (
        _written(folder / "first", first, plain, _DATES[0]),
        _written(folder / "rotated", rotated, _model(rotated), _DATES[1]),
        _written(folder / "small", small, _model(small), None),
        _written(folder / "again", first, plain, _DATES[2]),
    )


def _rotated(records: Sequence[Record]) -> list[Record]:
    """Return the records, each with the values of the next one but its own identifiers."""
    following = (*records[1:], *records[:1])
    return [
        {**other, **{name: record[name] for name in _KEPT if name in record}}
        for record, other in zip(records, following, strict=True)
    ]


def _model(made: Made) -> Plain:
    """Return the model of the interface over some records, with a cache of its own answers."""
    model = application(made)

    def answer(path: str, query: str, strict: bool) -> Answered:  # noqa: FBT001 - a cache has positions
        return asyncio.run(ask_model(model, path, query.encode(), strict=strict))

    return cache(answer)


def _written(folder: Path, made: Made, plain: Plain, generated_at: str | None) -> Edition:
    files = date(made.write(folder / "files"), generated_at)
    dataset, totals = loaded(files)
    baked = folder / "set.baked"
    bake(dataset, totals, baked)
    modified = None if dataset.generated_at is None else int(dataset.generated_at.timestamp())
    companies = [str(record["company_id"]) for record in made.records["companies"]]
    return Edition(dataset.version, modified, files, baked, plain, companies)
