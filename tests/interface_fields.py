"""The fields of the interface: the one list of the tests, which `service/model/records.py` must equal."""

from collections.abc import Sequence
from typing import Final, NamedTuple


class Field(NamedTuple):
    """A field: its name, its kind, and its uses: required, unserved, one of filters, facets or searched fields."""

    name: str
    kind: str
    uses: frozenset[str]


Fields = Sequence[Field]


def _fields(table: str) -> Fields:
    lines = (line.split() for line in table.strip().splitlines())
    return tuple(Field(name, kind, frozenset(uses)) for name, kind, *uses in lines)


STORE_FIELDS: Final = _fields("""
    store_id           identifier  required filters        searched
    company_id         identifier  required filters facets
    parent_company_id  identifier           filters facets
    name               words                               searched
    address_1          words       required                searched
    address_2          words                               searched
    city               words       required filters facets searched
    province           words                filters facets searched
    country            words       required filters facets
    postal_code        postal               filters facets searched
    phone_number       words
    is_open            flag                 filters facets
    latitude           number               filters
    longitude          number               filters
    created_at         instant              filters
    updated_at         instant              filters
""")
COMPANY_FIELDS: Final = _fields("""
    company_id         identifier  required filters        searched
    name               words       required filters        searched
    domain             words                filters facets searched
    parent_company_id  identifier           filters facets
    created_at         instant     unserved
""")


def names(fields: Fields, what: str = "") -> list[str]:
    """Return the names of the fields of a kind or use, or of all, in their order."""
    return [field.name for field in fields if what in ("", field.kind, *field.uses)]


def members(fields: Fields) -> list[str]:
    """Return the names of the fields that responses have."""
    return [field.name for field in fields if "unserved" not in field.uses]


def choice(choices: Sequence[str]) -> str:
    """Return the message that a value is none of some choices."""
    *others, last = map(repr, choices)
    return f"Input should be {', '.join(others)} or {last}"
