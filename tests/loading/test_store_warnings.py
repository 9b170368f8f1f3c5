"""Warnings about all stores together, with a count and an example."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from service.loading.dataset import Loaded, load, notes
from service.sampling.reference_data import COUNTRIES, read_gazetteer
from service.sampling.sample_dataset import write_sample
from tests.loading.data_files import DERIVED, Record, as_csv, as_lines, dataset, load_files, load_stores, store

ROOT = Path(__file__).parents[2]
KIEL = {"country": "DE", "latitude": "54.3", "longitude": "10.1"}
BONN = {"country": "DE", "latitude": "50.7", "longitude": "7.1"}
ROME = {"country": "IT", "latitude": "41.9", "longitude": "12.5"}


def stores(*fields: Mapping[str, object]) -> Sequence[Record]:
    """Return stores s1, s2, …, with these fields."""
    return [store(f"s{number}", **each) for number, each in enumerate(fields, 1)]


def load_all(folder: Path, *fields: Mapping[str, object]) -> Loaded:
    return load_stores(folder, as_csv(stores(*fields)))


def shown(folder: Path, *fields: Mapping[str, object]) -> list[str]:
    """Return the code and the text of each warning."""
    return [f"{each.code} {each}" for each in load_all(folder, *fields).report.warnings]


def exchanged(fields: Mapping[str, object]) -> Mapping[str, object]:
    return {**fields, "latitude": fields["longitude"], "longitude": fields["latitude"]}


def test_many_stores_without_a_location_have_a_warning_but_not_a_few_or_all(tmp_path: Path) -> None:
    (warning,) = shown(tmp_path, KIEL, *[{}] * 10, BONN)
    assert warning == (
        "unlocated stores.csv: 10 of 12 stores without a location, such as store_id 's10': "
        "maps and searches by location omit them"
    )
    assert len(shown(tmp_path, *[{}] * 10, *[KIEL] * 90)) == 1
    for unlocated, located in ((10, 91), (9, 1), (20, 0), (0, 0)):
        assert shown(tmp_path, *[{}] * unlocated, *[KIEL] * located) == []


def test_one_coordinate_without_the_other_has_a_warning(tmp_path: Path) -> None:
    halves = ({"latitude": "54.3"}, {"longitude": "10.1"}, {"longitude": "190"})
    assert shown(tmp_path, *halves, KIEL) == [
        "range stores.csv:4: longitude: expected a number from -180 to 180: '190'",
        "location stores.csv: latitude: 2 of 4 stores with a longitude but no latitude, such as store_id 's2'",
        "location stores.csv: longitude: 1 of 4 stores with a latitude but no longitude, such as store_id 's1'",
    ]


def test_stores_at_zero_have_one_warning(tmp_path: Path) -> None:
    zero = {"country": "DE", "latitude": "0.0", "longitude": "-0"}
    (warning,) = shown(tmp_path, KIEL, zero, zero)
    assert warning == (
        "location stores.csv: 2 of 3 stores at latitude 0 and longitude 0, such as store_id 's2': "
        "leave them empty if the location is unknown"
    )


def test_identifiers_that_look_alike_have_a_warning(tmp_path: Path) -> None:
    pairs = [("a1", "A1"), ("a1", "a1\u200b"), ("a1", "a1 "), ("a1", "\uff411"), ("\xe9", "e\u0301"), ("a1", "a1\xa0")]
    for number, (first, other) in enumerate(pairs):
        records = [store(each, company_id="c1") for each in (first, other, "b")]
        loaded = load_stores(tmp_path / str(number), as_csv(records))
        (warning,) = (each for each in loaded.report.warnings if each.code == "spelling")
        assert (warning.field, warning.why[:32]) == ("store_id", "1 of 3 stores with an identifier")
    different = [store(each) for each in ("a1", "a-1", "a2", "A3", "\xe9", "e")]
    assert load_stores(tmp_path / "x", as_csv(different)).report.warnings == []


def test_stores_of_a_company_whose_identifier_looks_like_another_one_have_a_warning(tmp_path: Path) -> None:
    records = [store(f"s{number}", company_id=each) for number, each in enumerate(["Acme", "ACME", "acme", "b"])]
    files = {"stores.csv": as_csv(records), "mapping.toml": DERIVED.encode()}
    (warning,) = load_files(tmp_path, files).report.warnings
    assert str(warning) == (
        "stores.csv: company_id: 2 of 4 stores with an identifier that differs from another one, 'ACME', in case, "
        "spaces or invisible characters only, such as store_id 's0': 'Acme'"
    )


def test_each_country_has_one_warning_for_the_stores_outside_of_it(tmp_path: Path) -> None:
    wrong = {"country": "Italy", "latitude": "45", "longitude": "45.5"}
    in_denmark = {"country": "DEU", "latitude": "57", "longitude": "9"}
    found = shown(tmp_path, KIEL | {"country": "DEU"}, in_denmark, ROME | {"country": "Italy"}, wrong, wrong)
    start, end = "outside stores.csv: country: ", " stores located outside this country, such as store_id "
    assert found == [f"{start}1 of 2{end}'s2' at 57, 9: 'DEU'", f"{start}2 of 3{end}'s4' at 45, 45.5: 'Italy'"]


def test_exchanged_coordinates_in_range_are_recognized(tmp_path: Path) -> None:
    (warning,) = load_all(tmp_path, *map(exchanged, (KIEL, KIEL, BONN))).report.warnings
    assert (warning.line, warning.record, warning.field, warning.value) == (None, None, "country", "DE")
    assert warning.why == (
        "3 of 3 stores located outside this country, such as store_id 's1' at 10.1, 54.3; "
        "latitude and longitude seem to be exchanged"
    )


def test_exchanged_coordinates_out_of_range_are_recognized(tmp_path: Path) -> None:
    tokyo = {"country": "JP", "latitude": "35.7", "longitude": "139.7"}
    vancouver = {"country": "Canada", "latitude": "49.3", "longitude": "-123.1"}
    found = load_all(tmp_path, *map(exchanged, (tokyo, vancouver))).report.warnings
    assert [(each.code, each.value) for each in found] == [
        ("range", "139.7"), ("range", "-123.1"), ("outside", "Canada"), ("outside", "JP")
    ]  # fmt: skip
    assert all(each.why.endswith("; latitude and longitude seem to be exchanged") for each in found[2:])


def test_coordinates_that_do_not_fit_when_exchanged_are_not_called_exchanged(tmp_path: Path) -> None:
    (warning,) = load_all(tmp_path, exchanged(KIEL), KIEL | {"longitude": "-10.1"}).report.warnings
    assert warning.why == "2 of 2 stores located outside this country, such as store_id 's1' at 10.1, 54.3"
    wrong = {"country": "DE", "latitude": "95", "longitude": "9"}  # in no range either way, which is one warning
    found = load_all(tmp_path, wrong, exchanged(BONN)).report.warnings
    assert [each.code for each in found] == ["range", "outside"]
    assert found[1].why.endswith("seem to be exchanged")
    found = load_all(tmp_path, {"country": "DE", "latitude": "139", "longitude": "x"}).report.warnings
    assert [each.code for each in found] == ["range", "number"]


# Countries with places in them that are far away, or that others count as theirs.
PLACES = """
FR 48.9 2.3, FR 4.9 -52.3, GF 4.9 -52.3, FR -21.0 55.5, RE -21.0 55.5, US 61.2 -149.9, US 21.3 -157.9, US 18.4 -66.1,
PR 18.4 -66.1, us 13.5 144.8, US 51.9 -176.6, US 52.8 173.1, U.S.A. 40.7 -74.0, United  States 40.7 -74.0,
HK 22.3 114.2, CN 22.3 114.2, TW 25.0 121.5, CN 25.0 121.5, MO 22.2 113.5, GG 49.5 -2.5, GB 49.5 -2.5, UK 54.2 -4.5,
GI 36.1 -5.3, GB 36.1 -5.3, RU 64.7 177.5, RU 66.2 -169.8, RU 54.7 20.5, UA 44.6 33.5, RU 44.6 33.5, FJ -18.1 178.4,
FJ -16.8 -179.9, FJ -16.8 180.0, NZ -43.9 -176.5, NL 12.2 -69.0, NL 12.15 -68.27, BQ 12.15 -68.27, CW 12.1 -68.9,
NO 78.2 15.6, SJ 78.2 15.6, ES 28.1 -15.4, ES 35.9 -5.3, PT 37.7 -25.7, PT 32.6 -16.9, RS 42.7 21.2, XK 42.7 21.2,
Kosovo 42.7 21.2, MA 27.1 -13.2, EH 27.1 -13.2, IL 31.5 34.5, PS 31.8 35.2, CY 35.3 33.3, SO 9.6 44.1, DK 62.0 -6.8,
DK 64.2 -51.7, FI 60.1 19.9, AX 60.1 19.9, AU -29.0 167.9, AU -10.4 105.7, CL -27.1 -109.4, EC -0.7 -90.3, IN 34.1 74.8,
PK 34.4 73.5, KI 1.9 -157.4, South Sudan 4.9 31.6, BQ 17.49 -62.98, NL 17.63 -63.24, FM 9.5 138.1, FM 6.21 160.7,
GR 36.15 29.59, MH 11.23 169.85, MU -16.6 59.66, MV 0.53 72.93, MV 6.15 73.29, SJ 70.92 -8.72, SC -7.0 52.73,
TK -9.2 -171.85, TV -7.25 177.15, TW 26.15 119.93, Atlantis 0.1 0.1, Nowhere 10.0 10.0"""


def test_parts_of_countries_overseas_and_disputed_areas_have_no_warning(tmp_path: Path) -> None:
    places = [place.strip().rsplit(" ", 2) for place in PLACES.split(",")]
    fields = [dict(zip(("country", "latitude", "longitude"), place, strict=True)) for place in places]
    assert len(fields) == 80
    assert [each for each in shown(tmp_path, *fields) if not each.startswith("spelling")] == []


def test_all_cities_of_the_sample_data_are_in_their_countries(tmp_path: Path) -> None:
    places = [
        {"country": country, "latitude": f"{city.latitude}", "longitude": f"{city.longitude}"}
        for (country, *_), cities in read_gazetteer().groups.items()
        for city in cities.items
    ]
    assert shown(tmp_path, *places) == []


def test_the_bundled_dataset_and_a_sample_of_all_countries_have_no_warning(tmp_path: Path) -> None:
    assert load(ROOT / "datasets").report.warnings == []
    write_sample(tmp_path, stores=2_000, companies=50, seed=3)
    loaded = load(tmp_path)
    assert len(dataset(loaded).stores.columns["country"].starts) - 1 == len(COUNTRIES)
    assert loaded.report.warnings == []


def test_postal_codes_without_their_zeros_have_a_warning(tmp_path: Path) -> None:
    codes = ["02108", "2108", "544", "00544-0001", "2108-1234", "94103"]
    (warning,) = shown(tmp_path, *({"country": "US", "postal_code": code} for code in codes))
    assert warning == (
        "postal stores.csv: postal_code: 3 of 6 stores in US with fewer than 5 digits, such as store_id 's2': leading "
        "zeros seem to be missing; declare fields.postal_code = { from = …, pad = 5 } under [stores] of the mapping: "
        "'2108'"
    )


FIXED = [("IT", "118"), ("DE", "1067-12"), ("CH", "CH-8001"), ("RO", None), ("RO", "94010")]


@pytest.mark.parametrize(
    ("others", "advises"),
    [(FIXED, True), *(([other], False) for other in (("CH", "8001"), ("Utopia", "1"), ("RO", "9401")))],
)
def test_zeros_are_advised_if_no_store_of_another_country_gets_them_too(
    tmp_path: Path, others: Sequence[tuple[str, str]], *, advises: bool
) -> None:
    fields = [{"country": country, "postal_code": code} for country, code in [("US", "2108"), *others]]
    (warning,) = [each for each in shown(tmp_path, *fields) if " in US " in each]
    assert "1 of 1 store in US with fewer than 5 digits, such as store_id 's1': " in warning
    assert ("pad = 5" in warning) == advises
    assert (": zeros in front may be lost; correct the file: '2108'" in warning) != advises


CODES = [("Germany", "1067"), ("FRA", "6000"), ("IT", "118"), ("ES", "8001"), ("JP", "600001"), ("BR", "1310100")]
OTHER_CODES = [
    *(("CH", "8001"), ("US", "D2108"), ("US", "12"), ("GB", "1234"), ("JP", "060-0001"), ("PE", "18"), ("Utopia", "1")),
    *(("NL", "1012 AB"), ("CA", "123"), ("SK", "010 01"), ("US", None)),
]


def test_only_codes_of_countries_with_zeros_in_front_are_checked(tmp_path: Path) -> None:
    codes = [*CODES, ("NO", "150")]
    fields = [{"country": country, "postal_code": code} for country, code in (*codes, *OTHER_CODES)]
    found = load_all(tmp_path, *fields).report.warnings
    assert {(each.code, each.field) for each in found} == {("postal", "postal_code")}
    assert sorted(each.value or "" for each in found) == sorted(code for _, code in codes)


def test_two_spellings_of_one_country_have_a_warning(tmp_path: Path) -> None:
    names = ["Germany", "DE", "germany ", "Germany", "DE", "DEU", "Deutschland", "IT", "it"]
    assert shown(tmp_path, *({"country": name} for name in names)) == [
        f"spelling stores.csv: country: {stores} with this country spelled differently from 'Germany', "
        f"such as store_id {example}; a filter matches one spelling only: {name}"
        for stores, example, name in (
            ("1 of 4 stores", "'s6'", "'DEU'"),
            ("1 of 4 stores", "'s7'", "'Deutschland'"),
            ("2 of 5 stores", "'s2'", "'DE'"),
        )
    ]


def test_warnings_of_all_stores_are_counted_and_logged(tmp_path: Path) -> None:
    loaded = load_all(tmp_path, KIEL, *[{}] * 10, exchanged(BONN), {"country": "US", "postal_code": "544"})
    assert loaded.warning_counts == {"unlocated": 1, "outside": 1, "postal": 1}
    assert [line.split(",")[0] for line in notes(loaded)][:-1] == [
        "outside: 1 warning", "postal: 1 warning", "unlocated: 1 warning"
    ]  # fmt: skip


def test_examples_are_truncated_and_printable(tmp_path: Path) -> None:
    records = [store("\u202e" + 300 * "x", **exchanged(KIEL))]
    _, warning = load_stores(tmp_path, as_lines(records), "stores.jsonl").report.warnings
    assert f"such as store_id '\\u202e{199 * 'x'}…' at" in warning.why
