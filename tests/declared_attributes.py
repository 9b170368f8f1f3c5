"""Attributes of the data sets of tests: how they are declared, written and served, and random values of them.

A record has them as texts, as they are served, beside its fields: `attributes.area` is `7.50`; a list has a text on
each line.
"""

from collections.abc import Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import orjson

from service.model.attributes import Attribute as DeclaredAttribute, Declaration, schema_of
from tests.engine import oracle
from tests.engine.oracle import Collection, Form, Record

PREFIX: Final = "attributes."


class Attribute(NamedTuple):
    """An attribute, by the name of its parameter: its kind, whether it is filtered, searched; how a list is joined.

    It may have a label for pages, in the OpenAPI document.
    """

    name: str
    kind: str
    filters: bool
    searched: bool
    separator: str = ";"
    label: str = ""


# The attributes of a resource, by its name.
Attributes = Mapping[str, Sequence[Attribute]]
# The stores of a data set that declares opening hours alone.
STORES_WITH_HOURS: Final = schema_of(Declaration((DeclaredAttribute("opening_hours", "hours"),))).stores
NONE: Final[Attributes] = MappingProxyType({"stores": (), "companies": ()})


def _hours(zone: str, week: str, exception: str = "", title: str = "") -> str:
    """Return opening hours as they are served: a day, opens and closes of each interval, an exception with its date."""
    hours = [dict(zip(("day", "opens", "closes"), each.split(), strict=True)) for each in week.split(", ") if each]
    date, *times = exception.split() or [""]
    dates = {"valid_from": date, "valid_through": date, **dict(zip(("opens", "closes"), times, strict=False))}
    exceptions = [{**dates, **({"title": title} if title else {})}] if date else []
    return orjson.dumps({"timezone": zone, "hours": hours, "exception_hours": exceptions}).decode()


VALUES: Final[Mapping[str, Sequence[str]]] = {
    "text": [
        *("Toronto", "TORONTO", "Örebro", "Straße", "STRASSE", "東京", "New York", "new\u00a0york", "7.50"),
        *("true", "ﬁne"),
    ],
    "list": ["wifi\nParking\nWIFI", "wifi", "Parking", "東京\nÖrebro", "a;b\nc|d\ne", '"x", y', "STRASSE\nstraße"],
    "flag": ["true", "false"],
    "number": ["7.5", "7.50", "75e-1", "0", "-0", "0.0", "-79.40", "1E+5", "100000", "0.1", "12345678901234567890.5"],
    "url": ["https://a.example", "HTTPS://A.example", "http://b.example/ä?q=1,2", "https://c.example/#x"],
    "email": ["info@a.example", "INFO@A.example", "ü@東京.example"],
    "phone": ["+49 (30) 123-456", "030/123456;7", "1-800-FLOWERS 12345", "+49 (30) 123-456 ext. 7"],
    "image": ["https://a.example/a.png", "HTTPS://A.example/a.png", "https://b.example/ä?q=1,2"],
    "date": ["2019-02-01", "2020-12-31", "0001-01-01", "2021-05-06"],
    "hours": [
        _hours("Europe/Berlin", "monday 09:00 18:00, sunday 02:00 03:00"),
        _hours("Europe/Berlin", "saturday 20:00 02:30", "2026-10-25"),
        _hours("America/New_York", "saturday 00:00 23:59, sunday 01:00 01:30", "2026-11-02 18:00 02:00", 'Ä, "x"'),
        _hours("Africa/Casablanca", "saturday 20:00 02:30", "2026-03-22 09:00 12:00"),
        _hours("Australia/Lord_Howe", "sunday 01:30 02:15"),
        _hours("Asia/Kolkata", ""),
    ],
}


def attributes(**tables: str) -> Attributes:
    """Return the attributes of tables, one for each resource: lines of a name, a kind, uses, for lists a separator."""
    return {
        **NONE,
        **{resource: tuple(map(_attribute, table.strip().splitlines())) for resource, table in tables.items()},
    }


def _attribute(line: str) -> Attribute:
    name, kind, uses, *separator = line.split()
    return Attribute(PREFIX + name, kind, "f" in uses, "s" in uses, *separator)


DECLARED: Final = attributes(
    stores="""
        hours     text    fs
        services  list    fs |
        drive     flag    f
        area      number  f
        web       url     f
        opened    date    f
        note      text    s
        tags      list    -
        mail      email   f
        fax       phone   f
        photo     image   f
        opening   hours   -
    """,
    companies="""
        logo      url     f
        floors    number  f
        brands    list    fs
    """,
)


FORMS: Final[Mapping[str, Form]] = {
    **dict.fromkeys(("text", "list", "url", "email", "phone", "image"), oracle.words),
    "flag": oracle.flag,
    "number": oracle.number,
    "date": str.strip,
    "hours": str,
}


def hours_of(listed: Sequence[Attribute]) -> str:
    """Return the name of the attribute that is the opening hours, "" if there is none."""
    return next((each.name for each in listed if each.kind == "hours"), "")


def with_fields(collection: Collection, listed: Sequence[Attribute]) -> Collection:
    """Return a list of the interface whose records have attributes."""
    filters = [each.name for each in listed if each.filters]
    return collection._replace(
        forms={**collection.forms, **{each.name: FORMS[each.kind] for each in listed}},
        filters=[*collection.filters, *filters],
        facets=[*collection.facets, *filters],
        searched=[*collection.searched, *(each.name for each in listed if each.searched)],
        lists=[each.name for each in listed if each.kind == "list"],
        hours=hours_of(listed),
    )


def mapping(declared: Attributes) -> str:
    """Return the mapping.toml that declares attributes, each the member of its own name."""
    lines = []
    for resource, listed in declared.items():
        lines += [f"[{resource}.attributes]"] * bool(listed)
        for each in listed:
            separator = f', separator = "{each.separator}"' if each.kind == "list" else ""
            uses = f"filter = {str(each.filters).lower()}, search = {str(each.searched).lower()}"
            uses = uses if each.kind in ("text", "list") else uses.partition(",")[0]
            label = f', label = "{each.label}"' if each.label else ""
            uses = "" if each.kind == "hours" else f", {uses}"
            lines.append(f'{each.name.removeprefix(PREFIX)} = {{ kind = "{each.kind}"{uses}{separator}{label} }}')
    return "\n".join(lines)


def nested(listed: Sequence[Attribute], record: Record) -> dict[str, Any]:
    """Return a record as JSON has it, with its attributes in one object if there are any, for orjson."""
    fields: dict[str, Any] = {name: value for name, value in record.items() if not name.startswith(PREFIX)}
    inner = {each.name.removeprefix(PREFIX): json_value(each.kind, record[each.name]) for each in listed}
    return {**fields, **({"attributes": inner} if inner else {})}


def json_value(kind: str, text: str | None) -> Any:
    """Return a value as it is in JSON, for orjson."""
    if text is None or kind in ("text", "url", "email", "phone", "image", "date"):
        return text
    return text.split("\n") if kind == "list" else orjson.Fragment(text)


def add_random(listed: Sequence[Attribute], records: Sequence[Record], variety: int, seed: int) -> list[Record]:
    """Return records with random values of attributes, of `variety` at most, many of them null."""
    random = Random(seed)
    values = {each.name: [*VALUES[each.kind][:variety], None, None] for each in listed}
    return [{**record, **{name: random.choice(known) for name, known in values.items()}} for record in records]
