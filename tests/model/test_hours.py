"""Opening hours as they are served, and as the OpenAPI document types them."""

import msgspec
import pytest

from service.model.attributes import Attribute, Declaration, schema_of
from service.model.hours import DailyHour, ExceptionHour, OpeningHours

VALUE = OpeningHours(
    "Europe/Berlin",
    (DailyHour("monday", "09:00", "18:00"),),
    (ExceptionHour("2026-12-24", "2026-12-24", "09:00", "12:00"), ExceptionHour("2026-12-25", "2026-12-26")),
)


def test_all_members_are_served_but_those_of_an_exception_that_is_closed() -> None:
    served = (
        b'{"timezone":"Europe/Berlin","hours":[{"day":"monday","opens":"09:00","closes":"18:00"}],"exception_hours":['
        b'{"valid_from":"2026-12-24","valid_through":"2026-12-24","opens":"09:00","closes":"12:00"},'
        b'{"valid_from":"2026-12-25","valid_through":"2026-12-26"}]}'
    )
    assert msgspec.json.encode(VALUE) == served
    assert msgspec.json.decode(served, type=OpeningHours) == VALUE


@pytest.mark.parametrize(
    "wrong", ['{"timezone":"UTC","hours":[]}', '{"timezone":"UTC","hours":[{"day":"mo","opens":"09:00","closes":"1"}]}']
)
def test_other_members_days_and_times_are_rejected(wrong: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(wrong, type=OpeningHours)


def test_an_attribute_of_opening_hours_is_no_filter_facet_or_order() -> None:
    stores = schema_of(Declaration((Attribute("opening_hours", "hours"),))).stores
    [field] = stores.attributes
    assert not any((field.filters, field.facets, field.sorts, field.searched))
    _, schemas = msgspec.json.schema_components((stores.record,))
    assert {"OpeningHours", "DailyHour", "ExceptionHour"} <= schemas.keys()
