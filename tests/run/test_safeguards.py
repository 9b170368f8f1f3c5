"""A reload that looks like an accident is refused; options allow it."""

import signal
from functools import partial
from pathlib import Path

import pytest

from tests.program import Running, eventually
from tests.run.conftest import Serve
from tests.run.generations import bake_stores

pytestmark = [pytest.mark.process, pytest.mark.ci]

EMPTIED = (
    "0 stores, at least 1 needed; 0 of 20 stores left, 100 % fewer than served now; "
    "--min-stores 0 --max-shrink 1 allows that"
)


def has_refused(service: Running, why: str, since: str = "") -> bool:
    """Return whether the last reload was refused for this reason, by /ready and the metrics."""
    reload = service.ready()["last_reload"]
    counted = service.metrics()["store_directory_reload_success"]
    return (reload["ok"], reload["error"], counted) == (False, why, 0) and bool(reload["at"] > since)


def serves(service: Running, stores: int) -> bool:
    return {service.metrics()["store_directory_stores"], service.ready()["stores"]} == {stores}


def test_a_reload_that_an_option_allows_is_served_and_another_refused_and_reported_also_after_sighup(
    serve: Serve, tmp_path: Path
) -> None:
    service = serve(bake_stores(tmp_path, 100), "--workers", "2", "--max-shrink", "0.9")
    bake_stores(tmp_path, 20)
    eventually(partial(serves, service, 20))
    bake_stores(tmp_path, 0)
    eventually(partial(has_refused, service, EMPTIED))
    since = service.ready()["last_reload"]["at"]
    service.process.send_signal(signal.SIGHUP)
    eventually(partial(has_refused, service, EMPTIED, since))
    assert serves(service, 20)
    (line,) = (line for line in service.logged() if "fewer" in line)
    assert line.endswith(f" {EMPTIED}; the previous data is still served")
    bake_stores(tmp_path, 19)
    eventually(partial(serves, service, 19))
    eventually(lambda: service.ready()["last_reload"]["ok"])  # any worker may respond
