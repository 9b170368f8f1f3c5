"""Content codings (RFC 9110 section 12.5.3)."""

import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import brotli
import pytest
from hypothesis import example, given, settings, strategies as st

from service.dataset import Dataset
from service.publishing.snapshot import SnapshotHolder
from service.web.http import content_coding
from tests.baking.random_datasets import loaded
from tests.directory import company, store, write_directory
from tests.loaded import serve
from tests.web.conftest import SiteClient
from tests.web.live import Client, stable_fields
from tests.web.negotiation import CODINGS, MIN_BYTES, negotiated
from tests.web.reply import ask

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# Below 1 KiB, between, and above 32 KiB.
TINY, SHORT, LONG = "/companies/acme", "/stores?limit=10", "/stores"
ROOT = Path(__file__).parents[3]
TARGETS = (TINY, SHORT, LONG)
DOCUMENTS = ("/openapi.json", "/docs", "/docs/page.js", "/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js")
STORES = [store(f"s{number}", name=f"Number {number}", created_at="2024-01-01") for number in range(200)]

WEIGHTS = ("", ";q=1", ";q=0", "; q=0.5", " ;q=0.5", "\t;\tQ=0.9", ";q=0.501", ";q=1.000", ";q=0.000", ";q=0.", ";q=.5")
BAD_WEIGHTS = (";q=", ";q=2", ";q=1.001", ";q=-1", ";q=x", ";q=nan", ";q=1e0", ";q=0,5", ";q=\u0660")
NAMES = ("gzip", "GZip", "x-gzip", "X-GZIP", "br", "Br", "zstd", "ZSTD", "identity", "Identity", "*")
UNKNOWN = ("deflate", "compress", "gzip2", "dcb", "gz", "brotli")
GARBAGE = ("", " ", "@@", '"gzip"', "gzip br", ";q=1", "=", "gzip/1", "é", "q=1;gzip")


def of_brotli() -> Callable[[bytes], bytes]:
    decoder = brotli.Decompressor()

    def decode(part: bytes) -> bytes:
        decoded: bytes = decoder.process(part)
        while more := decoder.process(b""):  # since 1.2 it returns a part at a time
            decoded += more
        return decoded

    return decode


DECODERS: Mapping[str, Callable[[], Callable[[bytes], bytes]]] = {
    "zstd": lambda: zstd.ZstdDecompressor().decompress,
    "br": of_brotli,
    "gzip": lambda: zlib.decompressobj(wbits=31).decompress,
}


@pytest.mark.parametrize("coding", content_coding.CODINGS, ids=lambda coding: coding.token)
def test_each_piece_can_be_read_before_the_next_and_the_bytes_repeat(coding: content_coding.Coding) -> None:
    pieces: list[bytes | memoryview] = [b"a" * 10, b"", memoryview(bytes(range(256)) * 999), b"end"]
    decode, decoded, taken = DECODERS[coding.token](), b"", 0

    def counted() -> Iterator[bytes | memoryview]:
        nonlocal taken
        for piece in pieces:
            assert decoded == b"".join(pieces[:taken])
            taken += 1
            yield piece

    encoded = []
    for part in coding.encode_pieces(counted()):
        encoded.append(part)
        decoded += decode(bytes(part))
    assert decoded == b"".join(pieces)
    assert b"".join(coding.encode_pieces(iter(pieces))) == b"".join(encoded)


def canonical(name: str) -> str:
    return name.lower().removeprefix("x-")


def members() -> st.SearchStrategy[list[str]]:
    """Return members of Accept-Encoding with no coding twice."""
    weight = st.sampled_from(WEIGHTS) | st.sampled_from(BAD_WEIGHTS)
    named = st.lists(st.sampled_from(NAMES), unique_by=canonical, max_size=5)
    others = st.lists(st.sampled_from(UNKNOWN + GARBAGE), max_size=2)
    weighted = named.flatmap(lambda names: st.tuples(*(weight.map(name.__add__) for name in names)))
    return st.tuples(weighted, others).flatmap(lambda both: st.permutations([*both[0], *both[1]]))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return loaded(write_directory(tmp_path_factory.mktemp("data"), STORES))


@settings(max_examples=100)
@given(members=members(), target=st.sampled_from(TARGETS), space=st.sampled_from((",", ", ", " ,\t")))
@example(members=[], target=LONG, space=",")
@example(members=["*"], target=LONG, space=",")
@example(members=["*;q=0"], target=LONG, space=",")
@example(members=["identity;q=0"], target=LONG, space=",")
@example(members=["identity;q=0", "br"], target=TINY, space=",")
@example(members=["*;q=0", "gzip;q=0.001"], target=TINY, space=",")
@example(members=["gzip;q=0.5", "identity;q=0.5"], target=SHORT, space=",")
@example(members=["gzip;q=0.5", "identity;q=0.6", "*;q=0"], target=SHORT, space=",")
async def test_the_coding_is_the_one_with_the_highest_weight(
    client: Client, members: Sequence[str], target: str, space: str
) -> None:
    accepted = space.join(members)
    plain = await ask(client, target)
    answer = await ask(client, target, f"Accept-Encoding: {accepted}")
    assert answer.coding == negotiated(accepted, len(plain.body))
    assert answer.plain == plain.body
    assert (answer.etag == plain.etag) is (answer.coding == "identity")
    assert answer.headers["Vary"] == plain.headers["Vary"]
    assert "accept-encoding" in answer.listed("Vary")


async def test_without_accept_encoding_the_body_is_not_encoded(client: Client) -> None:
    assert (await ask(client, LONG)).coding == "identity"


async def test_accept_encoding_may_have_several_lines(client: Client) -> None:
    answer = await ask(client, LONG, "Accept-Encoding: zstd;q=0.2", "Accept-Encoding: br;q=0.1, gzip;q=0.3")
    assert answer.coding == "gzip"
    assert (await ask(client, LONG, "Accept-Encoding: gzip, br;q=0", "Accept-Encoding: *;q=0")).coding == "gzip"


@pytest.mark.parametrize("coding", CODINGS)
async def test_a_short_response_is_plain_even_if_it_was_sent_encoded_before(client: Client, coding: str) -> None:
    for accepted, sent in ((coding, "identity"), (f"{coding}, identity;q=0", coding), (coding, "identity")):
        assert (await ask(client, TINY, f"Accept-Encoding: {accepted}")).coding == sent


@pytest.mark.parametrize("missing", [1, 0])
async def test_a_body_is_encoded_from_1024_bytes_on(
    client: Client, snapshots: SnapshotHolder, tmp_path: Path, missing: int
) -> None:
    bare = len((await ask(client, "/companies/acme")).body) - len("Acme")
    await serve(snapshots, write_directory(tmp_path, [], [company(name="x" * (MIN_BYTES - missing - bare))]))
    answer = await ask(client, "/companies/acme", "Accept-Encoding: gzip")
    assert len(answer.plain) == MIN_BYTES - missing
    assert answer.coding == ("identity" if missing else "gzip")


@pytest.mark.parametrize("accepted", ["gzip, identity;q=0", "br", "zstd", "identity"])
async def test_head_has_the_fields_of_get(client: Client, accepted: str) -> None:
    field = f"Accept-Encoding: {accepted}"
    for target in (*TARGETS, "/stores?city=nowhere", *DOCUMENTS, "/health") * 2:  # the second time from the cache
        head, get = await ask(client, target, field, method="HEAD"), await ask(client, target, field)
        assert (head.status, head.body) == (200, b"")
        assert stable_fields(head.headers) == stable_fields(get.headers)
        assert int(get.headers["Content-Length"]) == len(get.body)


@pytest.mark.parametrize("path", DOCUMENTS)
async def test_documents_are_encoded(client: Client, path: str) -> None:
    plain = await ask(client, path)
    tags = {plain.etag}
    for coding in CODINGS:
        answer = await ask(client, path, f"Accept-Encoding: {coding}")
        assert answer.coding == (coding if len(plain.body) >= MIN_BYTES else "identity")
        assert answer.plain == plain.body
        assert answer.headers["Content-Type"] == plain.headers["Content-Type"]
        tags.add(answer.etag)
        not_modified = await ask(client, path, f"Accept-Encoding: {coding}", f"If-None-Match: {answer.etag}")
        assert (not_modified.status, not_modified.etag) == (304, answer.etag)
    assert len(tags) == (1 + len(CODINGS) if len(plain.body) >= MIN_BYTES else 1)


@pytest.mark.parametrize("target", ["/health", "/ready", "/metrics", "/nope", "/stores?limit=0", "/companies/nobody"])
async def test_errors_probes_and_metrics_are_never_encoded(client: Client, target: str) -> None:
    answer = await ask(client, target, "Accept-Encoding: gzip, br, zstd, identity;q=0")
    assert "Content-Encoding" not in answer.headers
    assert "accept-encoding" not in answer.listed("Vary")


async def test_a_long_error_is_not_encoded(client: Client) -> None:
    query = "&".join(f"unknown{number}=x" for number in range(300))
    fields = ("Prefer: handling=strict", "Accept-Encoding: gzip")
    answer = await ask(client, f"/stores?{query}", *fields)
    assert (answer.status, answer.coding) == (422, "identity")
    assert len(answer.body) > MIN_BYTES


@pytest.mark.parametrize("target", [SHORT, LONG])
@pytest.mark.parametrize("coding", CODINGS)
async def test_cached_and_newly_encoded_bodies_are_the_same_bytes(
    client: Client, site_client: SiteClient, target: str, coding: str
) -> None:
    uncached = await site_client(response_cache=0)
    field = f"Accept-Encoding: {coding}"
    answers = [await ask(each, target, field) for each in (client, client, uncached, uncached)]
    assert len({(answer.coding, answer.etag, answer.body) for answer in answers}) == 1
    assert len(answers[0].body) < len(answers[0].plain)


async def test_gzip_bodies_have_no_timestamp(client: Client) -> None:
    for target in (SHORT, LONG):
        assert (await ask(client, target, "Accept-Encoding: gzip")).body[4:8] == bytes(4)


@pytest.mark.parametrize("coding", CODINGS)
async def test_the_tag_of_any_acceptable_coding_is_304(client: Client, coding: str) -> None:
    plain = await ask(client, LONG)
    encoded = await ask(client, LONG, f"Accept-Encoding: {coding}")
    for tag, accepted, status in (
        (encoded.etag, coding, 304),
        (plain.etag, coding, 304),
        (plain.etag, f"{coding}, identity;q=0", 200),
        (plain.etag, f"{coding}, *;q=0", 200),
        (encoded.etag, f"{coding};q=0", 200),
        (encoded.etag, "identity", 200),
        (encoded.etag, "*;q=0.1", 304),
        (f"W/{encoded.etag}", f"{coding};q=0.1, *;q=1", 304),
        (f'"x", {encoded.etag}', "*", 304),
    ):
        answer = await ask(client, LONG, f"Accept-Encoding: {accepted}", f"If-None-Match: {tag}")
        assert (answer.status, tag.endswith(answer.etag)) == (status, status == 304)


# In a process of its own. A first encoder makes what is made once.
HOLDS = """
import sys
from pathlib import Path
from service.web.http.content_coding import CODINGS

def anonymous():
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("RssAnon")]
    return int(line.split()[1]) << 10

def started():
    pieces = coding.encode_pieces(body())
    sent = [next(pieces) for _ in range(14)]
    return pieces

def body():
    for first in range(0, 1_000_000, 14_000):
        yield b"".join(b"%d,%x," % (number * 7919, number * 104729) for number in range(first, first + 14_000))

coding = CODINGS[int(sys.argv[1])]
assert 240 << 10 < len(next(body())) <= 256 << 10
once, count = started(), 50
before = anonymous()
kept = [started() for _ in range(count)]
print((anonymous() - before) // count, coding.part_encoder_bytes)
"""


@pytest.mark.process
@pytest.mark.parametrize("coding", content_coding.CODINGS, ids=lambda coding: coding.token)
def test_an_encoder_of_parts_takes_no_more_memory_than_it_is_counted_as(coding: content_coding.Coding) -> None:
    command = [sys.executable, "-c", HOLDS, str(content_coding.CODINGS.index(coding))]
    printed = subprocess.run(command, capture_output=True, check=True, text=True, cwd=ROOT).stdout
    measured, counted = map(int, printed.split())
    # The system counts pages, which the allocator fills more or less.
    assert measured <= 1.02 * counted <= 2 * measured
