"""The checker accepts right replies and rejects forged ones: it can fail for each promise."""

from itertools import product

import brotli
import pytest
from msgspec.structs import replace

from tests.composition.checker import Violation
from tests.composition.configurations import (
    BURST,
    HIGH_RATE_KEY,
    LOW_RATE_KEY,
    OTHER_PUBLIC_KEY,
    PLAIN_KEY,
    REVOKED_KEY,
)
from tests.composition.coverage_counters import CoverageCounters, RateBudget
from tests.composition.forged import COMPANIES, CONFIG, NEW, OLD, STORES, Forger, altered, asked, public, rejected
from tests.composition.request import HTTP_1_0, HTTP_1_1, REQUEST_ID, Request
from tests.composition.target import EMBEDDED

REQUESTS = [
    asked(STORES),
    asked(COMPANIES, Accept_Encoding="br", Origin="https://shop.example"),
    asked("/companies/acme", "HEAD", Accept_Encoding="br"),
    asked(STORES, If_None_Match="*"),
    asked(STORES, Accept="application/geo+json", query="unknown=1"),
    asked("/stores.ndjson"),
    asked("/stores.ndjson", "HEAD", Accept_Encoding="br", query="limit=5"),
    asked("/stores.ndjson", If_None_Match="*"),
    asked(STORES, If_Modified_Since="Fri, 15 Jan 2100 08:00:00 GMT"),
    asked(STORES, If_Match='"other"'),
    asked(STORES, X_Dataset_Version="other"),
    asked(STORES, query="unknown=1"),
    asked(STORES, query="unknown=1", If_None_Match="*"),
    asked(STORES, query="unknown=1", Prefer="handling=strict"),
    asked(STORES, query="unknown=1", Prefer="handling=strict", Accept="application/problem+json"),
    asked("/companies/nobody", Accept="application/problem+json"),
    asked(STORES, x_api_key="wrong"),
    asked(STORES, x_api_key=HIGH_RATE_KEY),
    asked(EMBEDDED.path, Accept_Encoding="br", Origin="https://other.example"),
    asked(EMBEDDED.path, x_api_key="wrong"),
    asked(EMBEDDED.path, If_None_Match="*"),
    asked(STORES, "POST"),
    asked(STORES, "OPTIONS", Origin="https://shop.example", Access_Control_Request_Method="GET"),
    public(STORES, Origin="https://shop.example"),
    public(STORES, Origin="https://other.example", named=f"key={OTHER_PUBLIC_KEY}"),
    public(STORES, Origin="https://other.example"),
    public(STORES, Sec_Fetch_Site="same-origin", If_None_Match="*"),
    public(COMPANIES, Origin="https://shop.example"),
    public(STORES, named=f"%6bey={REVOKED_KEY}", Origin="https://shop.example"),
    public(STORES, named=f"key={PLAIN_KEY}"),
    replace(asked(STORES, Origin="https://other.example"), named=f"key={OTHER_PUBLIC_KEY}"),
    asked(STORES, "OPTIONS", Origin="https://other.example", Access_Control_Request_Method="GET"),
]
each_request = pytest.mark.parametrize("request_", REQUESTS, ids=range(len(REQUESTS)))


@each_request
def test_right_replies_are_accepted_from_any_data_that_may_be_served(request_: Request) -> None:
    forger = Forger()
    for edition in (OLD, NEW, OLD):
        forger.ask(request_, edition)


@each_request
def test_a_field_that_is_missing_or_another_is_rejected(request_: Request) -> None:
    forger = Forger()
    right = forger.ask(request_)
    for name, value in product(set(right.headers) - {REQUEST_ID, "Content-Length"}, (None, "")):
        sent = forger.send(request_)
        with pytest.raises(Violation):
            forger.check(sent, altered(right, {name: value, REQUEST_ID: sent.identifier}), NEW)


@each_request
def test_another_status_is_rejected(request_: Request) -> None:
    forger = Forger()
    right = forger.ask(request_)
    for status in {200, 304, 401, 403, 404, 405, 412, 422, 429, 500, 503} - {right.status}:
        sent = forger.send(request_)
        with pytest.raises(Violation):
            forger.check(sent, altered(right, {REQUEST_ID: sent.identifier}, status=status), NEW)


@pytest.mark.parametrize("persistence", [(HTTP_1_0, ""), (HTTP_1_0, "Keep-Alive"), (HTTP_1_1, ""), (HTTP_1_1, "close")])
def test_the_framing_and_the_end_of_a_connection_of_another_version_are_rejected(persistence: tuple[str, str]) -> None:
    forger = Forger()
    for path in (STORES, "/stores.ndjson"):
        sent = forger.send(asked(path), *persistence)
        right = forger.right(sent, NEW)
        forger.check(sent, right, NEW)
        for fields in product((None, "keep-alive", "close"), (None, "chunked")):
            forged = altered(right, dict(zip(("Connection", "Transfer-Encoding"), fields, strict=True)))
            if forged.headers != right.headers:
                with pytest.raises(Violation, match=r"^fields: "):
                    forger.check(sent, forged, NEW)


def test_a_503_is_accepted_if_the_key_may_have_another_long_query_and_this_one_is_run() -> None:
    forger, impatient = Forger(), replace(CONFIG, impatient=True)
    tag = forger.ask(asked(STORES)).etag
    run = asked(STORES), asked(STORES, "HEAD"), asked(STORES, If_None_Match="*"), asked("/clusters", If_Match='"other"')
    for request in run:
        sent = forger.send(request)
        reply = forger.right(sent, NEW, busy=True)
        assert reply.status == 503
        forger.checker.check(replace(sent, contended=True), reply, [NEW], impatient)
        for contended, config in ((False, impatient), (True, CONFIG)):
            with pytest.raises(Violation, match=r"^status: "):
                forger.checker.check(replace(sent, contended=contended), reply, [NEW], config)
    for request in (asked("/companies/acme"), asked(STORES, If_None_Match=tag), asked(STORES, If_Match='"other"')):
        assert forger.right(forger.send(request), NEW, busy=True).status != 503


def test_the_reply_to_another_request_is_rejected() -> None:
    forger = Forger()
    sent, other = forger.send(asked(STORES)), forger.send(asked(STORES))
    with pytest.raises(Violation, match=r"^order: "):
        forger.check(sent, forger.right(other, NEW), NEW)


def test_the_ignored_parameters_of_another_request_are_rejected() -> None:
    forger = Forger()
    for conditions in ({}, {"If_None_Match": "*"}):
        right = forger.ask(asked(STORES, query="unknown=1", **conditions))
        rejected(forger, asked(STORES, query="another=1", **conditions), right, "fields")


def test_a_reply_to_a_public_key_that_another_website_may_read_is_rejected() -> None:
    forger = Forger()
    request = public(STORES, Origin="https://other.example", named=f"key={OTHER_PUBLIC_KEY}")
    right = forger.ask(request)
    assert (right.status, right.headers["Access-Control-Allow-Origin"]) == (200, "https://other.example")
    for allowed in ("*", "https://shop.example", None):
        rejected(forger, request, altered(right, {"Access-Control-Allow-Origin": allowed}), "fields")
    rejected(forger, public(STORES, Origin="https://other.example"), right, "status")


def test_data_that_is_not_served_any_more_is_rejected() -> None:
    forger = Forger()
    sent = forger.send(asked(STORES))
    with pytest.raises(Violation, match=r"^version: "):
        forger.check(sent, forger.right(sent, OLD), NEW)


def test_the_low_rate_key_gets_its_burst_and_no_more() -> None:
    forger, budget = Forger(), RateBudget(workers=1)
    sent = forger.send(asked(STORES, x_api_key=LOW_RATE_KEY))
    right = forger.right(sent, NEW)
    budget.note(sent, altered(right, {}, status=429))
    with pytest.raises(AssertionError, match="rate: "):
        budget.check()
    for _ in range(BURST):
        budget.note(sent, right)
    budget.check()
    with pytest.raises(AssertionError, match="rate: "):
        budget.note(sent, right)


def test_a_run_without_some_kind_of_reply_fails() -> None:
    counters, forger = CoverageCounters(), Forger()
    sent = forger.send(asked(STORES))
    for _ in range(1500):
        counters.note(sent, forger.right(sent, NEW), old=False)
    assert counters["status 200"] == 1500
    assert {"304 by tag", "coding gzip", "status 429"} <= counters.missing().keys()
    assert not {"status 200", "reloads"} & counters.missing().keys()
    counters["requests"] = 4000
    assert "reloads" in counters.missing()
    counters["reloads"] = 2
    assert "reloads" not in counters.missing()


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
