"""The running service against its own OpenAPI document, by schemathesis."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.baking.random_datasets import baked_file
from tests.directory import company, store, write_directory
from tests.program import SECONDS, serving
from tests.thoroughness import is_thorough

pytestmark = [pytest.mark.process, pytest.mark.ci]

CONFIGURATION = Path(__file__).with_name("schemathesis.toml")
# They have the parameters and the responses of /stores.csv, which is tried by default.
OTHER_FILES = r"^/(stores[.](ndjson|geojson)|companies[.])"
STORES = [store(f"s{number}", city=city) for number, city in enumerate(("Toronto", "Örebro", "大阪市"))]


def test_schemathesis_finds_no_undocumented_response(tmp_path: Path) -> None:
    data = baked_file(write_directory(tmp_path / "data", STORES, [company(), company("a/b")]), tmp_path / "set.baked")
    with serving("--data", data, "--api-key", "the-key") as service:
        command = [str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(CONFIGURATION), "run"]
        options = ["--checks", "all", "--header", "x-api-key: the-key", "--max-examples", "4", "--seed", "1"]
        options += ["--phases", "examples,coverage,fuzzing"]  # requests do not affect each other
        options += [] if is_thorough() else ["--exclude-path-regex", OTHER_FILES]
        command += [*options, f"{service.address}/openapi.json"]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False, cwd=tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
