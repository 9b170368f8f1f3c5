"""Date-times read many at a time are those read one by one."""

from hypothesis import example, given, strategies as st

from service.kinds import rank_instant, read_instant, write_instant
from service.loading.instants import rank, rewrite

DATES = st.sampled_from(
    ["2024-05-31", "2024-02-29", "2023-02-29", "0001-01-01", "9999-12-31", "0000-01-01", "2024-5-31"]
)
TIMES = st.sampled_from(
    ["", "T10:00", " 10:00:59", "T10:00:00.5", "T23:59:59.1234567", "T24:00:00", "T10", "T00:00:00"]
)
OFFSETS = st.sampled_from(["", "Z", "+00:00", "-00:00", "+05:30", "-14:00", "+23:59", "+24:00", "z", "Z "])


@given(st.one_of(st.text(), st.builds(lambda date, time, offset: date + time + offset, DATES, TIMES, OFFSETS)))
@example("2024-05-31Z")
@example("Z")
@example("2024-05-31T10:00:00Z")
def test_every_text_is_read_and_ranked_as_if_alone(text: str) -> None:
    moment = read_instant(text)
    written = rewrite(text)

    assert written == (None if moment is None else write_instant(moment))
    if written is not None:
        assert rank(written) == rank_instant(text)
