"""The parameters of a request: what is made of a path segment and a query string."""

from msgspec import UNSET

from service.model.attributes import NO_ATTRIBUTES
from service.model.operation import GEO_JSON
from service.model.query import QueryParser
from service.model.records import STORES
from service.web.pipeline.plan import CommonHeaders
from service.web.pipeline.routes import RequestParameters, parser

COMMON = CommonHeaders(headers="A: b\r\n", vary="Accept")


def parsed(raw: str) -> RequestParameters:
    return parser("/stores", lambda _: QueryParser(STORES))(NO_ATTRIBUTES, "", raw, False)


def test_an_identity_has_the_normalized_query_and_the_version() -> None:
    asked = parsed("city=b&city=a")
    identity = asked.representation("v", COMMON).identity
    assert (identity.operation, identity.parameters, identity.version) == ("/stores", asked.query.normalized, "v")
    assert identity.links is UNSET


def test_an_identity_in_another_media_type_has_the_links_of_its_body() -> None:
    identity = parsed("limit=2").representation("v", COMMON, GEO_JSON).identity
    assert (identity.media_type, identity.links) == (GEO_JSON, "/stores?limit=2&page_num=")


def test_an_identity_has_the_decoded_segment() -> None:
    parse = parser("/companies/{company_id}", lambda _: QueryParser())
    assert parse(NO_ATTRIBUTES, "a%2Fb", "", False).representation("v", COMMON).identity.parameters == "a/b"
