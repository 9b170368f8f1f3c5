"""A proposal never takes a word that it does not know for open: the user gives it a meaning."""

from datetime import date

import pytest

from service.model.records import STORES
from service.reading.batch import RecordFile
from service.reading.diagnostics import FileError
from service.reading.mapping.mapped_records import MappedRecords
from service.reading.mapping.mapping_file import parse_mapping
from service.reading.proposal.proposal import propose_mapping
from tests.reading.mapping.record_files import RECORD, features, records, table
from tests.reading.mapping.test_proposal import entries

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
    file = records(Notiz="geschlossen|neu", Status="geschlossen|offen")
    assert (
        flag(file) == '{ from = "Status", values = { "geschlossen" = false, "offen" = true } }  # found by its values'
    )


def test_free_text_and_opening_hours_are_no_flags() -> None:
    assert flag(records(Zeiten="Mo-Fr 9-17, So geschlossen|sonntags geschlossen|nie geschlossen")) is None
    assert flag(records(Text="|".join([*(f"Text {number}" for number in range(200)), "closed"]))) is None


def test_words_for_closed_win_over_a_name_with_other_values() -> None:
    file = records(Open="9-17|10-18", Status="geschlossen|offen")
    text = propose_mapping(file, "x.csv")
    assert '\nis_open = { from = "Status", values = { "geschlossen" = false, "offen" = true } }' in text
    assert '\n# opening_hours = { from = "Open", kind = "hours", ' in text
    assert flag(records(Open="ja|nein", Status="geschlossen|offen")) == (
        '{ from = "Open", values = { "ja" = true, "nein" = false } }'
    )


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
        (
            "since closed",
            "May|June",
            '{ from = "since closed", other = false, default = true }  # any text means closed',
        ),
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
