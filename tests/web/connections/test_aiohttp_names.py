"""The service uses only public names of aiohttp; undocumented ones are listed in one module."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import HttpVersion10, HttpVersion11
from aiohttp.http_exceptions import BadHttpMethod, LineTooLong

from service.web.connections import heads
from service.web.connections.heads import HttpProcessingError, HttpRequestParser, RawRequestMessage
from service.web.connections.limits import MAX_FIELD_BYTES, MAX_FIELDS, MAX_LINE_BYTES

SERVICE = Path(__file__).parents[3] / "service"
SEAM = "web/connections/heads.py"
# The modules that the documentation of aiohttp describes.
DOCUMENTED = ("aiohttp", "aiohttp.web", "aiohttp.hdrs")
MODULES = ("aiohttp.http", "aiohttp.http_exceptions")


def violations(module: ast.Module) -> Iterator[str]:
    """Yield the undocumented names of aiohttp that a module uses; ruff finds private attributes (SLF001)."""
    names = dict(imported(module))
    yield from (name for name in names.values() if not _is_documented(name))
    for node in ast.walk(module):
        if isinstance(node, ast.ClassDef):  # a subclass can use private names of its bases
            yield from (f"class {node.name}({ast.unparse(base)})" for base in node.bases if _root(base) in names)


def imported(module: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the local and the full name of each import from aiohttp."""
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            names = [(each.asname or each.name, each.name) for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [(each.asname or each.name, f"{node.module}.{each.name}") for each in node.names]
        else:
            continue
        yield from (each for each in names if each[1].partition(".")[0] == "aiohttp")


def _is_documented(name: str) -> bool:
    module, _, attribute = name.rpartition(".")
    is_module = (Path(aiohttp.__file__).parent / f"{attribute}.py").exists()
    return name in DOCUMENTED or (module in DOCUMENTED and not attribute.startswith("_") and not is_module)


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def test_the_one_module_that_uses_undocumented_names_exports_them() -> None:
    names = set(violations(ast.parse((SERVICE / SEAM).read_bytes())))
    assert {name.rpartition(".")[0] for name in names} == set(MODULES)
    assert {name.rpartition(".")[2] for name in names} == set(heads.__all__)


@pytest.mark.ci
def test_no_other_module_uses_a_private_or_undocumented_name_of_aiohttp() -> None:
    files = [file for file in SERVICE.rglob("*.py") if file != SERVICE / SEAM]
    assert {str(file): found for file in files if (found := [*violations(ast.parse(file.read_bytes()))])} == {}


def test_use_of_an_undocumented_name_is_found() -> None:
    lines = "import aiohttp.http\nfrom aiohttp.web import _x, Server as S\nclass A(S): ..."
    assert [*violations(ast.parse(lines))] == ["aiohttp.http", "aiohttp.web._x", "class A(S)"]
    assert [*violations(ast.parse("import aiohttp\nclass B(aiohttp.web.Server): ..."))] == [
        "class B(aiohttp.web.Server)"
    ]


def test_the_dependency_excludes_untested_releases_of_aiohttp() -> None:
    assert '"aiohttp>=3.14.4,<3.15"' in (SERVICE.parent / "pyproject.toml").read_text()


def parser(**options: Any) -> HttpRequestParser:
    return HttpRequestParser(None, None, 0, response_with_body=False, **options)


def test_the_parser_returns_one_message_for_a_head_and_sees_no_body() -> None:
    each = parser()
    for _ in range(2):
        assert not each.feed_data(b"POST http://t/a?b HTTP/1.1\r\nHost: t\r\n")[0]
        ((message, _),), *_ = each.feed_data(b"Content-Length: 5\r\n\r\n")
        assert isinstance(message, RawRequestMessage)
        assert (message.method, message.url.raw_path, message.version) == ("POST", "/a", HttpVersion11)
        assert (message.headers["content-length"], message.should_close) == ("5", False)
        assert (message.chunked, message.upgrade) == (False, False)
    ((message, _),), *_ = each.feed_data(b"GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n")
    assert (message.version, message.should_close, message.chunked) == (HttpVersion10, True, True)


def test_the_parser_reports_which_limit_was_exceeded() -> None:
    limits = {"max_line_size": MAX_LINE_BYTES, "max_field_size": MAX_FIELD_BYTES, "max_headers": MAX_FIELDS}
    with pytest.raises(LineTooLong) as caught:
        parser(**limits).feed_data(b"GET /" + b"a" * MAX_LINE_BYTES)
    assert MAX_LINE_BYTES in caught.value.args
    with pytest.raises(LineTooLong) as caught:
        parser(**limits).feed_data(b"GET / HTTP/1.1\r\na:" + b"a" * (MAX_FIELD_BYTES + 1))
    assert MAX_LINE_BYTES not in caught.value.args
    with pytest.raises(HttpProcessingError, match="Too many headers"):
        parser(**limits).feed_data(b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * (MAX_FIELDS + 1) + b"\r\n")
    with pytest.raises(BadHttpMethod):
        parser().feed_data(b"BREW / HTTP/1.1\r\n")
