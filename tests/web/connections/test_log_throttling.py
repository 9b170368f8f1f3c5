"""Log throttling."""

from hypothesis import given, strategies as st

from service.web.connections.limits import LogThrottle


def test_one_message_per_interval_is_admitted_with_the_number_suppressed_before_it() -> None:
    throttle = LogThrottle(60)
    assert [throttle.admit(now) for now in (0, 0, 59.9, 60, 61, 130, 131)] == [0, None, None, 2, None, 1, None]


@given(st.lists(st.floats(0, 1000)))
def test_every_message_is_admitted_or_counted(moments: list[float]) -> None:
    throttle = LogThrottle(10)
    admitted = [throttle.admit(now) for now in [*sorted(moments), 5000]]
    assert sum(1 + suppressed for suppressed in admitted if suppressed is not None) == len(admitted)
