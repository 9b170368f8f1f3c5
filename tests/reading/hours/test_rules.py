"""Texts of opening hours: which are read, as what, and why others are refused."""

from datetime import date, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis.strategies import DrawFn, composite, integers, lists

from tests.reading.hours.weeks import DAY, TODAY, begun, brief, minutes_of, read, reason, value

WEEKDAYS = " ".join(f"{day} {{0}}" for day in ("mo", "tu", "we", "th", "fr"))
EVERY_DAY = f"{WEEKDAYS} sa {{0}} su {{0}}"
PH = "2026-12-25"
NINE = WEEKDAYS.format("09:00-18:00")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # OpenStreetMap
        ("Mo-Fr 09:00-18:00; Sa 10:00-14:00; PH off", f"{NINE} sa 10:00-14:00 | 2026-12-25 closed"),
        ("24/7", EVERY_DAY.format("00:00-23:59")),
        ("24/7; PH off", f"{EVERY_DAY.format('00:00-23:59')} | 2026-12-25 closed"),
        ("Mo,We 09:00-12:30,14:00-18:00", "mo 09:00-12:30 mo 14:00-18:00 we 09:00-12:30 we 14:00-18:00"),
        ("Fr 20:00-02:00", "fr 20:00-02:00"),
        ("Fr 20:00-26:00", "fr 20:00-02:00"),
        ("Fr 20:00-02:00; Sa off", "fr 20:00-02:00"),
        ("Mo 10:00-24:00", "mo 10:00-00:00"),
        ("Mo 00:00-24:00", "mo 00:00-23:59"),
        ("Mo 00:00-00:00", "mo 00:00-23:59"),
        ("Mo 00:00-23:59", "mo 00:00-23:59"),
        ("Mo 10:00-23:59", "mo 10:00-23:59"),
        ("Mo 09:00-12:00,12:00-14:00,13:00-15:00", "mo 09:00-15:00"),
        ("Mo 00:00-12:00,12:00-24:00", "mo 00:00-23:59"),
        ("Sa-Mo 10:00-12:00", "mo 10:00-12:00 sa 10:00-12:00 su 10:00-12:00"),
        ("10:00-12:00", EVERY_DAY.format("10:00-12:00")),
        ("off", ""),
        ("Dec 24-26 off", " | 2026-12-24..2026-12-26 closed"),
        ("2026 Dec 24 09:00-12:00", " | 2026-12-24 09:00-12:00"),
        ("2020 Dec 24 off", " | 2020-12-24 closed"),
        ("Dec 24,31 off", " | 2026-12-24 closed | 2026-12-31 closed"),
        ("Dec 24-Jan 02 off", " | 2026-12-24..2027-01-02 closed"),
        ("2026 Dec 24-2027 Jan 02 off", " | 2026-12-24..2027-01-02 closed"),
        ("2026 Dec 31-Jan 02 off", " | 2026-12-31..2027-01-02 closed"),
        ("Dec 24,Jan 01 off", " | 2026-12-24 closed | 2027-01-01 closed"),
        ("Nov 20-26 off", " | 2026-11-20..2026-11-26 closed"),
        ("Nov 25 off", " | 2027-11-25 closed"),
        ("Feb 29 off", " | 2028-02-29 closed"),
        ("Mo-Fr 09:00-18:00 open", NINE),
        # Which rule counts
        ("Mo-Fr 09:00-18:00; We 10:00-12:00", NINE.replace("we 09:00-18:00", "we 10:00-12:00")),
        ("Mo-Fr 09:00-18:00; We off", NINE.replace("we 09:00-18:00 ", "")),
        ("Mo-Fr 09:00-18:00, Sa 10:00-14:00", f"{NINE} sa 10:00-14:00"),
        ("Mo 09:00-12:00, Mo 14:00-18:00", "mo 09:00-12:00 mo 14:00-18:00"),
        ("PH off; Mo-Fr 09:00-18:00", f"{NINE} | 2026-12-25 closed"),
        ("Dec 25 09:00-10:00; PH off; Mo-Fr 09:00-18:00", f"{NINE} | 2026-12-25 09:00-10:00"),
        ("PH,Mo-Fr 09:00-18:00", f"{NINE} | 2026-12-25 09:00-18:00"),
        ("Mo-Fr 09:00-18:00; PH 10:00-11:00, PH 12:00-13:00", f"{NINE} | {PH} 10:00-11:00 | {PH} 12:00-13:00"),
        ("Fr 09:00-12:00, PH 10:00-11:00,14:00-15:00", f"fr 09:00-12:00 | {PH} 09:00-12:00 | {PH} 14:00-15:00"),
        ("Mo 09:00-12:00, PH 10:00-11:00; PH off", "mo 09:00-12:00 | 2026-12-25 closed"),
        ("Fr 09:00-12:00; PH 14:00-15:00, PH 16:00-17:00", f"fr 09:00-12:00 | {PH} 14:00-15:00 | {PH} 16:00-17:00"),
        ("Th 20:00-02:00; PH off", "th 20:00-02:00 | 2026-12-25 00:00-02:00"),
        ("Th 20:00-02:00; Dec 25-26 off", "th 20:00-02:00 | 2026-12-25 00:00-02:00 | 2026-12-26 closed"),
        # Comments
        ('Mo-Fr 09:00-18:00 "ring"; Sa off "x; y"', NINE),
        ('Mo-Fr 09:00-18:00 || "call us"', NINE),
        # Common texts
        ("Mo-Fr 8-18", WEEKDAYS.format("08:00-18:00")),
        ("Open 24 Hours", EVERY_DAY.format("00:00-23:59")),
        ("Mo: 24 hrs; Di geschlossen; Mi 24 Stunden", "mo 00:00-23:59 we 00:00-23:59"),
        ("Mo open 8-24h", "mo 08:00-00:00"),
        ("9am-5pm", EVERY_DAY.format("09:00-17:00")),
        ("12am-12pm", EVERY_DAY.format("00:00-12:00")),
        ("9 a.m. - 5:30 p.m.", EVERY_DAY.format("09:00-17:30")),
        ("9pm-2am", EVERY_DAY.format("21:00-02:00")),
        ("Mon – Fri: 9:00 – 18:00 Uhr", NINE),  # noqa: RUF001 - dashes
        ("Lu-Ve 9h-18h30", WEEKDAYS.format("09:00-18:30")),
        ("Lu-Ve 20h-2h", WEEKDAYS.format("20:00-02:00")),
        ("Mo-Fr 09:00-18:00;", NINE),
        ("Mo-Fr 09:00-18:00\nSa 10:00-14:00\n", f"{NINE} sa 10:00-14:00"),
        ("Mo-Fr 09.00-18.00", NINE),
        ("Mo-Fr 09:00:00-18:00:00", NINE),
        ("Monday: 9:00\u202fAM\u2009–\u20095:00\u202fPM\nTuesday: Closed", "mo 09:00-17:00"),  # noqa: RUF001 - a dash
        ("MO-FR 09:00-18:00", NINE),
        ("Mo.-Fr. 9-18 Uhr", NINE),
        ("Mar 9:00-12:00", "tu 09:00-12:00"),
        # Days in six languages
        ("Monday-Thursday 9-18, Friday 9-18", NINE),
        ("Montag bis Freitag 9-18 Uhr", NINE),
        ("Mon thru Thu: 9:00 AM - 6:00 PM; Friday through Friday 9am-6pm", NINE),
        ("Daily 9am-6pm", EVERY_DAY.format("09:00-18:00")),
        ("täglich 9-18 Uhr", EVERY_DAY.format("09:00-18:00")),
        ("lundi au vendredi 9h à 18h ; dimanche : fermé", NINE),
        ("lunedì-venerdì 9:00-18:00, sabato e domenica chiuso", NINE),
        ("lunes a viernes 9:00-18:00, sábado cerrado", NINE),
        ("maandag tot vrijdag 9:00-18:00, zondag gesloten", NINE),
        ("Mo-Fr 9-18 Uhr, Sa+So geschlossen", NINE),
        ("Mo-Fr 0900 - 1800", NINE),
        ("Mo 0900-1200/1300-1800", "mo 09:00-12:00 mo 13:00-18:00"),
        ("Di-Do 9-18", "tu 09:00-18:00 we 09:00-18:00 th 09:00-18:00"),
        ("Ma-Vr 9-18", NINE),
    ],
)
def test_a_text_that_says_hours_exactly_is_read(text: str, expected: str) -> None:
    assert brief(value(text, holidays=[date(2026, 12, 25)])) == expected


@pytest.mark.parametrize(
    "text", ["by appointment", "unknown", '"call us"', "Mo-Fr 09:00-18:00; Sa unknown", "Mo unknown open", " ", ""]
)
def test_hours_that_are_said_to_be_unknown_are_null_without_an_error(text: str) -> None:
    assert read(text) is None


# A reason -> texts.
REFUSED: dict[str, list[str]] = {
    "months": ["Jan-Mar 09:00-18:00", "Dec 09:00-18:00"],
    "years, or times without colons": ["2026 09:00-18:00", "Mo 2000-2200", "Mo-Fr 9-18, 0228-1234", "Mo 0215-1230"],
    "weeks": ["week 1-3 Mo 09:00-18:00"],
    "school holidays": ["SH off"],
    "a date that moves": ["easter off"],
    "the sun": ["Mo sunrise-sunset"],
    "open ends": ["Mo 10:00+", "Mo 9-18h+Sa 9-12", "Mo 9-18+"],
    "a time without an end": ["Mo 10:00", "Mo 10:00-"],
    "weekdays within dates": ["Dec 24-26 Mo 09:00-18:00", "PH Mo 09:00-18:00"],
    "'[' has no meaning": ["Mo[1] 09:00-18:00"],
    "days without times": ["Mo-Fr", 'Mo-Fr "call"', "Mar 9-18"],
    "the same days twice with times": [
        "Mo-Fr 09:00-12:00; Mo-Fr 14:00-18:00",
        "Mo-Fr 09:00-12:00\nMo-Fr 14:00-18:00",
        "09:00-12:00; Mo-Su 14:00-18:00",
        "Dec 24 9-12; Dec 24 14-18",
    ],
    "bare hours that end before they begin": ["9-5", "Mo 9-9"],
    "am or pm on one side": ["9am-5", "9-5pm"],
    "am or pm of an hour that is not 1 to 12": ["13pm-2pm"],
    "names of days of several languages": ["Mo-Do 9-18, Vr 9-12"],
    "names of days that two languages read differently": ["Do 9-18", "Di 9-18", "Ma 9-18"],
    "24 hours that do not begin at 00:00": ["Mo 09:00-09:00", "Mo 06:00-12:00,12:00-06:00"],
    "more than 24 hours": ["Mo 10:00-35:00"],
    "exceptions that overlap without being equal": ["Dec 24-26 off; Dec 25 10:00-12:00"],
    "times that are added to those of weekdays": ["Mo-Fr 09:00-12:00, Dec 24 10:00-11:00"],
    "a date that does not exist, or a range that ends before it begins": ["Feb 30 off", "2026 Dec 24-2025 Jan 02 off"],
    "a year of the last date only": ["Dec 24-2027 Jan 02 off"],
    "'off' after the times of a rule": ["Mo 09:00-12:00 off"],
    "a fallback that is no comment": ["Mo 09:00-12:00 || off"],
    "a range of days without an end": ["Mo - 09:00-12:00"],
    "'foo' has no meaning": ["Foo 09:00-12:00"],
    "'nach' has no meaning": ["nach Vereinbarung"],
    "no rules": [";", "Uhr"],
    "longer than 16,384 bytes": ["x" * 16_385],
    "longer than 16,384 bytes as JSON": [
        f"Mo {','.join(f'{m // 60:02}:{m % 60:02}-{m // 60:02}:{m % 60 + 1:02}' for m in range(0, 1000, 2))}"
    ],
    "more than 100 dates": [" , ".join(["Dec 1"] * 101) + " off"],
    "more than 100 exceptions": ["; ".join(f"20{year} Dec {day} off" for year in range(10, 99) for day in (1, 3))],
}


@pytest.mark.parametrize(("expected", "text"), [(why, text) for why, texts in REFUSED.items() for text in texts])
def test_what_cannot_be_said_exactly_is_refused_with_the_reason(expected: str, text: str) -> None:
    assert reason(text) == expected


def test_a_rule_for_holidays_needs_their_dates() -> None:
    cell = read("Mo 09:00-12:00; PH off", holidays=None)
    assert (cell.issue.code, cell.text) == ("holidays", "Mo 09:00-12:00; PH off")  # type: ignore[union-attr]
    assert cell.value == read("Mo 09:00-12:00")  # type: ignore[union-attr]
    assert read("Mo 09:00-12:00; PH off", holidays=[]) == read("Mo 09:00-12:00")


def test_a_hundred_exceptions_are_read_and_one_more_is_not() -> None:
    days = [f"2026 Dec {day}" for day in range(1, 32)] + [f"2027 Jan {day}" for day in range(1, 32)]
    days += [f"2027 Mar {day}" for day in range(1, 32)] + [f"2027 May {day}" for day in range(1, 8)]
    assert len(value("; ".join(f"{day} off" for day in days))["exception_hours"]) == 100
    assert reason("; ".join(f"{day} off" for day in [*days, "2027 Jun 1"])) == "more than 100 exceptions"


@composite
def intervals(draw: DrawFn) -> list[tuple[int, int]]:
    """Intervals of a day, of which together none is as long as a day."""
    starts = draw(lists(integers(0, DAY - 1), max_size=3))
    found = [(start, start + draw(integers(1, 500))) for start in starts]
    return [(opens, min(closes, opens + DAY - 1)) for opens, closes in found]


def time(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"


@given(lists(intervals(), min_size=7, max_size=7), lists(intervals(), min_size=2, max_size=2), integers(0, 20))
def test_random_rules_are_open_in_the_minutes_that_they_cover(
    week: list[list[tuple[int, int]]], excepted: list[list[tuple[int, int]]], offset: int
) -> None:
    first = TODAY + timedelta(5 + offset)
    exceptions = {first: excepted[0], first + timedelta(1): excepted[1], first + timedelta(9): []}
    days = [TODAY + timedelta(each) for each in range(1, 40)]
    names = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")
    rules = [*zip(names, week, strict=True), *((f"{day:%Y %b %d}", times) for day, times in exceptions.items())]
    text = "; ".join(
        f"{name} {','.join(f'{time(opens)}-{time(closes)}' for opens, closes in times) or 'off'}"
        for name, times in rules
    )
    cell = read(text)
    if isinstance(cell, str):
        served = value(text)
        assert minutes_of(served, days) == begun(week, exceptions, days)
        assert read(cell) == cell
        for one, other in pairwise(served["hours"]):
            assert one["day"] != other["day"] or one["closes"] < other["opens"]
    else:
        assert reason(text) in ("24 hours that do not begin at 00:00", "more than 24 hours")
