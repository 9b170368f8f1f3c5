"""Log throttling."""

from hypothesis import given, strategies as st

from service.web.connections.limits import LogThrottle


@given(st.lists(st.floats(0, 1000)))
def test_every_message_is_admitted_or_counted(moments: list[float]) -> None:
    throttle = LogThrottle(10)
    admitted = [throttle.admit(now) for now in [*sorted(moments), 5000]]
    assert sum(1 + suppressed for suppressed in admitted if suppressed is not None) == len(admitted)
