"""Proposals lose nothing in silence: each column is a field, an attribute, or a line that says why it is neither."""

import json
from datetime import date
from typing import Any

import pytest

from service.model.records import STORES
from service.reading.batch import BATCH_SIZE, RecordFile
from service.reading.columns.field_names import columns_by_nearest_name
from service.reading.diagnostics import FileError
from service.reading.formats.json_file import open_json
from service.reading.mapping.mapped_records import MappedRecords
from service.reading.mapping.mapping_file import parse_mapping
from service.reading.proposal.proposal import propose_mapping
from tests.reading.mapping.record_files import RECORD, compiled, features, nested, records, table
from tests.reading.mapping.test_proposal import entries

LATE = BATCH_SIZE + 6  # records


def as_table(records: list[dict[str, str]]) -> str:
    names = list(dict.fromkeys(name for record in records for name in record))
    return "\n".join([",".join(names), *(",".join(each.get(name, "") for name in names) for each in records)])


def numbered(last: dict[str, Any], **cells: str) -> list[dict[str, Any]]:
    """Return records with some cells, of which only the last one has more."""
    found: list[dict[str, Any]] = [{**RECORD, **cells, "store_id": f"s{number}"} for number in range(LATE)]
    found[-1] |= last
    return found


@pytest.mark.parametrize("street", ["id,shop,brand,addr:street", "ref,@spider,addr:street_address"])
@pytest.mark.parametrize("location", ["lat,lon", "@lat,@lon", "Latitude,Longitude", "Y,X"])
def test_a_preset_is_completed_from_the_columns_that_are_there(street: str, location: str) -> None:
    file = table(f"{street},addr:city,addr:country,{location}\n{'7,' * street.count(',')}1 Elm St,Ada,CA,1.5,2.5")
    text = propose_mapping(file, "x.csv")
    assert "\npreset = " in text
    (store,) = compiled(text, file).stores
    assert (store["latitude"], store["longitude"]) == ("1.5", "2.5")


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["city_id", "city_name"], {"city": "city_name"}),
        (["id", "STORE-ID", "Town", "CITY", "city"], {"store_id": "STORE-ID", "city": "city"}),
        (["Ort-ID", "Ort"], {"city": "Ort"}),
        (["countryId", "Country"], {"country": "Country"}),
        (["cod_provincia", "provincia"], {"province": "provincia"}),
        (["code_commune", "nom_commune"], {"city": "nom_commune"}),
        (["brand_id", "brand_name"], {"company_id": "brand_name"}),
        (["company_id", "company_name"], {"company_id": "company_id"}),
        (["store_code", "store_name"], {"store_id": "store_code", "name": "store_name"}),
        (["country_code"], {"country": "country_code"}),
        (["Ort / Ville", "Straße | Rue", "Name (Nom)"], {"city": 0, "address_1": 1, "name": 2}),
        (["PLZ/Ort"], {}),
        (["X/Y"], {}),
        (["Address / No."], {"address_1": 0}),
        (["addresse", "telehpone", "postleitzal"], {"address_1": 0, "phone_number": 1, "postal_code": 2}),
        (["created_by", "activity", "late", "port", "religion", "place_id"], {}),
    ],
)
def test_the_column_that_is_meant_is_taken(names: list[str], chosen: dict[str, str | int]) -> None:
    expected = {field: name if isinstance(name, str) else names[name] for field, name in chosen.items()}
    assert columns_by_nearest_name(names, paths=False) == expected


@pytest.mark.parametrize("form", ["csv", "json"])
def test_a_column_whose_first_records_have_no_value_is_proposed(form: str) -> None:
    last = {"zip": "01234", "lat": "40.5", "lng": "-90.5", "floor area": "12", "note": "x"}
    records = numbered(last)
    file = table(as_table(records)) if form == "csv" else nested(records)
    text = propose_mapping(file, "x")
    (store,) = (each for each in compiled(text, file).stores if each["postal_code"])
    assert (store["postal_code"], store["latitude"], store["longitude"]) == ("01234", "40.5", "-90.5")
    assert entries(text)["floor_area"].startswith('{ from = "floor area", kind = "number", invalid = "null"')
    assert "note" in entries(text)
    assert 'decimal = ","\n' in propose_mapping(nested(numbered({"lat": "40,5", "lng": "-90,5"})), "x")


def test_nested_members_that_only_later_records_have_are_proposed() -> None:
    last = {"geo": {"lat": 40.5, "lng": -90.5}, "contact": {"phone": "555-0100"}, "tags": ["a"]}
    records = [{**each, "contact": {"fax": "1"}, "tags": []} | each for each in numbered(last)]
    file = nested(records)
    text = propose_mapping(file, "x")
    (store,) = (each for each in compiled(text, file).stores if each["latitude"])
    assert (store["latitude"], store["longitude"], store["phone_number"]) == ("40.5", "-90.5", "555-0100")
    assert entries(text)["tags"] == '{ from = "tags", kind = "list", invalid = "null", optional = true }'


def test_a_later_nested_number_that_no_double_holds_is_proposed_as_any_other() -> None:
    text = json.dumps(numbered({"geo": {"height": "?"}})).replace('"?"', "1e999")
    assert "geo.height" in propose_mapping(open_json(text.encode()), "x")


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ("17", "0017", '{ from = "zz", invalid = "null" }  # record 1,030 has "0017"'),
        ("17", "n/a", '{ from = "zz", kind = "number", invalid = "null" }'),
        ("17", "18.5", '{ from = "zz", kind = "number", invalid = "null" }'),
        ("2024-05-31", "unknown yet", '{ from = "zz", invalid = "null" }  # record 1,030 has "unknown yet"'),
        ("05.06.2024", "31.05.2024", '{ from = "zz", kind = "date", date = "dd.mm.yyyy", invalid = "null" }'),
        ("yes", "maybe", '{ from = "zz", invalid = "null" }  # record 1,030 has "maybe"'),
        ("https://a.example", "none", '{ from = "zz", invalid = "null" }  # record 1,030 has "none"'),
    ],
)
def test_a_later_value_that_contradicts_a_kind_takes_it_back(first: str, last: str, expected: str) -> None:
    found = entries(propose_mapping(table(as_table(numbered({"zz": last}, zz=first))), "x"))["zz"]
    assert found.startswith(expected)


def test_semicolons_of_character_references_separate_no_lists() -> None:
    text = "store_id,company_id,address_1,city,country,note,services\ns1,c1,x,Ada,CA,Bar &amp; Grill,wifi;atm"
    found = entries(propose_mapping(table(text), "x"))
    assert (found["note"], "list" in found["services"]) == ('{ from = "note", invalid = "null" }', True)


def test_numbers_of_a_column_of_codes_stay_texts() -> None:
    text = "store_id,company_id,address_1,city,country,article code,plz2,size\ns1,c1,1 Elm St,Ada,CA,17,18,19"
    found = entries(propose_mapping(table(text), "x"))
    assert found["article_code"] == '{ from = "article code", invalid = "null" }'
    assert found["size"] == '{ from = "size", kind = "number", invalid = "null" }'


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("A,1 Elm St,Ada,1\nB,1 Elm St,Ada,1", "name"),
        ("A,1 Elm St,Ada,1\nA,2 Elm St,Ada,1\nB,1 Elm St,Ada,1", "name|address"),
        ("A,1 Elm St,Ada,1\nA,2 Elm St,Ada,1\nA,1 Elm St,Ulm,1\nB,1 Elm St,Ada,1", "name|address|city"),
        ("A,,Ada,1\nA,,Ada,2\n,,,", "postal"),
    ],
)
def test_the_shortest_distinct_join_identifies_stores_that_no_column_does(rows: str, expected: str) -> None:
    file = table(f"name,address,city,postal\n{rows}")
    text = propose_mapping(file, "x.csv").replace('constant = ""', 'constant = "CA"')
    columns = expected.split("|")
    joined = f'"{expected}"' if len(columns) == 1 else f'{{ join = {json.dumps(columns)}, separator = "|" }}'
    assert entries(text)["store_id"].startswith(joined)
    assert len({each["store_id"] for each in compiled(text, file).stores}) == len(rows.strip(",\n").split("\n"))


@pytest.mark.parametrize(
    ("header", "rows", "store_id", "name"),
    [
        ("clinic_id,clinic_name", "7,A;8,A", "clinic_id", "clinic_name"),
        ("Market Name,Market ID", "A,7;A,8", "Market ID", "Market Name"),
        ("clinic_id,clinic_name", "7,A;7,B", "address", None),  # not distinct
        ("clinic_id,clinic_name", "7,A;,B", "address", None),
        ("clinic_id,clinics", "7,A;8,B", "address", None),
        ("clinic_id,clinic_name,clinic_name_id", "7,A,5;8,B,5", "clinic_id", "clinic_name"),
        ("brand_id,brand_name", "7,A;8,B", "address", None),
        ("parent_brand_id,parent_brand_name", "7,A;8,B", "address", None),
        ("manager_id,manager_name,name", "7,A,X;8,B,Y", "name", "name"),
    ],
)
def test_an_identifier_beside_a_name_identifies_stores(header: str, rows: str, store_id: str, name: str | None) -> None:
    cells = "\n".join(f"{row},{number} Elm St" for number, row in enumerate(rows.split(";")))
    found = entries(propose_mapping(table(f"{header},address\n{cells}"), "x"))
    assert (found["store_id"].partition("  #")[0], found.get("name")) == (f'"{store_id}"', name and f'"{name}"')


def test_an_identifier_that_a_later_record_repeats_identifies_no_stores() -> None:
    rows = [{"clinic_id": str(n), "clinic_name": "A", "address": f"{n} Elm St"} for n in range(LATE)]
    found = entries(propose_mapping(table(as_table([*rows, {**rows[0], "address": "1 Main St"}])), "x"))
    assert found["store_id"].startswith('"address"')


def test_columns_that_say_yes_and_no_name_no_company() -> None:
    text = propose_mapping(table("id,chain,brand,company\n1,yes,On,no\n2,no,On,yes"), "x")
    assert entries(text)["company_id"] == '"brand"'
    assert "[companies.fields]" not in text
    found = entries(propose_mapping(table("id,company_id\n1,0\n2,1"), "x"))
    assert found["company_id"] == '"company_id"'


def test_a_file_without_a_distinct_join_says_which_records_are_alike() -> None:
    text = propose_mapping(table("name,address,lat,lon\nA,1 Elm St,1.5,2.5\nB,x,1,2\nA,1 Elm St,1.6,2.6"), "x")
    why = '# No join of up to 3 of "name", "address" is distinct: see records 1 and 3.'
    assert f'{why}\nstore_id = {{ constant = "" }}' in text


@pytest.mark.parametrize(
    ("records", "entry", "served"),
    [
        (["DE,1067", "Germany,10115"], '{ from = "plz", pad = 5 }  # leading zeros seem to be missing', "01067"),
        (["DE,01067", "DE,10115"], '"plz"', "01067"),
        (["DE,1067", "CH,8001"], '"plz"', "1067"),
        (["XX,1067", "XX,8001"], '"plz"', "1067"),
        (["DE,1067", "DE,7"], '"plz"', "1067"),
    ],
)
def test_zeros_that_postal_codes_lost_are_put_back_if_proven(records: list[str], entry: str, served: str) -> None:
    rows = "\n".join(f"s{number},b,x,y,{each}" for number, each in enumerate(records))
    file = table(f"id,brand,street,town,land,plz\n{rows}")
    text = propose_mapping(file, "x.csv")
    assert entries(text)["postal_code"] == entry
    assert compiled(text, file).stores[0]["postal_code"] == served


def test_numbers_of_rows_do_not_identify_stores() -> None:
    text = "#,name,address,city,country\n{},A,1 Elm St,Ada,CA\n{},A,2 Elm St,Ada,CA"
    assert entries(propose_mapping(table(text.format(1, 2)), "x"))["store_id"].startswith('"address"')
    assert entries(propose_mapping(table(text.format(7, 2)), "x"))["store_id"] == '"#"'


def test_a_repair_that_only_later_records_need_is_proposed() -> None:
    text = propose_mapping(table(as_table(numbered({"address_1": "1 Main \x96 rear", "city": "Caf&eacute;"}))), "x")
    assert '[stores]\nrepair = ["windows-1252"]  # ["entities", "windows-1252"] if these' in text
    text = propose_mapping(table(as_table(numbered({"city": "Ulm "}))), "x")
    assert "[stores]\ntrim = true\n" in text
    text = propose_mapping(nested(numbered({"city": "MÃ¼nchen"})), "x")
    assert '[stores]\n# repair = ["utf-8-twice"]  # ' in text


def test_arrays_of_which_only_the_first_element_is_read_are_named() -> None:
    record = {**RECORD, "phones": [{"phone": "1"}, {"phone": "2"}], "tags": ["a", "b"], "mails": [{"mail": "a@b.c"}]}
    text = propose_mapping(nested([record]), "x")
    assert '\n# Only the first element of these arrays is read: "phones".\n' in text


@pytest.mark.parametrize(
    ("cells", "latitude", "comment"),
    [
        ("59.91N,10.75O", '{ from = "lat", point = "degrees" }', '"lon"  # "10.75O" is no decimal, and served as text'),
        ("59.91,10.75", '"lat"', '"lon"'),
    ],
)
def test_letters_of_hemispheres_that_are_not_known_are_not_guessed(cells: str, latitude: str, comment: str) -> None:
    found = entries(propose_mapping(table(f"id,address,city,country,lat,lon\n1,x,y,IT,{cells}"), "x"))
    assert (found["latitude"], found["longitude"]) == (latitude, comment)


def test_names_in_objects_are_taken_before_identifiers_beside_them() -> None:
    city, country = {"code": "ADA", "name": "Ada"}, {"name": "Norge", "short": "NO"}
    address = {"line1": "1 Elm St", "city_id": 4, "city": city, "country": country}
    record = {"id": 1, "brand_id": 3, "brand": {"id": 3, "title": "Acme"}, "address": address}
    file = nested([record])
    text = propose_mapping(file, "x")
    found = entries(text)
    fields = ["store_id", "company_id", "address_1", "city", "country"]
    columns = ["id", "brand.title", "address.line1", "address.city.name", "address.country.name"]
    assert [found[field] for field in fields] == [f'"{column}"' for column in columns]
    assert "flag" not in found["address_country_short"]
    assert "name" not in found
    assert [each["name"] for each in compiled(text, file).companies] == ["Acme"]


def test_columns_that_are_not_proposed_have_a_line_that_says_why() -> None:
    record: dict[str, Any] = {**RECORD, "tags": {}, "empty": None, "geo": {"lat": "1.5", "lng": "2.5"}}
    text = propose_mapping(nested([record, {**record, "store_id": "t"}]), "x")
    assert '\n# No record has a value: "empty".\n# Arrays and objects are no values: "tags".\n' in text
    text = propose_mapping(table(f"store_id,,{'x' * 300}\n1,2,3"), "x")
    assert f'\n# The name is too long: "{"x" * 50}…".\n# 1 column without a name: ' in text


AS_OF = date(2024, 6, 1)


def flag(file: RecordFile) -> str | None:
    return entries(propose_mapping(file, "x.csv")).get("is_open")


def are_open(text: str, file: RecordFile) -> list[object]:
    batches = MappedRecords(file, parse_mapping(text.encode()).stores, STORES, as_of=AS_OF).batches()
    return [cell for batch in batches for cell in batch.columns["is_open"]]


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        ("offen|vorübergehend geschlossen", '{ "offen" = true, "vorübergehend geschlossen" = false }'),
        ("open|temporarily closed|CLOSED_PERMANENTLY", '{ "open" = true, "temporarily closed" = false, '),
        ("open|im Umbau|closed", '{ "open" = true, "im Umbau" = "", "closed" = false }'),
        ("im Umbau|wegen Umbau geschlossen", '{ "im Umbau" = "", "wegen Umbau geschlossen" = "" }'),
        ("closed|moved", '{ "closed" = false, "moved" = "" }'),
    ],
)
def test_a_column_with_a_word_for_closed_is_proposed_whatever_its_other_words(texts: str, values: str) -> None:
    file = records(Zustand=texts)
    text = propose_mapping(file, "x.csv")
    assert f'\nis_open = {{ from = "Zustand", values = {values}' in text
    if '""' not in values:
        assert False in are_open(text, file)


def test_the_proposal_is_invalid_until_each_unknown_word_has_a_meaning() -> None:
    file = records(Status="offen|geschlossen|im Umbau")
    text = propose_mapping(file, "x.csv")
    assert (
        '\n# To do: give "im Umbau" in "Status" the value true (open) or false (closed).'
        " The mapping is invalid until then.\n"
    ) in text
    with pytest.raises(FileError, match=r"^stores\.fields\.is_open\.values\.im Umbau: empty: give it true or false$"):
        parse_mapping(text.encode())
    assert are_open(text.replace('""', "false"), file) == [True, False, False]


def test_many_unknown_words_are_asked_for_at_once() -> None:
    texts = [f"Bemerkung {letter}" for letter in "abcdefghijkl"]
    file = records(Hinweis="|".join([*texts, "geschlossen"]))
    text = propose_mapping(file, "x.csv")
    assert '\n# To do: "Hinweis" has 12 other texts, such as "Bemerkung a": give other the value true (open)' in text
    assert '\nis_open = { from = "Hinweis", values = { "geschlossen" = false }, other = "" }' in text
    with pytest.raises(FileError, match=r"^stores\.fields\.is_open\.other: empty: give it true or false$"):
        parse_mapping(text.encode())
    assert are_open(text.replace('""', "true"), file) == [True] * 12 + [False]


def test_the_column_with_the_fewest_unknown_words_is_taken() -> None:
    found = flag(records(Notiz="geschlossen|neu", Status="geschlossen|offen"))
    assert found == '{ from = "Status", values = { "geschlossen" = false, "offen" = true } }  # found by its values'


def test_free_text_and_opening_hours_are_no_flags() -> None:
    assert flag(records(Zeiten="Mo-Fr 9-17, So geschlossen|sonntags geschlossen|nie geschlossen")) is None
    assert flag(records(Text="|".join([*(f"Text {number}" for number in range(200)), "closed"]))) is None


def test_words_for_closed_win_over_a_name_with_other_values() -> None:
    file = records(Open="9-17|10-18", Status="geschlossen|offen")
    text = propose_mapping(file, "x.csv")
    assert '\nis_open = { from = "Status", values = { "geschlossen" = false, "offen" = true } }' in text
    assert '\n# opening_hours = { from = "Open", kind = "hours", ' in text
    found = flag(records(Open="ja|nein", Status="geschlossen|offen"))
    assert found == '{ from = "Open", values = { "ja" = true, "nein" = false } }'


def test_states_are_flags_if_all_words_are_known() -> None:
    expected = '{ from = "Status", values = { "aktiv" = true, "inaktiv" = false } }  # found by its values'
    assert flag(records(Status="aktiv|inaktiv")) == expected
    assert flag(records(Newsletter="aktiv|inaktiv")) is None
    assert flag(records(Status="aktiv|neu")) is None
    assert flag(records(Status="|")) is None


@pytest.mark.parametrize(
    ("name", "texts", "entry"),
    [
        ("Closed", "yes|no", '{ from = "Closed", values = { "yes" = false, "no" = true } }'),
        ("geschlossen", "x|", '{ from = "geschlossen", values = { "x" = false } }'),
        ("Closed", "yes|moved|no", '{ from = "Closed", values = { "yes" = false, "moved" = "", "no" = true } }'),
        ("shut on", "May|June", '{ from = "shut on", other = false, default = true }  # any text means closed'),
        ("Close Date", "31.05.2024|", '{ closing_date = "Close Date", date = "dd.mm.yyyy" }'),
        ("closed_on", "2024-05-31|2024-06-01", '{ closing_date = "closed_on" }'),
        ("end_date", "2024-05-31|yes", '{ closing_date = "end_date", values = { "yes" = false } }'),
        ("end_date", "2024-05-31|soon", '{ closing_date = "end_date", values = { "soon" = "" } }'),
        ("Schließungsdatum", "|", None),
    ],
)
def test_a_column_named_like_a_closing_makes_is_open(name: str, texts: str, entry: str | None) -> None:
    assert flag(records(**{name: texts})) == entry


def test_flags_of_closed_stores_are_inverted() -> None:
    file = features(*({**RECORD, "store_id": f"{closed}", "isClosed": closed} for closed in (True, False)))
    text = propose_mapping(file, "x.geojson")
    assert entries(text)["is_open"] == '{ from = "isClosed", values = { "true" = false, "false" = true } }'
    assert are_open(text, file) == [False, True]


def test_closing_dates_are_beside_a_column_of_flags() -> None:
    file = records(Geöffnet="ja|ja|nein", Schließungsdatum="31.05.2024||")
    text = propose_mapping(file, "x.csv")
    assert (
        '\nis_open = { from = "Geöffnet", values = { "ja" = true, "nein" = false },'
        ' closing_date = "Schließungsdatum", date = "dd.mm.yyyy" }\n'
    ) in text
    assert "[stores.attributes]" not in text
    assert are_open(text, file) == [False, True, False]


def test_values_of_two_columns_are_not_mixed() -> None:
    file = records(is_open="yes|no", **{"Closed on": "2024-05-31|unclear"})
    text = propose_mapping(file, "x.csv")
    assert entries(text)["is_open"] == '"is_open"'
    assert '\n# closed_on = { from = "Closed on", invalid = "null" }\n' in text
    assert flag(records(is_open="yes|no", Closed="no|yes")) == '"is_open"'


def test_ambiguous_closing_dates_are_asked_for() -> None:
    text = propose_mapping(records(**{"Closed on": "05.06.2024|"}), "x.csv")
    assert (
        '\n# Which format is "05.06.2024" in? The first records do not show it. Keep one of these lines:\n'
        '# is_open = { closing_date = "Closed on", date = "dd.mm.yyyy" }\n'
        '# is_open = { closing_date = "Closed on", date = "mm.dd.yyyy" }\n'
    ) in text
    text = propose_mapping(records(is_open="yes|", **{"Closed on": "05.06.2024|"}), "x.csv")
    assert '# is_open = { from = "is_open", closing_date = "Closed on", date = "mm.dd.yyyy" }\n' in text
    assert '\nis_open = "is_open"\n' in text


def test_another_column_proves_the_format_of_closing_dates() -> None:
    file = records(Status="open|closed", created_at="31.05.2010|", **{"Closed on": "05.06.2024|"})
    assert flag(file) == (
        '{ from = "Status", values = { "open" = true, "closed" = false }, closing_date = "Closed on",'
        ' date = "dd.mm.yyyy" }  # found by its values; closing dates as "created_at" proves'
    )
    file = records(created_at="31.05.2010|", Inspected="12.31.2010|", **{"Closed on": "05.06.2024|"})
    assert 'Which format is "05.06.2024" in?' in propose_mapping(file, "x.csv")


def test_a_preset_without_flags_gets_those_of_the_file() -> None:
    header = "Store code,Business name,Address line 1,Locality,Country / Region,Status,Closing date"
    file = table(f"{header}\n1,Lark,Am Hang 1,Ulm,DE,Open,\n2,Lark,Am Hang 2,Ulm,DE,Permanently closed,2020-01-01")
    text = propose_mapping(file, "locations.csv")
    assert text.endswith(
        '\npreset = "google-business-profile"\n\n[stores.fields]\nis_open = { from = "Status",'
        ' values = { "Open" = true, "Permanently closed" = false }, closing_date = "Closing date" }'
        "  # found by its values\n"
    )
    assert are_open(text, file) == [True, False]
