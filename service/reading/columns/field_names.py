"""Which column is which field: by its name, or by one that is meant; warnings about those that are none."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from itertools import pairwise
from typing import Final
from unicodedata import combining, normalize

from service.model.records import COMPANIES, STORES, Resource
from service.reading.batch import Batch
from service.reading.diagnostics import Diagnostic, FileError
from service.texts import counted, printable, truncate


def words(text: str) -> frozenset[str]:
    """Return the words in a text, as a set."""
    return frozenset(text.split())


_IGNORED: Final = re.compile(r"[\s_-]+")
COORDINATES: Final = ("latitude", "longitude")
# Columns of formats of geographic features, for fields that no column is named like.
_FEATURE_ID: Final = "feature.id"
_GEOMETRY: Final = {field: f"geometry.{field}" for field in COORDINATES}
MAX_UNUSED: Final = 100  # names in a file; records with identifiers as names must not exhaust memory
# Names in real files, in several languages, without separators, accents, articles and words for stores, as "nom" for
# "Nom du magasin". "county" is there so that it does not match country.
_SYNONYMS: Final = {
    "parent_company_id": "parent parentid parentcompany konzern",
    "company_id": (
        "company companyname brand chain owner kette firma unternehmen marke betreiber enseigne marque empresa marca "
        "azienda insegna bedrijf merk businessname firmenname unternehmensname banner gestore gestionnaire exploitant "
        "raisonsociale ragionesociale rotulo"
    ),
    "name": "title label branch placename bezeichnung filiale nom nombre nome naam libelle denominazione",
    "address_1": (
        "address addr street street1 streetaddress addressline addressline1 line1 adresszeile adresszeile1 strasse "
        "strassehausnummer strasseundhausnummer strassenr anschrift adresse rue voie direccion calle indirizzo via "
        "adres straat"
    ),
    "address_2": "addressline2 line2 street2 adresszeile2 suite unit floor adresszusatz complement complementadresse",
    "city": (
        "town towncity locality municipality place ort stadt ville commune localite ciudad localidad municipio citta "
        "comune localita plaats stad"
    ),
    "province": (
        "state region statecode stateprovince provincestate county prefecture bundesland kanton departement provincia "
        "prov regione provincie"
    ),
    "country": "countrycode countryregion nation land landregion landercode staat pays pais paese nazione",
    "postal_code": "zip zipcode postcode postal plz postleitzahl codepostal codigopostal codicepostale cp cap",
    "phone_number": (
        "phone telephone tel phoneno phone1 mainphone primaryphone mobile telefon telefonnummer telefonnr rufnummer "
        "numerotelephone notelephone telefono numerotelefono telefoon"
    ),
    "is_open": "open active geoffnet offen aktiv ouvert actif abierto abierta activo aperto attivo actief",
    "latitude": "lat y breite breitengrad latitud latitudine breedtegraad",
    "longitude": "lng lon long x lange laenge langengrad laengengrad longitud longitudine lengtegraad",
    "created_at": (
        "created createdon datecreated creationdate opened openedon openedat openingdate opendate dateopened angelegt "
        "angelegtam erstellt erstelltam eroffnet eroffnetam eroffnung eroffnungsdatum eroffnungstag datecreation "
        "dateouverture fechaapertura fechacreacion creadoel dataapertura creatoil geopendop aangemaaktop"
    ),
    "updated_at": (
        "updated updatedon dateupdated lastupdated modified modifiedat lastmodified geandert geandertam letzteanderung "
        "zuletztgeandert aktualisiert aktualisiertam zuletztaktualisiert lastupdate lastchanged modifie datemiseajour "
        "dernieremiseajour modifiele dataaggiornamento ultimoaggiornamento fechaactualizacion actualizadoel "
        "gewijzigdop bijgewerktop"
    ),
    "domain": "website web url homepage",
}
_IDENTIFIER_SYNONYMS: Final = (
    "id ref code number no key nr nummer kennung numero identifiant codigo codice uid uuid guid objectid fid handle"
)
_NAME_SYNONYMS: Final = {
    STORES.name: "displayname store magasin negozio puntovendita pointvente tienda",
    COMPANIES.name: "company companyname brand chain",
}
# Numbers of houses are no fields, but parts of an address.
_HOUSE_NUMBERS: Final = words(
    "housenumber houseno streetnumber streetno hausnummer hausnr huisnummer numerorue numerovoie civico numerocivico"
)
_PREFIX: Final = re.compile("^(?:store|shop|location|branch|contact|filiale?|standort|markt|addr(?!ess)|gps|geogr|geo)")
_NUMBER_SIGN: Final = re.compile(r"#|\bn°", re.IGNORECASE)
_WORD_END: Final = re.compile("(?<=[a-z])(?=[A-Z])")  # in camel case
_WORDS: Final = re.compile(r"[^\W_]+")
_ARTICLES: Final = words(
    "de du des d la le les l di del della dell dello dei il lo gli el los las do da of the der die das den dem"
)
_STORE_WORDS: Final = words(
    "store shop magasin boutique point vente impianto negozio punto vendita tienda sucursal winkel station"
)
_REMARK: Final = re.compile(r"\([^()]*\)")  # (Ja/Nein), (WGS84)
_SEPARATORS: Final = re.compile(r"[\W_]+")
_PARTS: Final = re.compile(r"[/|\\;()\n]|\s-\s")  # of a bilingual name
_IDENTIFIERS: Final = (STORES.identifier, "parent_company_id")  # fields that need no name
_FIRST_IDENTIFIER_WORDS: Final = words("id code cod codigo codice kode")
_IDENTIFIER_WORDS: Final = _FIRST_IDENTIFIER_WORDS | words(
    "key no nr num number numero nummer kennung ref uid uuid guid"
)
_NAME_WORDS: Final = words("name title label nom nombre nome naam navn namn libelle bezeichnung denominazione")
_MIN_LENGTH: Final = 6  # characters of a name that is compared with others by edits
_SHORTEST: Final = 4  # of one that may be a slip
_MIN_SIMILARITY: Final = 0.8  # from 0 to 1; `provice` and `province` have 0.93, `created_by` and `created_at` 0.78


def find_alike(wanted: Iterable[str], names: Sequence[str]) -> dict[str, Sequence[str]]:
    """Return the columns of each wanted name: of exactly that, else with another case, spaces, underscores, hyphens."""
    exact, alike = set(names), {name: column_key(name) for name in wanted}
    by_key: dict[str, list[str]] = {key: [] for key in alike.values()}
    for name in names:
        if (key := column_key(name)) in by_key:
            by_key[key].append(name)
    return {name: [name] if name in exact else by_key[key] for name, key in alike.items()}


def columns_by_name(names: Sequence[str], resource: Resource, fields: Sequence[str]) -> dict[str, str]:
    """Return the column of each of some fields that has one: of its exact name, or with other case and separators.

    Raises FileError if a field has two columns of the second kind.
    """
    columns: dict[str, str] = {}
    for field, found in find_alike(fields, names).items():
        if len(found) > 1:
            raise FileError(f"{' and '.join(map(_quoted, found[:2]))} are both columns of {field}: rename one")
        if found:
            columns[field] = found[0]
    if resource.coordinates is None:
        return columns
    if resource.identifier in fields and resource.identifier not in columns and _FEATURE_ID in names:
        columns[resource.identifier] = _FEATURE_ID
    # Never mix a latitude column with a longitude from the geometry.
    if columns.keys().isdisjoint(COORDINATES) and set(fields) >= set(COORDINATES):
        columns |= {field: column for field, column in _GEOMETRY.items() if column in names}
    return columns


def columns_by_nearest_name(names: Sequence[str], *, paths: bool) -> dict[str, str]:
    """Return the column of each field of stores that has one: of its name, else the nearest. `paths` if names are.

    An identifier is not taken beside a name of the same thing, as `city_id` beside `city`.
    """
    alike = find_alike((field.name for field in STORES.fields), names)
    chosen = {field: found[0] for field, found in alike.items() if found}
    ends = {name: end_of_path(name) for name in names if paths and "." in name}
    pairs = {name: f"{end_of_path(name.removesuffix(end).rstrip('.'))}.{end}" for name, end in ends.items()}
    things = {_thing(name) for name in (*names, *pairs.values(), *ends.values()) if not is_identifier_name(name)}
    for name, end in (*zip(names, names, strict=True), *pairs.items(), *ends.items()):
        field = suggest_field(end, STORES)
        if end == ends.get(name) and suggest_field(pairs[name], STORES) not in (None, field):
            continue  # the name of a country is none of a store
        if field is None or field in chosen or name in chosen.values():
            continue
        is_exact = field in _IDENTIFIERS or _key(end) == _key(field)
        if is_exact or not is_identifier_name(end) or _thing(end) not in things:
            chosen[field] = name
    return chosen if _GEOMETRY.items().isdisjoint(chosen.items()) else chosen | _GEOMETRY  # a pair of one source


def is_identifier_name(name: str) -> bool:
    """Return whether a name is that of a column of identifiers, as `city_id`, `cod_provincia` or `id`."""
    found = _words(name)
    return bool(found) and (found[-1] in _IDENTIFIER_WORDS or found[0] in _FIRST_IDENTIFIER_WORDS)


def named_identifiers(names: Iterable[str]) -> dict[str, str]:
    """Return the columns of identifiers beside one of names, `clinic_id` → `clinic_name`, of what no field is about."""
    identifiers = {name: _thing(name) for name in names if is_identifier_name(name)}
    named = {_thing(name): name for name in names if name not in identifiers and {*_words(name)} & _NAME_WORDS}
    pairs = {name: named[thing] for name, thing in identifiers.items() if thing in named}
    fields = {name: {suggest_field(word, STORES) for word in _words(name)} for name in pairs}
    return {name: other for name, other in pairs.items() if fields[name] <= {None, STORES.identifier}}


def _thing(name: str) -> str:
    """Return what a name is about: `city` of `city_id`, `City Name` and `city`."""
    return "".join(word for word in _significant_words(name) if word not in _IDENTIFIER_WORDS | _NAME_WORDS)


def describe_renamed(columns: Mapping[str, str]) -> list[str]:
    """Return the columns that are not named exactly like their fields, as one text if there are any."""
    renamed = [f"{_quoted(column)} → {field}" for field, column in columns.items() if column != field]
    return [f"columns {', '.join(renamed)}"] if renamed else []


def column_key(name: str) -> str:
    """Return what is the same of names that differ in case and in separators only."""
    return _IGNORED.sub("", name).casefold()


def _quoted(name: str) -> str:
    return f'"{printable(truncate(name))}"'


def suggest_field(name: str, resource: Resource) -> str | None:
    """Return the field that is probably meant by a name that is not a field: `zip` → `postal_code`; None if unclear."""
    known = _known_names(resource)
    for key in _keys(truncate(name)):
        if key in known:
            return known[key]
        if key in _HOUSE_NUMBERS:
            return None
    keys = map(_key, _PARTS.split(_plain(truncate(name))))
    parts = {known[key] for key in keys if len(key) > 1 and key in known}
    parts = parts if len(parts) == 1 else parts - {resource.identifier}  # "Street / No."
    if parts:
        return parts.pop() if len(parts) == 1 else None
    key = _key(truncate(name))
    misspelt = {_slips(resource).get(key), *map(_misspellings(resource).get, _deletions(key))} - {None}
    if len(misspelt) == 1:
        return misspelt.pop()
    close = get_close_matches(key, [_key(field.name) for field in resource.fields], n=1, cutoff=_MIN_SIMILARITY)
    return known[close[0]] if close else None


def names_company(name: str) -> bool:
    """Return whether a name is that of a column of names of companies, as `brand`, and not of their identifiers."""
    return suggest_field(name, STORES) == COMPANIES.identifier and not is_identifier_name(name)


def is_house_number(name: str) -> bool:
    """Return whether a name is that of numbers of houses, which are joined with those of streets."""
    return not _HOUSE_NUMBERS.isdisjoint(_keys(truncate(name)))


def _keys(name: str) -> Iterator[str]:
    """Yield the keys that a name may be known by: that of all of it, then without what may be added to names."""
    without_remark = _REMARK.sub("", name)
    for key in (_key(name), _key(without_remark), "".join(_significant_words(without_remark))):
        yield key
        yield _PREFIX.sub("", key) or key
    yield "".join(word for word in _significant_words(name) if word not in _NAME_WORDS)


def end_of_path(path: str) -> str:
    """Return the last name in a path: `phones.0` → `phones`, `_id.$oid` → `_id`, `displayName.text` → `displayName`."""
    names = reversed(path.split("."))
    return next((name for name in names if not (name.isdecimal() or name.startswith("$") or name == "text")), "")


def _key(name: str) -> str:
    return _SEPARATORS.sub("", _plain(name).casefold())


def _plain(name: str) -> str:
    """Return a name without accents, and with `no` for the signs of numbers."""
    letters = "".join(letter for letter in normalize("NFKD", name) if not combining(letter))
    return _NUMBER_SIGN.sub("no ", letters)


def _words(name: str) -> list[str]:
    return [word.casefold() for word in _WORDS.findall(_WORD_END.sub(" ", _plain(name)))]


def _significant_words(name: str) -> Sequence[str]:
    """Return the words of a name, in lower case, without articles before others, and without words for stores."""
    found = _words(name)
    significant = [word for word in found[:-1] if word not in _ARTICLES] + found[-1:]
    return [word for word in significant if word not in _STORE_WORDS] or significant


@cache
def _known_names(resource: Resource) -> Mapping[str, str]:
    fields = [field.name for field in resource.fields]
    synonyms = {word: field for field in fields for word in _SYNONYMS.get(field, "").split()}
    synonyms |= dict.fromkeys(_IDENTIFIER_SYNONYMS.split(), resource.identifier)
    synonyms |= dict.fromkeys(_NAME_SYNONYMS[resource.name].split(), "name")
    return synonyms | {_key(field): field for field in fields}


@cache
def _misspellings(resource: Resource) -> Mapping[str, str]:
    """Return the fields by their names without any one character, if they are not short."""
    known = {key: field for key, field in _known_names(resource).items() if len(key) >= _MIN_LENGTH}
    return {each: field for key, field in known.items() for each in _deletions(key)} | known


@cache
def _slips(resource: Resource) -> Mapping[str, str]:
    """Return the fields by their short names, with two characters exchanged, or one doubled."""
    short = {key: field for key, field in _known_names(resource).items() if _SHORTEST <= len(key) < _MIN_LENGTH}
    return {slip: field for key, field in short.items() for slip in _slips_of(key)}


def _slips_of(key: str) -> Iterator[str]:
    for index, (one, next_one) in enumerate(pairwise(f"{key} ")):
        yield f"{key[:index]}{next_one}{one}{key[index + 2 :]}".strip()
        yield f"{key[:index]}{one}{key[index:]}"


def _deletions(key: str) -> Iterator[str]:
    """Yield a key, and without any one of its characters: of two keys that are one edit apart some are the same."""
    yield from (key, *(key[:index] + key[index + 1 :] for index in range(len(key) * (len(key) >= _MIN_LENGTH))))


class UnusedNames:
    """Collects the names in the files of a resource that are not fields, batch by batch."""

    def __init__(self, resource: Resource) -> None:
        self._resource = resource
        self._fields: set[str] = set()
        self._unused: dict[str, tuple[str, int | None, int]] = {}  # the first file and line, the number of records

    def add(self, batch: Batch, file: str) -> None:
        """Add the unused names of a batch of a file, and note which fields have values."""
        for field, cells in batch.columns.items():
            if field not in self._fields and cells.count(None) < len(cells):
                self._fields.add(field)
        for each in batch.unused:
            first, line, records = self._unused.get(each.name, (file, each.line, 0))
            self._unused[each.name] = first, line, records + each.records

    def warnings(self) -> Iterator[Diagnostic]:
        """Yield a warning for each unused name, at its first; call it at the end of the files."""
        for name, (file, line, records) in self._unused.items():
            field = suggest_field(name, self._resource) if records else None
            hint = "" if field is None or field in self._fields else f"; did you mean {field}?"
            why = f"not a field, so it is ignored ({counted(records, 'record')}){hint}"
            if records:
                yield Diagnostic("unused", file, line, None, truncate(name), None, why)
