"""Readers as their growth is measured: they read, and nothing that they have read is checked."""

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from service.errors import RequestError, UnprocessableContent
from service.kinds import POSTAL, WORDS, rank_number, read_flag, read_instant
from service.loading.compiler import Compiler
from service.loading.faults import RefusedError
from service.loading.formats import FORMATS
from service.loading.unpack import unpack
from service.query import Reader
from service.records import STORES
from service.web.connections.body import ChunkedBody
from service.web.connections.heads import HeadReader
from service.web.connections.refusals import Refusal
from service.web.connections.request import read_request
from service.web.parsed_query import ParsedQuery
from service.web.target import query_pairs

_READER: Final = Reader(STORES)


def read_heads(given: bytes) -> None:
    """Read the heads of requests."""
    reader, received = HeadReader(), bytearray(given)
    while (head := reader.read(received, ended=True)) is not None and not isinstance(head, Refusal):
        read_request(head, bytearray(), None)


def skip_chunks(given: bytes) -> None:
    """Skip a body in chunks."""
    with suppress(RequestError):
        ChunkedBody().skip(bytearray(given))


def read_query(given: bytes) -> None:
    """Read a query of stores, and write the beginning and the links of its page."""
    raw = given.translate(None, b"\r\n\0").decode("utf-8", "surrogateescape")
    with suppress(UnprocessableContent):
        ParsedQuery(raw, _READER.read(query_pairs(raw), strict=True)).frame(1)


def match_value(given: bytes) -> None:
    """Read one value as each kind of field does."""
    text = given.decode("utf-8", "replace")
    for read in (WORDS.matched, POSTAL.matched, rank_number, read_flag, read_instant):
        read(text)


def load_stores(form: str) -> Callable[[bytes], None]:
    """Return what reads stores in a format, checks them and makes a table of them."""

    def read(given: bytes) -> None:
        compiler = Compiler(STORES, file="file", companies=None)
        with suppress(RefusedError):
            for batch in FORMATS[form].read(unpack(given, None), STORES):
                compiler.add(batch)
            compiler.close()
            compiler.build()

    return read
