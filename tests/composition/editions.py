"""The data sets that are served in turn, with the plain answers to questions: a naive scan of the records of each."""

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

# A page of all of them is longer than what the service encodes on its event loop (32 KiB).
_STORES: Final = 500
_COMPANIES: Final = 600
_VARIETY: Final = 16
_KEPT: Final = ("store_id", "company_id")
_DATES: Final = ("2024-05-31T10:00:00.5+02:00", "2024-06-30T10:00:00Z", "2024-07-31T10:00:00Z")

# Answers a path, a query, and whether unknown parameters are refused.
Plain = Callable[[str, str, bool], Answered]


class Edition(msgspec.Struct, frozen=True, eq=False):
    """A data set as it is served.

    modified  when its manifest says that it was made, in whole seconds; None where it does not say
    folder    its files; `baked` is one file of the same
    plain     answers from a scan of its records
    companies their identifiers
    """

    version: str
    modified: int | None
    folder: Path
    baked: Path
    plain: Plain
    companies: Sequence[str]


def write_editions(folder: Path, seed: int) -> Sequence[Edition]:
    """Write the data sets of a seed into a new folder, as files and baked.

    The second has the identifiers of the first with other values, so that its pages have the same counts. The third is
    smaller and undated. The fourth has the records of the first, and so its version, with a later date.
    """
    first = make((_STORES, _COMPANIES, _VARIETY, seed))
    small = make((_STORES // 4, _COMPANIES // 4, _VARIETY, seed + 1))
    turned = Made({name: _turned(records) for name, records in first.records.items()}, None)
    plain = _model(first)
    return (
        _written(folder / "first", first, plain, _DATES[0]),
        _written(folder / "turned", turned, _model(turned), _DATES[1]),
        _written(folder / "small", small, _model(small), None),
        _written(folder / "again", first, plain, _DATES[2]),
    )


def _turned(records: Sequence[Record]) -> list[Record]:
    """Return the records with each value, but for those that identify, taken from the next one."""
    following = (*records[1:], *records[:1])
    return [
        {**other, **{name: record[name] for name in _KEPT if name in record}}
        for record, other in zip(records, following, strict=True)
    ]


def _model(made: Made) -> Plain:
    """Return the model of the interface over some records; it remembers its answers."""
    model = application(made)

    def answer(path: str, query: str, strict: bool) -> Answered:  # noqa: FBT001 - a cache is asked by position
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
