"""The oracle: a naive scan of plain records, written from the interface alone, that the engine must equal."""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NamedTuple

Record = Mapping[str, str | None]
Pairs = Sequence[tuple[str, str]]
Form = Callable[[str], Any]  # equal for matching values, and in their order

_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")


def identifier(text: str) -> Any:
    return text


def words(text: str) -> Any:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def postal(text: str) -> Any:
    return "".join(words(text).split())


def number(text: str) -> Any:
    return (0, Decimal(text.strip())) if _NUMBER.fullmatch(text.strip()) else (1, text)


def flag(text: str) -> Any:
    return text.lower() in {"1", "t", "y", "on", "yes", "true"}


def instant(text: str) -> Any:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class Collection(NamedTuple):
    """A list of the interface: its identifying field, and how the values of each field match and sort."""

    identifier: str
    forms: Mapping[str, Form]
    filters: Sequence[str]


STORES = Collection(
    "store_id",
    {
        **dict.fromkeys(("store_id", "company_id", "parent_company_id"), identifier),
        **dict.fromkeys(("name", "address_1", "address_2", "city", "province", "country", "phone_number"), words),
        **dict.fromkeys(("latitude", "longitude"), number),
        **dict.fromkeys(("created_at", "updated_at"), instant),
        "postal_code": postal,
        "is_open": flag,
    },
    [
        "store_id",
        "company_id",
        "parent_company_id",
        "city",
        "province",
        "country",
        "postal_code",
        "is_open",
        "latitude",
        "longitude",
    ],
)
COMPANIES = Collection(
    "company_id",
    {"company_id": identifier, "parent_company_id": identifier, "name": words, "domain": words, "created_at": instant},
    ["company_id", "name", "domain", "parent_company_id"],
)


class Answer(NamedTuple):
    """The total number of matching records, and the identifiers of one page."""

    total_count: int
    data: list[str | None]


def answer(collection: Collection, records: Sequence[Record], pairs: Pairs) -> Answer:
    """Answer a query without errors by looking at every record."""
    values = dict(pairs)
    found = [record for record in records if all(_matches(collection, record, name, pairs) for name in values)]
    found = _sorted(collection, found, values.get("sort_by", "created_at"))
    if values.get("sort_order") == "desc":
        found = backwards(found, values.get("sort_by", "created_at"))
    limit, page_num = int(values.get("limit", "1000")), int(values.get("page_num", "1"))
    shown = found[(page_num - 1) * limit :][:limit]
    return Answer(len(found), [record[collection.identifier] for record in shown])


def backwards(ascending: Sequence[Record], field: str) -> list[Record]:
    """Return the descending order: the records with a value reversed, then those without reversed."""
    non_null = [record for record in ascending if record[field] is not None]
    nulls = [record for record in ascending if record[field] is None]
    return non_null[::-1] + nulls[::-1]


def _matches(collection: Collection, record: Record, name: str, pairs: Pairs) -> bool:
    if name not in collection.filters:
        return True
    wanted = [value for each, value in pairs if each == name and value.strip() and value != "null"]
    value, form = record[name], collection.forms[name]
    return not wanted or (value is not None and any(form(value) == form(each) for each in wanted))


def _sorted(collection: Collection, records: Sequence[Record], field: str) -> list[Record]:
    ordered = sorted(records, key=lambda record: record[collection.identifier] or "")
    for each in ("created_at", field):  # each sort keeps the order of ties that the one before made
        non_null = [record for record in ordered if record[each] is not None]
        nulls = [record for record in ordered if record[each] is None]
        form = collection.forms[each]
        ordered = sorted(non_null, key=lambda record: form(record[each] or "")) + nulls
    return ordered
