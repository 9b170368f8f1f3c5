"""The data sets that are served in turn, each with its oracle: a naive scan of its records."""

import asyncio
import shutil
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from service.baking.baked_file import write_baked
from service.dataset import Dataset
from service.model.records import COMPANIES, STORES
from tests.baking.random_datasets import RandomDataset, loaded, random_dataset
from tests.composition.questions import OPEN_AT, Pair, Question
from tests.declared_attributes import DECLARED, FORMS, NONE, PREFIX, Attributes, attributes, hours_of
from tests.directory import write_manifest
from tests.engine import oracle
from tests.engine.oracle import Form, Record
from tests.fastapi_model.raw_client import RawAnswer, send_to_model

# A page of all of them is over 32 KiB: the service encodes it in a thread.
_STORES: Final = 250
_COMPANIES: Final = 300
_VARIETY: Final = 16
# The same names with other meanings: swapped, of other kinds, searched or not.
RENAMED: Final = attributes(
    stores="""
        note      text    f
        hours     text    fs
        area      text    fs
        services  list    f  |
        drive     text    f
        web       date    f
        tags      list    f
        mail      phone   -
        fax       image   -
        photo     email   f
    """,
    companies="""
        floors    text    fs
        logo      url     -
    """,
)
SOURCES: Final = {
    "attributes.note": "attributes.hours",
    "attributes.hours": "attributes.note",
    "attributes.web": "attributes.opened",
    "attributes.mail": "attributes.fax",
    "attributes.fax": "attributes.photo",
    "attributes.photo": "attributes.mail",
}
# The same records to the byte, but other separators and kinds, and other attributes that are filtered and searched.
REDECLARED: Final[Attributes] = {
    resource: tuple(
        each._replace(
            kind="text" if each.kind in ("url", "email", "phone", "image", "date") else each.kind,
            separator=" / ",
            label=f"The {each.name}",
            filters=each.filters != (each.kind == "text"),
            searched=each.kind in ("text", "list") and not each.searched,
        )
        for each in listed
    )
    for resource, listed in DECLARED.items()
}
_KEPT: Final = ("store_id", "company_id")

# The names of attributes in an OpenAPI document: the filters of stores, the members of stores and of companies.
Described = Sequence[Sequence[str]]
# Answers a path, a query string, whether unknown parameters are rejected, and a media type.
Plain = Callable[[str, str, bool, str], RawAnswer]


class Edition(msgspec.Struct, frozen=True, eq=False):
    """A data set as it is served.

    modified      the time that Last-Modified gives, in whole seconds, if it gives one
    folder        its files; `baked` is the same compiled
    plain         the oracle
    identifiers   the identifiers of its records, by the field that identifies them
    generated_at  the time in its manifest, if it has one
    attributes    those that it declares
    dataset       its records as they are compiled, unless it is forged
    """

    version: str
    modified: int | None
    folder: Path
    baked: Path
    plain: Plain
    identifiers: Mapping[str, Sequence[str]]
    generated_at: datetime | None = None
    attributes: Attributes = NONE
    dataset: Dataset | None = None

    def filters(self, resource: str) -> Mapping[str, Form]:
        """Return the names of the filters by attributes that a resource has, with the form of their values."""
        listed = self.attributes["companies" if resource.startswith("/companies") else "stores"]
        return {each.name: FORMS[each.kind] for each in listed if each.filters}

    def knows(self, resource: str, name: str) -> bool:
        """Return whether a parameter that some data sets have is one of this."""
        if name == OPEN_AT:
            return bool(hours_of(self.attributes["stores"]))
        return name in self.filters(resource) or not name.startswith(PREFIX)

    @property
    def described(self) -> Described:
        """The names of attributes that the OpenAPI document has to have, with the labels of members."""
        listed = (self.attributes["stores"], self.attributes["companies"])
        members = [[each.name.removeprefix(PREFIX) + each.label for each in one] for one in listed]
        return [list(self.filters("/stores")), *members]

    def meant(self, question: Question) -> Question:
        """Return what a question asks of this data set: unknown filters are nothing, equal values are one."""
        if not any(PREFIX in name + value or name == OPEN_AT for name, value in question.pairs):
            return question
        known, pairs = self.filters(question.resource), set[Pair]()
        for name, value in question.pairs:
            if name == "fields" and "attributes" in value.split(","):
                pairs.add((name, ",".join(part for part in value.split(",") if not part.startswith(PREFIX))))
            elif self.knows(question.resource, name):
                pairs.add((name, _meaning(known[name], name, value) if name in known else value))
        return Question(question.resource, question.path, tuple(sorted(pairs)))

    def dated(self, folder: Path, generated_at: datetime | None) -> "Edition":
        """Write the same records into a new folder, with another time."""
        assert self.dataset is not None
        dataset = msgspec.structs.replace(self.dataset, generated_at=generated_at)
        files = Path(shutil.copytree(self.folder, folder / "files"))
        write_manifest(files, generated_at.isoformat() if generated_at else None)
        return msgspec.structs.replace(self, **_baked(files, dataset))


def _meaning(form: Form, name: str, value: str) -> str:
    """Return what the value of a filter is: equal for equal ones. Of an invalid interval that is nothing."""
    if not oracle.takes_interval(form, name, value):
        return repr(form(value))
    try:
        return repr(oracle.interval(form, value))
    except ValueError:
        return value


def write_editions(folder: Path, seed: int) -> Sequence[Edition]:
    """Write the data sets of a seed into a new folder, as files and as baked files.

    The second has the identifiers of the first with other values, so that its pages have the same counts. The third is
    smaller, and has no attributes. The others are the first with other declarations. They are not dated.
    """
    first = random_dataset((_STORES, _COMPANIES, _VARIETY, seed), attributes=DECLARED)
    small = random_dataset((_STORES // 4, _COMPANIES // 4, _VARIETY, seed + 1))
    rotated = RandomDataset({name: _rotated(records) for name, records in first.records.items()}, None, DECLARED)
    return (
        _written(folder / "first", first),
        _written(folder / "rotated", rotated),
        _written(folder / "small", small),
        _written(folder / "renamed", _declared_anew(first, RENAMED)),
        _written(folder / "redeclared", _declared_anew(first, REDECLARED)),
    )


def _declared_anew(made: RandomDataset, attributes: Attributes) -> RandomDataset:
    """Return a data set with other attributes, those of `SOURCES` with the values of other ones if they are renamed."""
    sources = SOURCES if attributes is RENAMED else {}
    records: dict[str, list[Record]] = {
        resource: [
            {name: value for name, value in record.items() if not name.startswith(PREFIX)}
            | {each.name: record[sources.get(each.name, each.name)] for each in attributes[resource]}
            for record in listed
        ]
        for resource, listed in made.records.items()
    }
    return RandomDataset(records, None, attributes)


def _rotated(records: Sequence[Record]) -> list[Record]:
    """Return the records, each with the values of the next one but its own identifiers."""
    following = (*records[1:], *records[:1])
    return [
        {**other, **{name: record[name] for name in _KEPT if name in record}}
        for record, other in zip(records, following, strict=True)
    ]


def _model(made: RandomDataset) -> Plain:
    """Return the model of the interface over some records, with a cache of its own answers."""
    from tests.fastapi_model.interface import application  # noqa: PLC0415 - imported by the process that runs it alone

    model = application(made)

    def answer(path: str, query: str, strict: bool, accept: str) -> RawAnswer:  # noqa: FBT001 - a cache has positions
        return asyncio.run(send_to_model(model, path, query.encode(), strict=strict, accept=accept))

    return cache(answer)


def _written(folder: Path, made: RandomDataset) -> Edition:
    identifiers = {
        resource.identifier: [str(record[resource.identifier]) for record in made.records[resource.name]]
        for resource in (STORES, COMPANIES)
    }
    files = write_manifest(made.write(folder / "files"))
    compiled = _baked(files, loaded(files))
    return Edition(plain=_model(made), identifiers=identifiers, attributes=made.attributes, **compiled)


def _baked(files: Path, dataset: Dataset) -> dict[str, Any]:
    """Write a data set into a baked file beside its files; return what follows from it."""
    write_baked(dataset, baked := files.with_name("set.baked"))
    when = dataset.generated_at
    modified = None if when is None else int(when.timestamp())
    found = {"version": dataset.version, "modified": modified, "generated_at": when}
    return {**found, "folder": files, "baked": baked, "dataset": dataset}
