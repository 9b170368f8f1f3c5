"""What is logged now and then."""

from hypothesis import given, strategies as st

from service.web.connections.log_throttling import LogThrottle


def test_the_first_is_told_and_the_next_ones_only_after_the_time_with_how_many_were_not() -> None:
    seldom = Seldom(60)
    assert [seldom.untold(now) for now in (0, 0, 59.9, 60, 61, 130, 131)] == [0, None, None, 2, None, 1, None]


@given(st.lists(st.floats(0, 1000)))
def test_what_happens_is_told_or_counted(moments: list[float]) -> None:
    seldom = Seldom(10)
    told = [seldom.untold(now) for now in [*sorted(moments), 5000]]
    assert sum(1 + untold for untold in told if untold is not None) == len(told)
