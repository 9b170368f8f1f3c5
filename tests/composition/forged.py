"""Right replies made without a service, and wrong replies forged from them, to test the checker."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import brotli
import msgspec
import orjson
import pytest
from multidict import CIMultiDict, CIMultiDictProxy

from tests.composition.checker import Checker, Violation
from tests.composition.configurations import KEY, PLAIN_KEY, PUBLIC_KEY, Configuration
from tests.composition.editions import Edition
from tests.composition.expected import SOME
from tests.composition.expected_replies import Case, expected_reply
from tests.composition.questions import Question
from tests.composition.request import HTTP_1_1, REQUEST_ID, Request, Sent
from tests.composition.target import EMBEDDED, PathKind, Target
from tests.fastapi_model.raw_client import RawAnswer
from tests.web.reply import Reply

STORES: Final = "/stores"
COMPANIES: Final = "/companies"
CONFIG: Final = Configuration(name="forged", workers=1, baked=True, origin="https://shop.example", rate_fields=True)
ENCODERS: Final = {"identity": bytes, "br": brotli.compress}


def edition(version: str, modified: int | None) -> Edition:
    """Return a data set in which every question has an answer of its own, of over 1,024 bytes."""

    def plain(path: str, query: str, strict: bool, accept: str) -> RawAnswer:  # noqa: FBT001 - the signature of `Plain`
        if path.endswith("/nobody"):
            return RawAnswer(404, b'{"detail":"Company not found"}')
        if strict and "unknown" in query:
            return RawAnswer(422, b'{"detail":[{"loc":["query","unknown"],"msg":"No","type":"extra_forbidden"}]}')
        if path.endswith(".ndjson"):
            return RawAnswer(200, f'"{path} {query} {version}"\n'.encode())
        data = [path, query, version, accept, "x" * 2000]
        page = {"limit": 7, "num_pages": 2, "page_num": 1, "data": data}
        return RawAnswer(200, orjson.dumps(page))

    return Edition(version, modified, Path(), Path(), plain, {"company_id": ("acme",)})


OLD, NEW = edition("old", 1_700_000_000), edition("new", 1_800_000_000)


def asked(path: str, method: str = "GET", query: str = "", **fields: str) -> Request:
    """Return a request with the key and further fields; write hyphens of names as `_`."""
    kind = PathKind.EMBED if path == EMBEDDED.path else PathKind.RESOURCE
    target = Target(Question(path, path), kind, path, (query,) if query else (), noisy=True, invalid=False)
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    return Request(target, method, {KEY: PLAIN_KEY, **named})


def public(path: str, method: str = "GET", query: str = "", named: str = "", **fields: str) -> Request:
    """Return a request with a key in the query alone, by default a public one."""
    request = asked(path, method, query, **fields)
    others = {name: value for name, value in request.fields.items() if name != KEY}
    return msgspec.structs.replace(request, fields=others, named=named or f"key={PUBLIC_KEY}")


class Forger:
    """Replies to requests as a correct service does, before the eyes of a checker."""

    def __init__(self) -> None:
        self.checker = Checker()
        self._number = 0

    def send(self, request: Request, version: str = HTTP_1_1, connection: str = "") -> Sent:
        """Return the next request as it is sent."""
        self._number += 1
        return Sent(self._number, CONFIG.name, request, version, connection)

    def right(self, sent: Sent, edition: Edition, *, busy: bool = False) -> Reply:
        """Return the right reply from a data set, while the key has another long query or not."""
        wanted = expected_reply(Case(sent, edition, CONFIG, self.checker.ledger, busy=busy))
        fields = {name: "x" if value is SOME else value for name, value in wanted.fields.items() if value is not None}
        fields |= {REQUEST_ID: sent.identifier, "Vary": ", ".join(sorted(wanted.vary))}
        body = b""
        if wanted.plain is not None:
            body = ENCODERS[wanted.fields["Content-Encoding"] or "identity"](wanted.plain)
        elif wanted.members is not None:
            body = orjson.dumps({name: "x" if value is SOME else value for name, value in wanted.members.items()})
        if wanted.tagged:
            fields["ETag"] = f'"{hash(next(iter(wanted.tagged)))}"'
        if wanted.status not in (204, 304) and "Content-Length" not in wanted.fields:
            fields["Content-Length"] = str(len(body))
        return Reply(wanted.status, _headers(fields), b"" if sent.request.method == "HEAD" else body)

    def ask(self, request: Request, edition: Edition = NEW) -> Reply:
        """Return the right reply to a request, after the checker accepted it."""
        sent = self.send(request)
        reply = self.right(sent, edition)
        self.check(sent, reply, OLD, edition)
        return reply

    def check(self, sent: Sent, reply: Reply, *editions: Edition) -> None:
        """Check a reply while any of some data sets may be served."""
        self.checker.check(sent, reply, editions, CONFIG)


def _headers(fields: Mapping[str, str]) -> CIMultiDictProxy[str]:
    return CIMultiDictProxy(CIMultiDict(fields))


def altered(reply: Reply, fields: Mapping[str, str | None], **parts: Any) -> Reply:
    """Return a reply with other fields, without those that are `None`, and with other parts."""
    kept = {name: value for name, value in {**reply.headers, **fields}.items() if value is not None}
    return msgspec.structs.replace(reply, headers=_headers(kept), **parts)


def rejected(forger: Forger, request: Request, reply: Reply, promise: str) -> str:
    """Return the message with which a reply is rejected; assert which promise it breaks."""
    sent = forger.send(request)
    with pytest.raises(Violation) as rejection:
        forger.check(sent, altered(reply, {REQUEST_ID: sent.identifier}), NEW)
    assert rejection.value.promise == promise, rejection.value
    return str(rejection.value)
