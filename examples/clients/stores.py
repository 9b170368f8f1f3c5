#!/usr/bin/env python3
"""A client of Store Directory in plain Python: API_KEY=sd_… python stores.py http://127.0.0.1:8080."""

import json
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping
from email.message import Message
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode, urljoin
from urllib.request import Request, urlopen

ATTEMPTS = 5
NOT_MODIFIED, PRECONDITION_FAILED, TOO_MANY_REQUESTS, UNAVAILABLE = 304, 412, 429, 503


class Response:
    """A response: its status, its header fields, and its JSON."""

    def __init__(self, url: str, status: int, headers: Message, body: bytes) -> None:
        self.url, self.status, self.headers = url, status, headers
        self.json: Any = json.loads(body) if body else None

    @property
    def next_url(self) -> str | None:
        """The URL of the next page, which the header Link has relative to that of this page."""
        link = re.search(r'<([^>]*)>; rel="next"', self.headers.get("Link", ""))
        return urljoin(self.url, link[1]) if link else None


def get(url: str, headers: Mapping[str, str] | None = None) -> Response:
    """Send a request; after 429 and 503 wait as long as the service says, and try again.

    Returns responses with 200, 304 and 412; raises HTTPError for others.
    """
    request = Request(url, headers={"x-api-key": os.environ["API_KEY"], **(headers or {})})
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with urlopen(request, timeout=30) as response:
                return Response(url, response.status, response.headers, response.read())
        except HTTPError as error:
            with error:
                if error.code in (NOT_MODIFIED, PRECONDITION_FAILED):
                    return Response(url, error.code, error.headers, error.read())
                if error.code not in (TOO_MANY_REQUESTS, UNAVAILABLE) or attempt == ATTEMPTS:
                    raise
                seconds = int(error.headers.get("Retry-After", attempt))
                print(f"status {error.code}, trying again in {seconds} s", file=sys.stderr)
        time.sleep(seconds)
    raise AssertionError  # the last attempt returns or raises


def pages(url: str) -> Iterator[Response]:
    """Yield a page and all that follow; data that changes meanwhile may repeat or leave out stores."""
    next_url: str | None = url
    while next_url:
        page = get(next_url)
        yield page
        next_url = page.next_url


def stores_of_one_version(url: str) -> tuple[str, list[dict[str, Any]]]:
    """Return a data version and all of its stores; start again if the data changes on the way."""
    version, next_url = "", url
    stores: list[dict[str, Any]] = []
    while True:
        page = get(next_url, {"X-Dataset-Version": version})  # empty: any version
        if page.status == PRECONDITION_FAILED:
            print("the data has changed, starting again", file=sys.stderr)
            version, stores, next_url = "", [], url
            continue
        version = page.headers["X-Dataset-Version"]
        stores += page.json["data"]
        if page.next_url is None:
            return version, stores
        next_url = page.next_url


def main(service: str, city: str, near: str, limit: str) -> None:
    """Print the open stores of a city, all stores, what is unchanged, and the stores near a point."""
    if not os.environ.get("API_KEY"):
        print("API_KEY is not set: API_KEY=sd_… python stores.py", file=sys.stderr)
        sys.exit(2)
    url = f"{service}/stores?"

    found = get(url + urlencode({"city": city, "is_open": "true", "sort_by": "name"}))
    names = ", ".join(store["name"] for store in found.json["data"])
    print(f"{found.json['total_count']} open stores in {city}: {names}")

    everything = url + urlencode({"limit": limit})
    walked = list(pages(everything))
    print(f"{sum(len(page.json['data']) for page in walked)} stores on {len(walked)} pages")

    version, stores = stores_of_one_version(everything)
    print(f"{len(stores)} stores of version {version}")

    page = get(everything)
    again = get(everything, {"If-None-Match": page.headers["ETag"]})
    print("the first page is unchanged" if again.status == NOT_MODIFIED else "the first page has changed")

    nearest = get(url + urlencode({"near": near, "radius": 10_000, "limit": 3}))
    for store in nearest.json["data"]:
        print(f"{store['distance']} m: {store['name']}")


if __name__ == "__main__":
    main(*sys.argv[1:], *("http://127.0.0.1:8080", "Toronto", "43.65,-79.38", "1000")[len(sys.argv) - 1 :])
