"""A file of another format than that of this version is never served, and does not replace data."""

from pathlib import Path

import pytest

from service.baking.layout import map_file, write_file
from tests.program import eventually, run
from tests.run.conftest import Serve
from tests.run.generations import Generation

pytestmark = pytest.mark.process


def later_format(baked: Path, to: Path) -> Path:
    """Write a baked file as of a later version of the program."""
    content = map_file(baked)
    write_file(to, content.arrays, {**content.metadata, "format": "store-directory 99"})
    return to


def test_a_service_goes_on_with_its_data_and_does_not_start_with_another_format(serve: Serve, tmp_path: Path) -> None:
    data = Generation(1).bake(tmp_path).replace(tmp_path / "stores.baked")
    service = serve(data)
    later = later_format(data, tmp_path / "later.baked")
    ended = run("serve", "--data", later, "--port", "0", "--no-auth", "--cache", tmp_path / "cache")
    assert (ended.returncode, "the file has the format 'store-directory 99'" in ended.stderr) == (1, True)
    later.replace(data)
    eventually(lambda: not service.ready()["last_reload"]["ok"])
    assert "the file has the format 'store-directory 99'" in service.ready()["last_reload"]["error"]
    assert (service.ready()["status"], service.ready()["generation"]) == ("ready", 1)
    assert service.metrics()["store_directory_reload_success"] == 0
