"""The OpenAPI document in other people's tools: it passes their rules, and clients that they generate work."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import orjson
import pytest

from service.model.attributes import NO_ATTRIBUTES
from service.model.operation import NDJSON
from service.publishing.snapshot import SnapshotHolder
from service.web.pipeline.auth import no_authentication
from service.web.site import make_site
from tests.directory import store, write_directory
from tests.interop.software import TOOLS
from tests.program import Running, serving
from tests.web.live import DEFAULTS, WITH_ADMIN

CLIENTS = Path(__file__).parent / "clients"
KEY = "the-key"
# The tools send and ask nothing.
QUIET = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true", "NO_COLOR": "1"}
STORES = (
    store("s1", city="Toronto", latitude="43.70", longitude="-79.4"),
    store("s2", city="Ottawa", latitude="45.42", longitude="-75.7"),
    store("s3", city="Montréal", latitude="45.5", longitude="-73.6"),
    store("s4", city="Ottawa"),
)
# What the scripts of all clients print: the stores of two cities with their distance, and an error.
PRINTED = "Toronto 5787.8\nOttawa 351817.8\nOttawa unknown\nquery limit greater_than_equal\n"

# Runs a tool in the folder of a test; fails unless it succeeds.
Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    path = os.pathsep.join([str(TOOLS / "bin"), str(TOOLS / "node_modules" / ".bin"), os.environ["PATH"]])
    environment: Mapping[str, str] = {**os.environ, **QUIET, "PATH": path}

    def run_tool(*command: str | Path) -> str:
        if shutil.which(command[0], path=path) is None:
            pytest.fail(f"there is no {command[0]}: run `make interop`, which installs it", pytrace=False)
        ended = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    return run_tool


@pytest.fixture(params=[DEFAULTS, WITH_ADMIN], ids=["one listener", "probes on another"])
def document(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    site = make_site(SnapshotHolder(), no_authentication, request.param)
    (tmp_path / "openapi.json").write_bytes(site.openapi(NO_ATTRIBUTES))
    return tmp_path / "openapi.json"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    """Run a service, and write its document beside what is generated from it."""
    data = write_directory(tmp_path / "data", STORES)
    with serving("--data", data, "--cache", tmp_path / "cache", "--api-key", KEY) as running:
        (tmp_path / "openapi.json").write_bytes(running.get("/openapi.json").body)
        yield running


def test_redocly_has_neither_errors_nor_warnings(run: Run, document: Path) -> None:
    found = orjson.loads(run("redocly", "lint", document, "--extends", "recommended", "--format", "json"))
    assert (found["totals"], found["problems"]) == ({"errors": 0, "warnings": 0, "ignored": 0}, [])


def test_spectral_has_neither_errors_nor_warnings(run: Run, document: Path) -> None:
    run("spectral", "lint", document, "--ruleset", CLIENTS / "spectral.yaml", "--fail-severity", "hint")


def test_a_generated_python_client_has_the_right_types_and_works(run: Run, service: Running, tmp_path: Path) -> None:
    options = {
        "post_hooks": [],  # those of ruff break the types of a method
        "content_type_overrides": {NDJSON: "text/plain"},  # which it does not know
    }
    (tmp_path / "options.yaml").write_bytes(orjson.dumps(options))  # JSON is YAML
    run(
        "openapi-python-client",
        "generate",
        "--path",
        "openapi.json",
        "--output-path",
        "store_directory_client",
        *("--config", "options.yaml", "--meta", "none", "--fail-on-warning"),
    )
    script = shutil.copy(CLIENTS / "stores.py", tmp_path)
    run("mypy", "--strict", script)
    assert run(TOOLS / "bin" / "python", script, service.address, KEY) == PRINTED


def test_a_generated_typescript_client_has_the_right_types_and_works(
    run: Run, service: Running, tmp_path: Path
) -> None:
    (tmp_path / "node_modules").symlink_to(TOOLS / "node_modules")
    run("openapi-typescript", "openapi.json", "--output", "schema.ts")
    script = Path(shutil.copy(CLIENTS / "stores.mts", tmp_path))
    run("tsc", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "nodenext", script)
    assert run("node", script.with_suffix(".mjs"), service.address, KEY) == PRINTED
