"""Columns are the fields that they are named like; others have a warning, with the field that is probably meant."""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

import pytest

from service.loading.dataset import Loaded
from service.model.records import COMPANIES, STORES
from service.reading.batch import BATCH_SIZE
from service.reading.columns.field_names import MAX_UNUSED, columns_by_name, describe_renamed, suggest_field
from service.reading.diagnostics import FileError
from service.reading.formats.csv_file import open_csv
from service.reading.mapping.declaration import NO_MAPPING
from service.reading.mapping.mapped_records import MappedRecords, has_columns
from tests.loading.data_files import (
    COMPANY_FIELDS,
    REQUIRED,
    STORE_FIELDS,
    Record,
    as_csv,
    as_json,
    as_lines,
    company,
    load_companies,
    load_stores,
    refusal,
    rows,
    store,
)

Reported = tuple[int | None, str | None, str]


def unused(loaded: Loaded) -> list[Reported]:
    """Return the line, the name and the reason of each warning of a name that is not a field."""
    found = [each for each in loaded.report.warnings if each.code == "unused"]
    assert all((each.record, each.value) == (None, None) for each in found)
    return [(each.line, each.field, each.why) for each in found]


def hints(loaded: Loaded) -> dict[str | None, str]:
    return {name: why.partition("did you mean ")[2].rstrip("?") for _, name, why in unused(loaded)}


def test_each_column_that_is_not_a_field_has_a_warning_with_a_suggestion(tmp_path: Path) -> None:
    columns = [*REQUIRED, "store_name", "state", "zip", "lat", "lng", "open"]
    loaded = load_stores(tmp_path, b"\n" + as_csv([store("s1", open="no"), store("s2")], columns))
    ignored = "not a field, so it is ignored (2 records); did you mean"
    fields = ["name", "province", "postal_code", "latitude", "longitude", "is_open"]
    meant = zip(columns[5:], fields, strict=True)
    assert unused(loaded) == [(2, name, f"{ignored} {field}?") for name, field in meant]
    assert loaded.report.errors == []
    assert len(rows(loaded)) == 2


@pytest.mark.parametrize(
    ("names", "field"),
    [
        ("id ID storeId STORE_NUMBER store-no StoreCode location_id ref", "store_id"),
        ("company brand CompanyID", "company_id"),
        ("Name store store_name storeName title", "name"),
        ("address Address street street_address addr:street addressLine1 adress_1", "address_1"),
        ("address2 address_line_2 suite", "address_2"),
        ("uuid GUID objectid Handle", "store_id"),
        ("nmae tilte", "name"),
        ("City town addr:city locality citty", "city"),
        ("state State region provice state_code county", "province"),
        ("Country country_code addr:country contry Lannd", "country"),
        ("zip ZIP zip_code zipcode postcode postal postalCode plz addr:postcode", "postal_code"),
        ("phone Phone tel telephone contact:phone phone_no phonenumber phnoe", "phone_number"),
        ("open isOpen active", "is_open"),
        ("lat Lat lattitude geo_lat", "latitude"),
        ("lng lon long longtitude geo.lon", "longitude"),
        ("created createdAt date_created", "created_at"),
        ("updated updatedAt last_modified lastUpdated", "updated_at"),
        ("parent parent_company parent_id", "parent_company_id"),
        ("Filial-Nr. Filialnummer Nr shop_id StandortID", "store_id"),
        ("Straße Strasse Straße_Nr. Anschrift addr:straße", "address_1"),
        ("Ort Stadt ville Ciudad", "city"),
        ("Land pays", "country"),
        ("PLZ Postleitzahl code_postal", "postal_code"),
        ("Breite Breitengrad latitud", "latitude"),
        ("Länge Längengrad", "longitude"),
        ("geöffnet Ouvert", "is_open"),
        ("Eröffnet Eröffnet-am date_opened", "created_at"),
        ("Store_# # Shop-#", "store_id"),
        ("geöffnet_(Ja/Nein) Open?", "is_open"),
        ("Latitude_(WGS84) GPS-Breite geogr._Breite", "latitude"),
        ("Land/Region Country/Region", "country"),
        ("Zuletzt_geändert last_update", "updated_at"),
        ("N° magasin; Nº de magasin; N°; № ; Numéro du magasin; Code magasin; Identifiant", "store_id"),
        ("idImpianto; ID_IMPIANTO; Codice Punto Vendita; Codice impianto", "store_id"),
        ("Nom du magasin; Libellé; Nom_boutique; Magasin; Point de vente", "name"),
        ("Nome Impianto; nomeImpianto; Denominazione; Nombre de la tienda; Name of the shop", "name"),
        ("Enseigne; Raison sociale; Gestore; Insegna; Ragione Sociale; Rótulo", "company_id"),
        ("Adresse; Adresse du magasin; L\u2019adresse; Voie; Indirizzo; Dirección", "address_1"),
        ("Complément d'adresse; Complément d\u2019adresse; complement_adresse", "address_2"),
        ("Ville; La ville; Commune; Comune; Città; Localité", "city"),
        ("Département; Région; Provincia; Prov.; Regione", "province"),
        ("Pays; Paese; Nazione", "country"),
        ("Code postal; CodePostal; Codice postale; CAP", "postal_code"),
        ("Téléphone; Tél.; Numéro de téléphone; N° de téléphone; Telefono", "phone_number"),
        ("Latitude; Latitudine", "latitude"),
        ("Longitudine", "longitude"),
        ("Date d'ouverture; Date de création; Data apertura; Fecha de apertura", "created_at"),
        ("Date de mise à jour; Dernière mise à jour", "updated_at"),
    ],
)
def test_common_names_in_some_languages_and_typos_get_a_suggestion(names: str, field: str) -> None:
    found = {name: suggest_field(name, STORES) for name in names.split("; " if ";" in names else None)}
    assert found == dict.fromkeys(found, field)


HOUSE_NUMBERS = ["house_number", "addr:housenumber", "Hausnummer", "Numéro de rue", "N° de voie", "Numero civico"]
OTHERS = ["", "email", "Email du magasin", "hours", "fax", "website", "rating", "created_by", "lang", "type"]
NO_FIELDS = {
    "articles and words for stores": ["de la", "Le", "°", "Ouvert le", "Type de magasin", "Tipo Impianto", "Bandiera"],
    "unlike any field": [*OTHERS, "x" * 10**6, "店舗", "@spider"],
    "numbers of houses": HOUSE_NUMBERS,
    "another letter in a short name": ["score", "seats", "stage"],
    "another letter in a short name, and two exchanged": ["cash_in"],
}


@pytest.mark.parametrize("names", NO_FIELDS.values(), ids=NO_FIELDS)
def test_a_name_that_is_no_field_gets_no_suggestion(names: Sequence[str]) -> None:
    assert {name: suggest_field(name, STORES) for name in names} == dict.fromkeys(names)


def test_common_names_of_company_fields_get_a_suggestion() -> None:
    for field, names in {"company_id": "id", "name": "company company_name", "domain": "website URL"}.items():
        assert {suggest_field(name, COMPANIES) for name in names.split()} == {field}


def test_a_field_that_the_file_has_is_not_suggested(tmp_path: Path) -> None:
    columns = [*REQUIRED, "province", "state", "zip"]
    assert hints(load_stores(tmp_path, as_csv([store()], columns))) == {"state": "", "zip": "postal_code"}
    records = [store("s1", state="ON", zip="1"), store("s2", province="ON", postal_code=None)]
    loaded = load_stores(tmp_path, as_lines(records), "stores.jsonl")
    assert hints(loaded) == {"state": "", "zip": "postal_code"}


def test_a_column_has_one_warning_for_all_batches(tmp_path: Path) -> None:
    records = [store(f"s{number}", more="x") for number in range(2 * BATCH_SIZE + 1)]
    loaded = load_stores(tmp_path, as_csv([*records, records[0]], [*REQUIRED, "more"]))
    assert unused(loaded) == [(1, "more", f"not a field, so it is ignored ({2 * BATCH_SIZE + 2:,} records)")]


def test_a_header_without_records_has_no_warning(tmp_path: Path) -> None:
    assert load_stores(tmp_path, as_csv([], [*REQUIRED, "more"])).report.warnings == []


def spread(number: int) -> Record:
    """Return a store with members that are not fields: one in each, one in a few, one in a single one far behind."""
    others: Record = {"Zip": {"code": [1, 2]}} | ({"é": None} if number % 1_000 == 7 else {})
    return store(f"s{number}", name="" if number % 2 else "x") | others | ({"late": 0} if number == 2_500 else {})


@pytest.mark.parametrize("name", ["stores.json", "stores.jsonl"])
def test_every_json_member_that_is_not_a_field_is_counted(tmp_path: Path, name: str) -> None:
    records = [spread(number) for number in range(3_000)]
    content = as_lines(records) if name.endswith("jsonl") else b"[" + b"\n,".join(map(as_json, records)) + b"]"
    loaded = load_stores(tmp_path, content, name)
    assert unused(loaded) == [
        (1, "Zip", "not a field, so it is ignored (3,000 records); did you mean postal_code?"),
        (8, "é", "not a field, so it is ignored (3 records)"),
        (2_501, "late", "not a field, so it is ignored (1 record)"),
    ]
    assert loaded.report.errors == []
    assert len(rows(loaded)) == 3_000


def test_members_of_invalid_records_are_counted(tmp_path: Path) -> None:
    records: list[object] = [store("s1", name=[5], more=1), 7, store("s2", city="", more=[2]), store("s3", more=None)]
    loaded = load_stores(tmp_path, as_lines(records), "stores.jsonl")
    assert [(error.code, error.record, error.field) for error in loaded.report.errors] == [
        ("type", 1, "name"), ("type", 2, None), ("missing", 3, "city")
    ]  # fmt: skip
    assert unused(loaded) == [(1, "more", "not a field, so it is ignored (3 records)")]


def test_the_number_of_warned_names_is_limited_and_all_records_are_read(tmp_path: Path) -> None:
    names = [f"n{number}" for number in range(3 * BATCH_SIZE)]
    records = [store(name, city="" if name == "n9" else "Ada") | {name: 1} for name in names]
    loaded = load_stores(tmp_path, as_lines(records), "stores.jsonl")
    assert [name for _, name, _ in unused(loaded)] == names[:MAX_UNUSED]
    assert (len(rows(loaded)), [error.line for error in loaded.report.errors]) == (len(names) - 1, [10])
    loaded = load_stores(tmp_path, as_csv([store()], [*REQUIRED, *names]))
    assert [name for _, name, _ in unused(loaded)] == names[:MAX_UNUSED]


@pytest.mark.parametrize("name", ['a"b', "a\\b", "a\nb", "\x00"])
def test_a_member_name_that_cannot_be_learned_is_ignored(tmp_path: Path, name: str) -> None:
    records = [store(f"s{number}") | {name: 1, "more": 2} for number in range(BATCH_SIZE + 2)]
    loaded = load_stores(tmp_path, as_lines(records), "stores.jsonl")
    assert unused(loaded) == [(1, "more", f"not a field, so it is ignored ({BATCH_SIZE + 2:,} records)")]
    assert len(rows(loaded)) == len(records)


@pytest.mark.parametrize("name", ["unused_0", "unused_1", "__class__", " ", "x" * 300])
def test_any_other_member_name_is_reported(tmp_path: Path, name: str) -> None:
    records = [store(f"s{number}") | {name: 1, "z": 2} for number in range(2)]
    loaded = load_stores(tmp_path, as_lines(records), "stores.jsonl")
    assert [reported for _, reported, _ in unused(loaded)] == [name if len(name) < 200 else name[:200] + "…", "z"]


@pytest.mark.parametrize(
    ("name", "shown"), [("", "''"), ("a\nb", r"'a\nb'"), ("\x1b[2J", r"'\x1b[2J'"), ("\u202e", r"'\u202e'")]
)
def test_a_name_is_printed_in_one_line_whatever_it_is(tmp_path: Path, name: str, shown: str) -> None:
    (warning,) = load_stores(tmp_path, as_csv([store() | {name: "x"}], [*REQUIRED, name])).report.warnings
    assert str(warning) == f"stores.csv:1: {shown}: not a field, so it is ignored (1 record)"


def test_both_files_are_checked_for_unused_names(tmp_path: Path) -> None:
    loaded = load_companies(tmp_path, as_csv([company(website="a")], [*COMPANY_FIELDS[:2], "website"]))
    assert hints(loaded) == {"website": "domain"}
    assert load_companies(tmp_path, as_csv([company()], COMPANY_FIELDS)).report.warnings == []
    for stores in (as_csv([store()]), as_csv([store()], STORE_FIELDS[::-1])):
        assert load_stores(tmp_path, stores).report.warnings == []


def test_invalid_json_after_an_unknown_member_is_refused_at_its_line(tmp_path: Path) -> None:
    def lines(*broken: bytes) -> Iterable[bytes]:
        return [as_json(store("s1")), *broken, as_json(store("s2")), b""]

    for broken in (b'{"zip": 1, "x": nul}', b'{"zip": "\\ud800"}', b'{"zip": ' + b"[" * 10_000):
        assert refusal(load_stores(tmp_path, b"\n".join(lines(broken)), "stores.jsonl")).line == 2


def store_columns(names: Sequence[str]) -> dict[str, str]:
    """Return the columns of the fields of stores."""
    return columns_by_name(names, STORES, STORE_FIELDS)


SAME = ["Store ID", "store-id", "STORE_ID", "StoreId", " store id ", "store\u00a0id", "store - id", "_store_ID"]
DIFFERENT = ["store.id", "store:id", "store/id", "stores_id", "id", "", "store_id\u200b"]


@pytest.mark.parametrize("name", [*SAME, *DIFFERENT])
def test_only_case_spaces_underscores_and_hyphens_do_not_matter(name: str) -> None:
    assert store_columns([name]) == ({"store_id": name} if name in SAME else {})


def test_the_exact_name_wins(tmp_path: Path) -> None:
    assert store_columns(["City", "city", "CITY"]) == {"city": "city"}
    loaded = load_stores(tmp_path, as_csv([store(City="Bo", CITY="By")], [*STORE_FIELDS, "City", "CITY"]))
    assert b'"city":"Ada"' in rows(loaded)[0]
    assert [warning.field for warning in loaded.report.warnings] == ["City", "CITY"]


HUMAN = ["Store ID", *REQUIRED[1:]]


def test_two_columns_alike_are_refused_and_both_named(tmp_path: Path) -> None:
    error = refusal(load_stores(tmp_path, as_csv([], [*HUMAN, "Postal-Code", "x", "POSTAL CODE"])))
    assert error.line == 1
    assert error.why == '"Postal-Code" and "POSTAL CODE" are both columns of postal_code: rename one'


@pytest.mark.parametrize("others", [["Postal-Code"], ["CITY ", "Postal-Code", "POSTAL CODE"], ["geometry.latitude"]])
@pytest.mark.parametrize("delimiter", [b",", b";"])
def test_names_are_exact_in_csv_if_all_required_ones_are(tmp_path: Path, others: list[str], delimiter: bytes) -> None:
    records = [store(**dict.fromkeys(others, "1"))]
    loaded = load_stores(tmp_path / "loaded", as_csv(records, [*REQUIRED, *others]).replace(b",", delimiter))
    strict = load_stores(tmp_path / "strict", as_csv([store()], REQUIRED))
    assert rows(loaded) == rows(strict)
    assert [(each.code, each.field) for each in loaded.report.warnings] == [("unused", name) for name in others]


def test_missing_columns_are_refused_at_the_line_of_the_names() -> None:
    with pytest.raises(FileError) as refused:
        MappedRecords(open_csv(b"\n;\nStore ID;company_id;Town;Address 1\n"), NO_MAPPING, STORES)
    hint = "; `store-directory mapping` proposes a mapping of other columns, `--mapping` uses it"
    assert (refused.value.line, refused.value.why) == (3, f"missing columns: city (rename 'Town'?), country{hint}")
    with pytest.raises(FileError, match=r"^missing columns: company_id, name$"):  # mappings are proposed for stores
        MappedRecords(open_csv(b"domain\n"), NO_MAPPING, COMPANIES)


FEATURE = ["feature.id", "geometry.latitude", "geometry.longitude"]


def test_the_identifier_and_the_location_of_a_feature_are_taken_if_no_column_is_named_like_them() -> None:
    taken = dict(zip(["store_id", "latitude", "longitude"], FEATURE, strict=True))
    assert store_columns(FEATURE) == taken
    assert store_columns([*FEATURE, "Store ID"]) == taken | {"store_id": "Store ID"}
    assert store_columns([*FEATURE, "Latitude"]) == {"store_id": "feature.id", "latitude": "Latitude"}
    assert columns_by_name(FEATURE, COMPANIES, COMPANY_FIELDS) == {}


def test_what_is_renamed_is_one_printable_line() -> None:
    names = [f"City{' ' * 300}", "COUN\x1bTRY", "country\n", "store_id"]
    (line,) = describe_renamed(store_columns(names))
    assert line.isprintable()
    assert line.endswith('country\\n" → country')
    assert len(line) < 300
    assert describe_renamed({"city": "city"}) == []


def test_required_columns_that_are_there_twice_are_not_found() -> None:
    found = partial(has_columns, mapping=NO_MAPPING, resource=STORES)
    assert found(REQUIRED)
    assert not found([*HUMAN[:-1], "Country", "COUNTRY"])
    assert not found(REQUIRED[:-1])
