"""A service follows its mapping as it follows its data."""

from functools import partial
from pathlib import Path

import pytest

from tests.program import Running, eventually
from tests.run.conftest import Serve
from tests.run.generations import put
from tests.zip_archives import zipped

pytestmark = pytest.mark.ci

HEADER = b"store_id,company_id,address_1,city,country\n"
DERIVED = b'[companies]\nfrom = "stores"\n'


def stores(number: int) -> bytes:
    return HEADER + b"".join(b"s%d,acme,1 Main St,Ulm,DE\n" % place for place in range(number))


def serves(service: Running, number: int) -> bool:
    ready = service.ready()
    return (ready["stores"], ready["companies"]) == (number, 1)


def failure(service: Running) -> str:
    reload = service.ready()["last_reload"]
    return "" if reload["ok"] else str(reload["error"])


def test_a_mapping_that_becomes_wrong_is_logged_and_the_old_data_is_served(serve: Serve, tmp_path: Path) -> None:
    data, mapping = tmp_path / "data", tmp_path / "mapping.toml"
    data.mkdir()
    put(stores(2), data / "stores.csv")
    put(DERIVED, mapping)
    service = serve(data, "--mapping", str(mapping), "--poll", "3600")
    assert serves(service, 2)
    put(b"[companies", mapping)
    assert "mapping.toml: not valid TOML" in eventually(partial(failure, service))
    assert serves(service, 2)
    (line,) = (line for line in service.logged() if "not valid TOML" in line)
    assert "the previous data is still served; `store-directory check " in line
    assert f"--mapping {mapping}" in line
    put(stores(3), data / "stores.csv")
    put(DERIVED, mapping)
    eventually(partial(serves, service, 3))


def test_an_archive_is_followed(serve: Serve, tmp_path: Path) -> None:
    file = tmp_path / "filialen.zip"
    put(zipped({"shops.csv": stores(2)}), file)
    service = serve(file, "--poll", "3600")
    assert serves(service, 2)
    eventually(lambda: any(" companies: from company_id" in line for line in service.logged()))  # after it is served
    put(zipped({"shops.csv": stores(3)}), file)
    eventually(partial(serves, service, 3))
    put(file.read_bytes()[:-30], file)
    eventually(partial(failure, service))
    assert serves(service, 3)


def test_a_file_that_a_mapping_declares_is_followed_when_it_is_added_changed_and_removed(
    serve: Serve, tmp_path: Path
) -> None:
    put(b'[stores]\nfiles = ["part-*.csv"]\n' + DERIVED, tmp_path / "mapping.toml")
    put(stores(2), tmp_path / "part-1.csv")
    service = serve(tmp_path, "--poll", "3600")
    assert serves(service, 2)
    header, *lines = stores(4).splitlines(keepends=True)
    put(header + b"".join(lines[2:]), tmp_path / "part-2.csv")
    eventually(partial(serves, service, 4))
    put(header + b"".join(lines[2:3]), tmp_path / "part-2.csv")
    eventually(partial(serves, service, 3))
    (tmp_path / "part-2.csv").unlink()
    eventually(partial(serves, service, 2))
