"""Every query of the dashboard, sent to a Prometheus that scrapes a service under load."""

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any, Final
from urllib.parse import urlencode
from urllib.request import urlopen

import orjson
import pytest

from service.access.key_file import change_keys
from tests.interop.cache_client import FIRST, fetch
from tests.interop.caching_proxies import HOST, configure
from tests.interop.software import found, running
from tests.program import SECONDS, eventually, serving

EMPTY: Final = "/stores?q=nothing+has+these+words"
EXAMPLES: Final = Path(__file__).parents[2] / "examples" / "grafana"
DASHBOARD: Final = orjson.loads((EXAMPLES / "dashboard.json").read_bytes())
# What Grafana puts in the place of its variables.
VARIABLES: Final = {"$__rate_interval": "1m", "$instance": ".*"}
# Holds once it has seen the numbers of each answer rise.
LOADED: Final = 'count(sum by (status) (rate(store_directory_http_requests_total{status=~"200|404|422"}[1m])) > 0) == 3'
QUESTIONS: Final = [(panel["title"], target["expr"]) for panel in DASHBOARD["panels"] for target in panel["targets"]]


def put(prometheus: str, expression: str) -> list[Any]:
    """Return the values of an expression in Prometheus; fail if it is invalid."""
    for name, value in VARIABLES.items():
        expression = expression.replace(name, value)
    assert "$" not in expression
    address = f"{prometheus}/api/v1/query?{urlencode({'query': expression})}"
    with urlopen(address, timeout=SECONDS) as response:  # noqa: S310 - an address of our own
        reply = orjson.loads(response.read())
    assert reply["status"] == "success"
    return [each for each in reply["data"]["result"] if each["value"][1] != "NaN"]


def is_ready(prometheus: str) -> bool:
    """Return whether Prometheus is ready."""
    try:
        urlopen(f"{prometheus}/-/ready", timeout=SECONDS).close()  # noqa: S310 - an address of our own
    except OSError:  # nobody listens, or 503
        return False
    return True


@contextmanager
def loading(service: str) -> Iterator[None]:
    """Send requests to a service as long as the block lasts: rates are those of the last minute."""
    ended = Event()

    def load() -> None:
        while not ended.is_set():
            for target in ("/stores", "/stores?city=toronto", "/companies", "/stores?limit=0", "/nowhere", EMPTY):
                fetch(service, target, FIRST, ("Accept-Encoding", "gzip"))
            ended.wait(0.1)

    with ThreadPoolExecutor(1) as client:
        sent = client.submit(load)
        try:
            yield
        finally:
            ended.set()
            sent.result()


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory, unused_tcp_port_factory: Callable[[], int]) -> Iterator[str]:
    """Send requests to a service, and return the address of a Prometheus that scrapes it."""
    folder, port = tmp_path_factory.mktemp("prometheus"), unused_tcp_port_factory()
    keys = ("--api-key", FIRST[1], "--key-file", folder / "keys.json")
    change_keys(folder / "keys.json", lambda entries: entries)
    with serving(*keys, "--admin", f"{HOST}:0", "--workers", "2", "--cache", folder / "cache") as service:
        (admin,) = re.findall(r"^Probes and metrics on http://(\S+)$", service.printed, re.MULTILINE)
        configure(EXAMPLES / "prometheus.yml", folder, ("127.0.0.1:9000", admin), ("15s", "1s"))
        options = (f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'data'}")
        command = [found("prometheus", package="prometheus"), *options, f"--web.listen-address={HOST}:{port}"]
        address = f"http://{HOST}:{port}"
        is_up = running(command, folder / "prometheus.log", ready=lambda: is_ready(address))
        with is_up, loading(service.address):
            eventually(lambda: put(address, LOADED))
            yield address


def test_every_target_is_up_and_what_it_sent_was_understood(prometheus: str) -> None:
    with urlopen(f"{prometheus}/api/v1/targets?state=active", timeout=SECONDS) as response:  # noqa: S310 - as above
        targets = orjson.loads(response.read())["data"]["activeTargets"]
    assert [(each["labels"]["job"], each["health"], each["lastError"]) for each in targets] == [
        ("store-directory", "up", "")
    ]


@pytest.mark.parametrize(("title", "expression"), QUESTIONS)
def test_every_panel_has_data(prometheus: str, title: str, expression: str) -> None:
    assert eventually(lambda: put(prometheus, expression)), title


def test_the_panels_show_plausible_values(prometheus: str) -> None:
    by_title = dict(QUESTIONS)
    routes = {each["metric"]["route"] for each in put(prometheus, by_title["Requests by route"])}
    assert {"/stores", "/companies", "unmatched"} <= routes
    statuses = {each["metric"]["status"] for each in put(prometheus, by_title["Requests by status"])}
    assert {"200", "404", "422"} <= statuses
    for title in ("Error ratio", "Hit ratio of the cache of responses"):
        (shown,) = put(prometheus, by_title[title])
        assert 0 < float(shown["value"][1]) <= 1


def test_every_metric_of_failures_has_a_panel() -> None:
    shown = " ".join(expression for _, expression in QUESTIONS)
    documented = (EXAMPLES.parents[1] / "docs" / "interface.md").read_text()
    names = set(re.findall(r"^\| `(store_directory_\w+)`", documented, re.MULTILINE))
    assert {name for name in names if name not in shown} <= {
        "store_directory_companies",
        "store_directory_confirmed_timestamp_seconds",
        "store_directory_dataset_timestamp_seconds",
        "store_directory_http_request_duration_seconds",
    }


def test_panels_do_not_overlap() -> None:
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in DASHBOARD["panels"])
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
