"""`store-directory probe`: the health check of a container, which may have no other HTTP client."""

from contextlib import closing
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from typing import Final
from urllib.parse import SplitResult, urljoin, urlunsplit

import click

from service.texts import printable, split_url

_SECONDS: Final = 3
_PROBES: Final = ("/health", "/ready")


def _parse_url(_context: click.Context, _argument: click.Parameter, text: str) -> SplitResult:
    """Return the parts of a URL; raise a usage error if it cannot be the address of a service."""
    if not (url := split_url(text, "http")) or not text.isascii() or not text.isprintable():
        raise click.BadParameter(f"{text!r} is not http://HOST:PORT/PATH")
    return url


@click.command()
@click.argument("url", callback=_parse_url)
def probe(url: SplitResult) -> None:
    """Request URL, such as http://127.0.0.1:8080/ready. Exit with 0 if the status is 2xx, else with 1.

    A server that sends nothing for 3 seconds has failed. Redirects are not followed, and no proxy is used.
    """
    address = url.geturl()
    try:
        with closing(HTTPConnection(str(url.hostname), url.port, timeout=_SECONDS)) as connection:
            connection.request("GET", urlunsplit(("", "", url.path, url.query, "")) or "/")
            status = connection.getresponse().status
    except (OSError, HTTPException) as error:
        why = printable(getattr(error, "strerror", None) or str(error))
        raise click.ClickException(f"{address}: {why}") from error
    if status // 100 != 2:  # noqa: PLR2004 - the class of success
        hint = "" if url.path.strip("/") else f"; the health check is {urljoin(address, '/ready')}"
        if status == HTTPStatus.NOT_FOUND and url.path in _PROBES:
            hint = f"; with --admin, {url.path} is answered at that address alone"
        raise click.ClickException(f"{address}: status {status}{hint}")
    click.echo(f"{address}: status {status}")
