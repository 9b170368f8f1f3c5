"""Checking in two processes finds what one process finds, in the same order, whatever happens to the second one."""

from pathlib import Path
from random import Random

import pytest

from service.baking.baked_file import write_baked
from service.loading.dataset import Report, load
from service.loading.parallel import shared_checks
from service.loading.parallel.second_process import SecondProcess
from service.reading.formats.json import typed_reader
from tests.loading.data_files import Record, as_json, as_lines, company, store

pytestmark = pytest.mark.process

BATCH = 8
WRONG: list[Record] = [
    {"company_id": "nobody"},
    {"parent_company_id": "nobody"},
    {"city": None},
    {"city": 5},
    {"latitude": "91"},
    {"latitude": 43.7, "longitude": "x"},
    {"created_at": "yesterday"},
    {"is_open": "maybe"},
    {"name": "N/A"},
    {"permanently_closed": "yes"},
    {"store_id": "s1"},
]


def stores(count: int, wrong: float, seed: int) -> list[Record]:
    """Return stores of which a part has something wrong."""
    random = Random(seed)
    made = [store(f"s{number}", postal_code=f"{number} A", is_open=number % 3 > 0) for number in range(count)]
    return [each | (random.choice(WRONG) if random.random() < wrong else {}) for each in made]


def found(folder: Path, name: str) -> tuple[Report, bytes]:
    """Return the report about the files in a folder, and the baked file."""
    loaded = load(folder)
    assert loaded.dataset is not None
    write_baked(loaded.dataset, folder.with_name(name))
    return loaded.report, folder.with_name(name).read_bytes()


@pytest.fixture
def shares(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Have small batches, of which a second process checks some from the third on; return how many it checked."""
    checked, receive = list[int](), SecondProcess.receive

    def counted(self: SecondProcess, batches: object) -> object:
        answer = receive(self, batches)  # type: ignore[arg-type]
        checked.append(0 if answer is None else len(answer))
        return answer

    monkeypatch.setattr(typed_reader, "BATCH_SIZE", BATCH)
    monkeypatch.setattr(shared_checks, "SHARED_FROM", 3)
    monkeypatch.setattr(SecondProcess, "receive", counted)
    return checked


@pytest.mark.parametrize("count", [10 * BATCH, 11 * BATCH, 12 * BATCH + 1])
@pytest.mark.parametrize("wrong", [0, 0.02, 0.5])
def test_two_processes_find_what_one_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shares: list[int], count: int, wrong: float
) -> None:
    for form, write in (("json", as_json), ("jsonl", as_lines)):
        (folder := tmp_path / form).mkdir()
        (folder / "companies.json").write_bytes(as_json([company("c1")]))
        (folder / f"stores.{form}").write_bytes(write(stores(count, wrong, seed=count)))
        monkeypatch.setattr(shared_checks, "SHARED_FROM", 3)
        shared = found(folder, "shared")
        assert set(shares) == {2} or wrong
        del shares[:]
        monkeypatch.setattr(shared_checks, "SHARED_FROM", count)
        assert found(folder, "alone") == shared
        assert shares == []


def test_without_the_second_process_all_batches_are_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shares: list[int]
) -> None:
    (folder := tmp_path / "data").mkdir()
    (folder / "companies.json").write_bytes(as_json([company("c1")]))
    (folder / "stores.jsonl").write_bytes(as_lines(stores(12 * BATCH, 0, seed=1)))
    send = SecondProcess.send

    def ended(self: SecondProcess, batches: object) -> None:
        if len(shares) == 1:
            self._process.kill()
            self._process.wait()
        send(self, batches)  # type: ignore[arg-type]

    monkeypatch.setattr(SecondProcess, "send", ended)
    shared = found(folder, "shared")
    assert shares == [2, 0, 0]
    monkeypatch.setattr(shared_checks, "SHARED_FROM", 1000)
    assert found(folder, "alone") == shared
