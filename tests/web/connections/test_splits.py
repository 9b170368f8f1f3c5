"""Responses do not depend on how the bytes of a client are split into packets."""

import logging
from itertools import accumulate, pairwise

import pytest
from hypothesis import given, strategies as st

from tests.thoroughness import some_of
from tests.web.connections.harness import GET, exchange
from tests.web.connections.malformed import FAMILIES, SECRET, Case

pytestmark = pytest.mark.slow

CHUNKS = b"5;a=b\r\nhello\r\n0\r\nx: y\r\n\r\n"
PROBLEM = b"Accept: application/problem+json\r\n\r\n"


def get(*fields: bytes, line: bytes = b"GET /health HTTP/1.1") -> bytes:
    return b"\r\n".join((line, b"Host: t", *fields, b"", b""))


STREAMS = {
    "a pipeline": (
        [200, 200, 200, 404, 200],
        GET * 2 + get(line=b"HEAD /health HTTP/1.1") + get(line=b"GET /nope HTTP/1.1") + GET,
    ),
    "line ends before requests": ([200, 200, 200], b"\r\n\r\n" + GET + b"\r\n" * 4 + GET + b"\n\r" + GET),
    "most line ends before each request": ([200] * 4, (b"\r\n" * 32 + GET) * 4),
    "too many line ends before a later request": ([200, 200, 400], GET + b"\r\n" * 32 + GET + b"\r\n" * 33 + GET),
    "a body, which is not decoded": (
        [200, 200],
        get(b"Content-Length: 5", b"Content-Encoding: gzip") + b"\r\n\r\n\r" + GET,
    ),
    "a body in chunks": ([200, 200], get(b"Transfer-Encoding: chunked") + CHUNKS + GET),
    "a body of line ends in chunks": (
        [200, 200],
        get(b"Transfer-Encoding: chunked") + b"8\r\n\r\n\r\n\r\n\r\n\r\n0\r\n\r\n" + GET,
    ),
    "a last request, and one behind it": ([200], get(b"Connection: close") + GET),
    "HTTP/1.0": (
        [200, 200],
        get(b"Connection: keep-alive", line=b"GET /health HTTP/1.0") + get(line=b"GET /health HTTP/1.0") + GET,
    ),
    "an upgrade": ([200], get(b"Connection: upgrade", b"Upgrade: websocket") + GET),
    "an expectation": ([200], get(b"Expect: 100-continue", b"Content-Length: 3") + b"abc" + GET),
    "another version": ([200, 400], GET + get(b"Content-Length: 3", line=b"GET /health HTTP/1.2") + b"abc" + GET),
    "a malformed field": ([200, 400], GET + get(b"no colon") + GET),
    "a malformed line": ([200, 400], GET + b"BREW(/\r\n\r\n" + GET),
    "an unknown method": ([200, 405, 200], GET + get(line=b"BREW /health HTTP/1.1")[:-2] + PROBLEM + GET),
    "an unknown method of an unknown path": ([404], get(line=b"BREW /nope HTTP/1.1")[:-2] + PROBLEM),
    "no request line": ([200, 400], GET + b"\r\n" * 50 + GET),
    "the beginning of a request": ([200], GET + GET[:-1]),
    "the beginning of an unknown method": ([200], GET + b"BREW /health HTTP/1.1\r\nAccept: x"),
}
# With fields of thousands of bytes: split at every 97th byte.
LONG = {
    "an address that is too long": (
        [200, 414],
        GET + get(line=b"GET /" + b"a" * 8200 + b" HTTP/1.1")[:-2] + PROBLEM + GET,
    ),
    "a field that is too long": ([200, 431], GET + get(b"a: " + b"b" * 8200)[:-2] + PROBLEM + GET),
    "too many fields": ([200, 431], GET + get(*[b"a: b"] * 101)[:-2] + PROBLEM + GET),
    "a head that is too long": ([200, 431], GET + get(PROBLEM[:-4], *[b"a: " + b"b" * 8000] * 5) + GET),
    "a head that is just not too long": ([200, 200], get(*[b"a: " + b"b" * 8000] * 4) + GET),
    "an unknown method that is too long": ([200, 400], GET + b"B" * 9000 + get(line=b"BREW /health HTTP/1.1")),
}


@pytest.mark.parametrize(("statuses", "stream"), STREAMS.values(), ids=STREAMS)
async def test_responses_do_not_depend_on_where_a_stream_is_split(statuses: list[int], stream: bytes) -> None:
    unsplit = await exchange(stream)
    assert (unsplit.statuses, unsplit.lost) == (statuses, True)
    for end in some_of(range(1, len(stream)), 3):
        split = await exchange(stream[:end], stream[end:])
        assert (end, split.answers, split.lost) == (end, unsplit.answers, True)
    bytewise = await exchange(*[stream[start : start + 1] for start in range(len(stream))])
    assert bytewise.answers == unsplit.answers


REQUESTS = (GET, get(line=b"HEAD /nope HTTP/1.1"), get(b"X-Real-IP: 192.0.2.7"), get(b"Content-Length: 3") + b"a\r\n")
LINE_ENDS = (b"", b"", b"\r\n", b"\r\n" * 5, b"\n", b"\r", b"\r\n" * 32, b"\r\n" * 33)


@given(
    st.lists(st.tuples(st.sampled_from(LINE_ENDS), st.sampled_from(REQUESTS)), min_size=1, max_size=40),
    st.lists(st.integers(1, 200), max_size=80),
    st.booleans(),
)
async def test_responses_do_not_depend_on_how_a_connection_is_split(
    items: list[tuple[bytes, bytes]],
    lengths: list[int],
    each: bool,  # noqa: FBT001 - drawn
) -> None:
    parts = [part for item in items for part in item if part]
    unsplit = await exchange(b"".join(parts))
    if not each:
        stream = b"".join(parts)
        ends = [0, *accumulate(lengths), len(stream)]
        parts = [part for start, end in pairwise(ends) if (part := stream[start:end])]
    split = await exchange(*parts)
    assert (split.answers, split.lost) == (unsplit.answers, unsplit.lost)


@pytest.mark.parametrize(("statuses", "stream"), LONG.values(), ids=LONG)
async def test_responses_do_not_depend_on_where_a_long_stream_is_split(statuses: list[int], stream: bytes) -> None:
    unsplit = await exchange(stream)
    assert unsplit.statuses == statuses
    for step in (97, len(stream) // 3, len(stream) - 1, len(stream) - 2):
        split = await exchange(*[stream[start : start + step] for start in range(0, len(stream), step)])
        assert (step, split.answers) == (step, unsplit.answers)


# In these families some are well-formed HTTP, or over a limit; all others are a 400.
MIXED = ("versions", "targets", "sizes")


def defects(family: str, case: Case, answers: bytes) -> list[str]:
    """Return what is wrong with the last of two responses; no response to the second request is right, too."""
    _, *others = answers.split(b"HTTP/1.1 ")[1:]
    if not others:
        return []
    head, _, body = others[0].partition(b"\r\n\r\n")
    found = {
        "answered more than once": len(others) > 1,
        "not rejected": not head.startswith(b"4"),
        "not 400": family not in MIXED and not head.startswith(b"400 "),
        "not JSON": b"\r\nContent-Type: application/json\r\n" not in head,
        "the secret is echoed": SECRET in answers,
        "not our error form": not body.startswith(b'{"detail":'),
        "details": head.startswith(b"400 ") and body != b'{"detail":"Bad Request"}',
    }
    return [f"{case.name}: {what}: {answers!r}" for what, is_true in found.items() if is_true]


@pytest.mark.parametrize("family", FAMILIES)
async def test_a_malformed_request_is_rejected_wherever_it_is_split_and_its_secret_neither_echoed_nor_logged(
    family: str, caplog: pytest.LogCaptureFixture
) -> None:
    found = []
    with caplog.at_level(logging.DEBUG):
        for case in FAMILIES[family]:
            unsplit = await exchange(GET, case.sent)
            found += defects(family, case, unsplit.answers)
            if family != "sizes":
                bytewise = await exchange(GET, *[case.sent[start : start + 1] for start in range(len(case.sent))])
                assert (case.name, bytewise.answers) == (case.name, unsplit.answers)
    assert found == []
    assert SECRET.decode() not in caplog.text
    assert "Traceback" not in caplog.text
    assert not [record.message for record in caplog.records if record.levelno > logging.WARNING]


def test_there_are_hundreds_of_distinct_cases() -> None:
    sent = [case.sent for cases in FAMILIES.values() for case in cases]
    assert len(set(sent)) == len(sent) >= 300


@pytest.mark.parametrize("line", [b"GET http://xn--/ HTTP/1.1", b"CONNECT xn--a:80 HTTP/1.1", b"GET //xn--a/ HTTP/1.0"])
async def test_an_invalid_host_is_rejected_and_the_connection_closed(
    line: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    wire = await exchange(line + b"\r\nHost: x\r\n\r\n")
    assert (wire.lost, wire.statuses[0] in (400, 404)) == (True, True)
    assert [record.message for record in caplog.records if record.levelno > logging.WARNING] == []
