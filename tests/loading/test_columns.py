"""A column of date-times is read cell by cell as `service.kinds` reads each."""

from hypothesis import example, given, strategies as st

from service.kinds import INSTANT, rank_instant, read_instant, write_instant
from service.loading.checks import check_column
from service.records import Field

FIELD = Field("created_at", INSTANT, "When.")
DATES = st.sampled_from(
    ["2024-05-31", "2024-02-29", "2023-02-29", "0001-01-01", "9999-12-31", "0000-01-01", "2024-5-31"]
)
TIMES = st.sampled_from(["", "T10:00", " 10:00:59", "T10:00:00.5", "T23:59:59", "T24:00:00", "T10:00:60", "T00:00:00"])
OFFSETS = st.sampled_from(["", "Z", "+00:00", "-00:00", "+05:30", "-14:00", "+23:59", "+24:00", "z", "Z "])


@given(st.builds(lambda date, time, offset: date + time + offset, DATES, TIMES, OFFSETS))
@example("2024-05-31T10:00:00Z")
@example("2024-02-30T10:00:00Z")
def test_a_date_time_is_read_in_a_column_as_it_is_alone(text: str) -> None:
    column, moment = check_column(FIELD, [text], None), read_instant(text)
    if moment is None:
        assert column.flaws[text].code == "date"
    else:
        assert column.values[text] == write_instant(moment)
        assert column.keys[text] == rank_instant(text)
