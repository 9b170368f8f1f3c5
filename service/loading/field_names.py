"""The names of a file's columns or JSON members: which are not fields, and which field each may be meant for."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from typing import Final

from service.loading.batch import Batch, Unused
from service.loading.faults import Fault, cut
from service.model.records import COMPANIES, STORES, Resource

MOST_UNUSED: Final = 100  # names of a file; records that have identifiers for names must not fill the memory

# Names that real files have, lower case, letters and digits alone. "county" keeps it from being taken for a country.
_SYNONYMS: Final = {
    "parent_company_id": "parent parentid parentcompany",
    "company_id": "company companyname brand chain owner",
    "name": "title label branch",
    "address_1": "address addr street streetaddress addressline addressline1 line1",
    "address_2": "addressline2 line2 suite unit floor",
    "city": "town locality municipality place",
    "province": "state region statecode stateprovince provincestate county prefecture",
    "country": "countrycode nation",
    "postal_code": "zip zipcode postcode postal plz",
    "phone_number": "phone telephone tel phoneno mobile",
    "is_open": "open active",
    "latitude": "lat y",
    "longitude": "lng lon long x",
    "created_at": "created createdon datecreated creationdate",
    "updated_at": "updated updatedon dateupdated lastupdated modified modifiedat lastmodified",
    "domain": "website web url homepage",
}
_IDENTIFIER_SYNONYMS: Final = "id ref code number no key"
_NAME_SYNONYMS: Final = {STORES.name: "store", COMPANIES.name: "company companyname brand chain"}
_PREFIX: Final = re.compile("store|location|branch|contact|addr(?!ess)|geo")
_OTHERS: Final = re.compile(r"[\W_]+")
_LIKENESS: Final = 0.8  # from 0 to 1; `provice` and `province` have 0.93, `created_by` and `created_at` 0.78


def meant_field(name: str, resource: Resource) -> str | None:
    """Return the field that a name which is not a field may be meant for: `zip` for `postal_code`; None if unclear."""
    plain, known = _plain(cut(name)), _known_names(resource)
    prefix = _PREFIX.match(plain)
    for each in (plain, plain[prefix.end() :] if prefix else ""):
        if each in known:
            return known[each]
    close = get_close_matches(plain, [_plain(field.name) for field in resource.fields], n=1, cutoff=_LIKENESS)
    return known[close[0]] if close else None


def _plain(name: str) -> str:
    return _OTHERS.sub("", name.lower())


@cache
def _known_names(resource: Resource) -> Mapping[str, str]:
    """Return the fields by their names and synonyms, in plain form."""
    fields = [field.name for field in resource.fields]
    synonyms = {word: field for field in fields for word in _SYNONYMS.get(field, "").split()}
    synonyms |= dict.fromkeys(_IDENTIFIER_SYNONYMS.split(), resource.identifier)
    synonyms |= dict.fromkeys(_NAME_SYNONYMS[resource.name].split(), "name")
    return synonyms | {_plain(field): field for field in fields}


class Names:
    """Gathers the names of one file, batch by batch."""

    def __init__(self, resource: Resource) -> None:
        self._resource = resource
        self._fields: set[str] = set()
        self._unused: dict[str, Unused] = {}

    def add(self, batch: Batch) -> None:
        """Note which fields a batch has, and what in it is not a field."""
        for field, cells in batch.columns.items():
            if field not in self._fields and cells.count(None) < len(cells):
                self._fields.add(field)
        for each in batch.unused:
            earlier = self._unused.get(each.name, Unused(each.name, each.line, 0))
            self._unused[each.name] = Unused(each.name, earlier.line, earlier.records + each.records)

    def warnings(self, file: str) -> list[Fault]:
        """Return a warning for each name that is not a field, when the whole file is read."""
        return [self._warning(file, unused) for unused in self._unused.values() if unused.records]

    def _warning(self, file: str, unused: Unused) -> Fault:
        why = f"not a field, so it is ignored ({unused.records:,} record{'s' * (unused.records != 1)})"
        field = meant_field(unused.name, self._resource)
        if field is not None and field not in self._fields:
            why += f"; did you mean {field}?"
        return Fault("unused", file, unused.line, None, cut(unused.name), None, why)
