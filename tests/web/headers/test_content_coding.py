"""Content codings (RFC 9110 section 12.5.3)."""

import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

import brotli
import pytest
from hypothesis import example, given, settings, strategies as st

from service.dataset import Dataset
from service.web.http import content_coding
from service.web.http.response import Answer
from service.web.pipeline.plan import CommonHeaders, Identity, Plan, Representation
from tests.baking.random_datasets import loaded
from tests.directory import store, write_directory
from tests.web.conftest import SiteClient
from tests.web.live import Client
from tests.web.negotiation import CODINGS, MIN_BYTES, negotiated
from tests.web.reply import ask

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# Between 1 KiB and 32 KiB, and above.
SHORT, LONG = "/stores?limit=10", "/stores"
ROOT = Path(__file__).parents[3]
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
@given(members=members(), space=st.sampled_from((",", ", ", " ,\t")), size=st.sampled_from((MIN_BYTES - 1, MIN_BYTES)))
@example(members=[], space=",", size=MIN_BYTES)
@example(members=["*"], space=",", size=MIN_BYTES)
@example(members=["*;q=0"], space=",", size=MIN_BYTES)
@example(members=["identity;q=0"], space=",", size=MIN_BYTES)
@example(members=["identity;q=0", "br"], space=",", size=MIN_BYTES - 1)
@example(members=["*;q=0", "gzip;q=0.001"], space=",", size=MIN_BYTES - 1)
@example(members=["gzip;q=0.5", "identity;q=0.5"], space=",", size=MIN_BYTES)
@example(members=["gzip;q=0.5", "identity;q=0.6", "*;q=0"], space=",", size=MIN_BYTES)
def test_the_coding_is_the_one_with_the_highest_weight(members: Sequence[str], space: str, size: int) -> None:
    accepted = space.join(members)
    representation = Representation(Identity("/", "", ""), CommonHeaders(headers="", vary=""))
    plan = Plan(representation, lambda: Answer(()))
    assert plan.coding(Answer((bytes(size),)), content_coding.acceptable(accepted)).token == negotiated(accepted, size)


async def test_accept_encoding_may_have_several_lines(client: Client) -> None:
    answer = await ask(client, LONG, "Accept-Encoding: zstd;q=0.2", "Accept-Encoding: br;q=0.1, gzip;q=0.3")
    assert answer.coding == "gzip"
    assert (await ask(client, LONG, "Accept-Encoding: gzip, br;q=0", "Accept-Encoding: *;q=0")).coding == "gzip"


async def test_errors_probes_and_metrics_are_never_encoded(client: Client) -> None:
    for target in ("/health", "/ready", "/metrics", "/nope", "/stores?limit=0", "/companies/nobody"):
        answer = await ask(client, target, "Accept-Encoding: gzip, br, zstd, identity;q=0")
        assert "Content-Encoding" not in answer.headers
        assert "accept-encoding" not in answer.listed("Vary")


async def test_a_long_error_is_not_encoded(client: Client) -> None:
    query = "&".join(f"unknown{number}=x" for number in range(300))
    answer = await ask(client, f"/stores?{query}", "Prefer: handling=strict", "Accept-Encoding: gzip")
    assert (answer.status, answer.coding, len(answer.body) > MIN_BYTES) == (422, "identity", True)


async def test_cached_and_newly_encoded_bodies_are_the_same_bytes(client: Client, site_client: SiteClient) -> None:
    uncached = await site_client(response_cache=0)
    for target, coding in product((SHORT, LONG), CODINGS):
        answers = [await ask(each, target, f"Accept-Encoding: {coding}") for each in (client, client, uncached)]
        assert len({(answer.coding, answer.etag, answer.body) for answer in answers}) == 1
        assert len(answers[0].body) < len(answers[0].plain)
        assert coding != "gzip" or answers[0].body[4:8] == bytes(4)  # no timestamp


# In a process of its own. A first encoder of each coding makes what is made once.
HOLDS = """
from pathlib import Path
from service.web.http.content_coding import CODINGS

def anonymous():
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("RssAnon")]
    return int(line.split()[1]) << 10

def started(coding):
    pieces = coding.encode_pieces(body())
    sent = [next(pieces) for _ in range(14)]
    return pieces

def body():
    for first in range(0, 1_000_000, 14_000):
        yield b"".join(b"%d,%x," % (number * 7919, number * 104729) for number in range(first, first + 14_000))

assert 240 << 10 < len(next(body())) <= 256 << 10
kept = [started(coding) for coding in CODINGS]
for coding in CODINGS:
    before = anonymous()
    kept += [started(coding) for _ in range(12)]
    print((anonymous() - before) // 12, coding.part_encoder_bytes)
"""


@pytest.mark.ci
@pytest.mark.process
def test_an_encoder_of_parts_takes_no_more_memory_than_it_is_counted_as() -> None:
    command = [sys.executable, "-c", HOLDS]
    printed = subprocess.run(command, capture_output=True, check=True, text=True, cwd=ROOT).stdout
    for line in printed.splitlines():
        measured, counted = map(int, line.split())
        # The system counts pages, which the allocator fills more or less.
        assert measured <= 1.02 * counted <= 2 * measured
