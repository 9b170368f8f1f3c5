"""Identities: every member is part of the tag, and nothing else."""

from itertools import combinations

import msgspec
import pytest

from service.model.coordinates import Box, Coordinates
from service.model.query import Filter, Query
from service.model.words import Term
from service.web.http.content_coding import CODINGS, IDENTITY
from service.web.pipeline.plan import OUTPUT, Identity, entity_tag
from tests.recording import check_recorded

QUERY = Query((Filter("city", ("toronto",)),), limit=50)
PAGE = Identity("/stores", QUERY, "0123456789abcdef")
OTHERS = {
    "operation": msgspec.structs.replace(PAGE, operation="/companies"),
    "filter": msgspec.structs.replace(PAGE, parameters=msgspec.structs.replace(QUERY, filters=())),
    "order": msgspec.structs.replace(PAGE, parameters=msgspec.structs.replace(QUERY, sort_order="desc")),
    "page": msgspec.structs.replace(PAGE, parameters=msgspec.structs.replace(QUERY, page_num=2)),
    "fields": msgspec.structs.replace(PAGE, parameters=msgspec.structs.replace(QUERY, fields=("city",))),
    "facets": msgspec.structs.replace(PAGE, parameters=msgspec.structs.replace(QUERY, facets=("city",))),
    "point": msgspec.structs.replace(PAGE, parameters=msgspec.structs.replace(QUERY, near=Coordinates(1, 2))),
    "radius": msgspec.structs.replace(
        PAGE, parameters=msgspec.structs.replace(QUERY, near=Coordinates(1, 2), radius=1.0)
    ),
    "box": msgspec.structs.replace(PAGE, parameters=msgspec.structs.replace(QUERY, bbox=Box(1, 2, 3, 4))),
    "zoom": msgspec.structs.replace(PAGE, parameters=msgspec.structs.replace(QUERY, zoom=3)),
    "word": msgspec.structs.replace(PAGE, parameters=msgspec.structs.replace(QUERY, q=(Term("a"),))),
    "prefix": msgspec.structs.replace(PAGE, parameters=msgspec.structs.replace(QUERY, q=(Term("a", is_prefix=True),))),
    "segment": msgspec.structs.replace(PAGE, parameters="toronto"),
    "version": msgspec.structs.replace(PAGE, version="fedcba9876543210"),
    "media type": msgspec.structs.replace(PAGE, media_type="application/geo+json"),
    "output": msgspec.structs.replace(PAGE, output=0),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_a_difference_in_any_member_is_another_identity_with_another_tag(other: Identity) -> None:
    assert other != PAGE
    tags = [entity_tag(each, IDENTITY) for each in (PAGE, *OTHERS.values())]
    assert tags.count(entity_tag(other, IDENTITY)) == 1


def test_each_coding_and_each_release_of_its_encoder_has_its_own_tag() -> None:
    releases = [msgspec.structs.replace(coding, release="0") for coding in CODINGS]
    tags = [entity_tag(PAGE, coding) for coding in (IDENTITY, *CODINGS, *releases)]
    assert all(one != other for one, other in combinations(tags, 2))


def test_a_new_parameter_changes_no_tag_of_a_request_without_it() -> None:
    """Tags change with `OUTPUT` alone."""
    asked: list[tuple[str, Query | str]] = [
        ("/stores", QUERY),
        ("/companies", Query()),
        ("/companies/{company_id}", "acme"),
    ]
    identities = [Identity(operation, parameters, "0123456789abcdef") for operation, parameters in asked]
    tags = [f"{each.operation} {entity_tag(each, IDENTITY)}" for each in identities]
    check_recorded("tags", [f"OUTPUT {OUTPUT}", *tags])


def test_equal_identities_are_one_key_and_have_one_tag() -> None:
    again = msgspec.json.decode(msgspec.json.encode(PAGE.parameters), type=Query)
    same = Identity("/stores", again, "0123456789abcdef")
    assert {PAGE: 1}[same]
    assert entity_tag(same, IDENTITY) == entity_tag(PAGE, IDENTITY)
