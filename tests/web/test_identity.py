"""Identities: every member is part of the tag, and nothing else."""

from itertools import combinations

import msgspec

from service.model.coordinates import Box, Coordinates
from service.model.query import Filter, Query
from service.model.words import Term
from service.web.http.content_coding import CODINGS, IDENTITY
from service.web.pipeline.plan import Identity, entity_tag

QUERY = Query((Filter("city", ("toronto",)),), limit=50)
PAGE = Identity("/stores", QUERY, "0123456789abcdef")
CHANGES: dict[str, object] = {
    "filters": (),
    "sort_order": "desc",
    "page_num": 2,
    "fields": ("city",),
    "facets": ("city",),
    "zoom": 3,
    "near": Coordinates(1, 2),
    "radius": 1.0,
    "bbox": Box(1, 2, 3, 4),
}
OTHERS = [
    msgspec.structs.replace(PAGE, operation="/companies"),
    *(
        msgspec.structs.replace(PAGE, parameters=msgspec.structs.replace(QUERY, **{name: value}))
        for name, value in (*CHANGES.items(), ("q", (Term("a"),)), ("q", (Term("a", is_prefix=True),)))
    ),
    msgspec.structs.replace(PAGE, parameters="toronto"),
    msgspec.structs.replace(PAGE, version="fedcba9876543210"),
    msgspec.structs.replace(PAGE, media_type="application/geo+json"),
    msgspec.structs.replace(PAGE, output=0),
]


def test_a_difference_in_any_member_is_another_identity_with_another_tag() -> None:
    assert len({PAGE, *OTHERS}) == len({entity_tag(each, IDENTITY) for each in (PAGE, *OTHERS)}) == 1 + len(OTHERS)


def test_each_coding_and_each_release_of_its_encoder_has_its_own_tag() -> None:
    releases = [msgspec.structs.replace(coding, release="0") for coding in CODINGS]
    tags = [entity_tag(PAGE, coding) for coding in (IDENTITY, *CODINGS, *releases)]
    assert all(one != other for one, other in combinations(tags, 2))


def test_equal_identities_are_one_key_and_have_one_tag() -> None:
    again = msgspec.json.decode(msgspec.json.encode(PAGE.parameters), type=Query)
    same = Identity("/stores", again, "0123456789abcdef")
    assert {PAGE: 1}[same]
    assert entity_tag(same, IDENTITY) == entity_tag(PAGE, IDENTITY)
