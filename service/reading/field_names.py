"""Columns and JSON members that are not fields: warn about them, and suggest the field that is meant."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from typing import Final

from service.model.records import COMPANIES, STORES, Resource
from service.reading.batch import Batch, UnusedName
from service.reading.diagnostics import Diagnostic, truncate

MAX_UNUSED: Final = 100  # names in a file; records with identifiers as names must not exhaust memory

# Names in real files, in several languages: lower case, letters and digits only. "county" is there so that it does not
# match country.
_SYNONYMS: Final = {
    "parent_company_id": "parent parentid parentcompany konzern",
    "company_id": (
        "company companyname brand chain owner kette firma unternehmen marke betreiber enseigne marque empresa marca "
        "azienda insegna bedrijf merk businessname firmenname unternehmensname banner"
    ),
    "name": "title label branch bezeichnung filiale nom nombre nome naam",
    "address_1": (
        "address addr street street1 streetaddress addressline addressline1 line1 adresszeile adresszeile1 straße "
        "strasse straßehausnummer strassehausnummer straßeundhausnummer straßenr strassenr anschrift adresse rue "
        "dirección direccion calle indirizzo via adres straat"
    ),
    "address_2": "addressline2 line2 street2 adresszeile2 suite unit floor adresszusatz complément complement",
    "city": (
        "town towncity locality municipality place ort stadt ville commune ciudad localidad municipio città citta "
        "comune plaats stad"
    ),
    "province": (
        "state region statecode stateprovince provincestate county prefecture bundesland kanton département "
        "departement région provincia regione provincie"
    ),
    "country": "countrycode countryregion nation land landregion ländercode staat pays país pais paese",
    "postal_code": "zip zipcode postcode postal plz postleitzahl codepostal códigopostal codigopostal cp cap",
    "phone_number": (
        "phone telephone tel phoneno phone1 mobile telefon telefonnummer telefonnr rufnummer téléphone teléfono "
        "telefono telefoon"
    ),
    "is_open": "open active geöffnet offen aktiv ouvert actif abierto abierta activo aperto attivo actief",
    "latitude": "lat y breite breitengrad latitud latitudine breedtegraad",
    "longitude": "lng lon long x länge laenge längengrad laengengrad longitud longitudine lengtegraad",
    "created_at": (
        "created createdon datecreated creationdate opened openedon openedat openingdate opendate dateopened angelegt "
        "angelegtam erstellt erstelltam eröffnet eröffnetam eröffnung eröffnungsdatum eröffnungstag "
        "datecréation datedouverture fechadeapertura"
    ),
    "updated_at": (
        "updated updatedon dateupdated lastupdated modified modifiedat lastmodified geändert geändertam "
        "letzteänderung aktualisiert aktualisiertam modifié"
    ),
    "domain": "website web url homepage",
}
_IDENTIFIER_SYNONYMS: Final = "id ref code number no key nr nummer kennung código codigo codice"
_NAME_SYNONYMS: Final = {STORES.name: "store", COMPANIES.name: "company companyname brand chain"}
# Numbers of houses are no fields, but parts of an address.
_HOUSE_NUMBERS: Final = frozenset(
    {"housenumber", "houseno", "streetnumber", "streetno", "hausnummer", "hausnr", "huisnummer", "numérorue"}
)
_PREFIX: Final = re.compile("store|shop|location|branch|contact|filiale?|standort|markt|addr(?!ess)|gps|geo(?:gr)?")
_REMARK: Final = re.compile(r"\([^()]*\)")  # (Ja/Nein), (WGS84)
_SEPARATORS: Final = re.compile(r"[\W_]+")
_MIN_SIMILARITY: Final = 0.8  # from 0 to 1; `provice` and `province` have 0.93, `created_by` and `created_at` 0.78


def suggest_field(name: str, resource: Resource) -> str | None:
    """Return the field that is probably meant by a name that is not a field: `zip` → `postal_code`; None if unclear."""
    key, known = _key(truncate(name)), _known_names(resource)
    without_remark = _key(_REMARK.sub("", truncate(name)))
    for each in (key, _without_prefix(key), without_remark, _without_prefix(without_remark)):
        if each in known:
            return known[each]
        if each in _HOUSE_NUMBERS:
            return None
    close = get_close_matches(key, [_key(field.name) for field in resource.fields], n=1, cutoff=_MIN_SIMILARITY)
    return known[close[0]] if close else None


def is_house_number(name: str) -> bool:
    """Return whether a name is that of numbers of houses, which are joined with those of streets."""
    return _without_prefix(_key(truncate(name))) in _HOUSE_NUMBERS


def _key(name: str) -> str:
    return _SEPARATORS.sub("", name.lower().replace("#", "no"))


def _without_prefix(key: str) -> str:
    """Return a key without what such names begin with, itself if it is nothing else."""
    prefix = _PREFIX.match(key)
    return key[prefix.end() :] or key if prefix else key


@cache
def _known_names(resource: Resource) -> Mapping[str, str]:
    """Return the fields by the keys of their names and synonyms."""
    fields = [field.name for field in resource.fields]
    synonyms = {word: field for field in fields for word in _SYNONYMS.get(field, "").split()}
    synonyms |= dict.fromkeys(_IDENTIFIER_SYNONYMS.split(), resource.identifier)
    synonyms |= dict.fromkeys(_NAME_SYNONYMS[resource.name].split(), "name")
    return synonyms | {_key(field): field for field in fields}


class UnusedNames:
    """Collects the names in one file that are not fields, batch by batch."""

    def __init__(self, resource: Resource) -> None:
        self._resource = resource
        self._fields: set[str] = set()
        self._unused: dict[str, UnusedName] = {}

    def add(self, batch: Batch) -> None:
        """Add the unused names of a batch, and note which fields have values."""
        for field, cells in batch.columns.items():
            if field not in self._fields and cells.count(None) < len(cells):
                self._fields.add(field)
        for each in batch.unused:
            earlier = self._unused.get(each.name, UnusedName(each.name, each.line, 0))
            self._unused[each.name] = UnusedName(each.name, earlier.line, earlier.records + each.records)

    def warnings(self, file: str) -> list[Diagnostic]:
        """Return a warning for each unused name; call it at the end of the file."""
        return [self._warning(file, unused) for unused in self._unused.values() if unused.records]

    def _warning(self, file: str, unused: UnusedName) -> Diagnostic:
        why = f"not a field, so it is ignored ({unused.records:,} record{'s' * (unused.records != 1)})"
        field = suggest_field(unused.name, self._resource)
        if field is not None and field not in self._fields:
            why += f"; did you mean {field}?"
        return Diagnostic("unused", file, unused.line, None, truncate(unused.name), None, why)
