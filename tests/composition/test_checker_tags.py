"""The checker rejects tags that do not go with their bytes, and a 304 or 412 that is not due."""

import brotli
import pytest

from tests.composition.forged import COMPANIES, NEW, OLD, STORES, Forger, altered, asked, rejected

BROTLI = {"Accept_Encoding": "br"}


def test_companies_for_stores_are_rejected_and_the_request_that_they_answered_is_shown() -> None:
    forger = Forger()
    companies = forger.ask(asked(COMPANIES, **BROTLI))
    message = rejected(forger, asked(STORES, **BROTLI), companies, "body")
    assert "earlier, request 1, to forged:\n  > GET /companies HTTP/1.1" in message


def test_one_tag_for_two_resources_is_rejected() -> None:
    forger = Forger()
    companies, stores = forger.ask(asked(COMPANIES)), forger.right(forger.send(asked(STORES)), NEW)
    rejected(forger, asked(STORES), altered(stores, {"ETag": companies.etag}), "tag")


def test_304_for_the_tag_of_another_resource_or_version_or_unaccepted_coding_is_rejected() -> None:
    forger = Forger()
    for request, edition in ((asked(COMPANIES), NEW), (asked(STORES), OLD), (asked(STORES, Accept_Encoding="br"), NEW)):
        tag = forger.ask(request, edition).etag
        unchanged = forger.ask(asked(STORES, If_None_Match="*"))
        forged = altered(unchanged, {"ETag": tag})
        rejected(forger, asked(STORES, If_None_Match=tag), forged, "not modified")


def test_200_for_a_tag_that_is_current_is_rejected() -> None:
    forger = Forger()
    right = forger.ask(asked(STORES))
    rejected(forger, asked(STORES, If_None_Match=f"W/{right.etag}"), right, "status")
    rejected(forger, asked(STORES, If_Match=f"W/{right.etag}"), right, "status")


def test_304_for_a_date_before_that_of_the_data_is_rejected() -> None:
    forger = Forger()
    unchanged = forger.ask(asked(STORES, If_None_Match="*"))
    rejected(forger, asked(STORES, If_Modified_Since="Fri, 15 Nov 2024 08:00:00 GMT"), unchanged, "not modified")


def test_412_for_a_tag_that_is_current_is_rejected() -> None:
    forger = Forger()
    tag = forger.ask(asked(STORES)).etag
    failed = forger.ask(asked(STORES, If_Match='"other"'))
    rejected(forger, asked(STORES, If_Match=tag), failed, "precondition")


def test_equal_tags_for_different_bytes_are_rejected() -> None:
    forger = Forger()
    right = forger.ask(asked(STORES, **BROTLI))
    other = brotli.compress(right.plain, quality=0)
    forged = altered(right, {"Content-Length": str(len(other))}, body=other)
    rejected(forger, asked(STORES, **BROTLI), forged, "tag")


@pytest.mark.parametrize("change", [{"ETag": '"other"'}, {"Content-Length": "1"}])
def test_head_with_another_tag_or_length_than_get_is_rejected(change: dict[str, str]) -> None:
    forger = Forger()
    forger.ask(asked(STORES, **BROTLI))
    right = forger.ask(asked(STORES, "HEAD", **BROTLI))
    rejected(forger, asked(STORES, "HEAD", **BROTLI), altered(right, change), "tag")


@pytest.mark.parametrize("path", [STORES, "/companies/nobody"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_length_that_is_not_that_of_the_plain_body_is_rejected(path: str, method: str) -> None:
    forger, request = Forger(), asked(path, method)
    right = forger.right(forger.send(request), NEW)
    rejected(forger, request, altered(right, {"Content-Length": "5"}), "length")


def test_a_weak_tag_is_rejected() -> None:
    forger = Forger()
    right = forger.right(forger.send(asked(STORES)), NEW)
    rejected(forger, asked(STORES), altered(right, {"ETag": 'W/"x"'}), "tag")
