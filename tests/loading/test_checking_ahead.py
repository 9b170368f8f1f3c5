"""Two processes that check the batches of a file find what one finds."""

import sys
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from socket import socketpair
from subprocess import Popen
from typing import Any

import pytest

from service.loading import checking_ahead
from service.loading.checked_batch import BatchChecker
from service.loading.checking_ahead import checked_batches
from service.loading.dataset import Loaded
from service.loading.messages import received, send
from service.model.records import STORES
from service.reading.batch import BATCH_SIZE, Batch
from service.reading.json_reader import read_json_lines
from tests.loading.data_files import STORE_FIELDS, as_csv, as_lines, load_stores, store

ODD: tuple[dict[str, object], ...] = (
    {"name": "n/a", "latitude": 91},
    {"company_id": "nobody"},
    {"is_open": "perhaps"},
    {"city": None},
    {"created_at": "2024-05-31T10:00+02:00", "postal_code": "1010 AA", "name": "Žižkov \u00b4s"},
    {"store_id": "s1"},
    {"address_1": ["1", {}], "phone_number": 7},
    {"updated_at": "yesterday", "is_open": False},
)
FEW = 3 * BATCH_SIZE


def stores(count: int) -> list[dict[str, object]]:
    """Return stores of which many have errors or warnings, in some batches only."""
    odd = islice(cycle(ODD), count)
    return [store(f"s{i}") | (each if i // BATCH_SIZE % 3 and i % 97 < 40 else {}) for i, each in enumerate(odd)]


def batches(count: int) -> list[Batch]:
    return list(read_json_lines(as_lines(stores(count)), STORES))


def outcome(loaded: Loaded) -> tuple[object, ...]:
    assert loaded.dataset is not None
    return loaded.dataset.version, loaded.report, loaded.warning_counts


@pytest.fixture(name="two")
def _two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking_ahead, "_LARGE", 0)
    monkeypatch.setattr(checking_ahead, "cores", lambda: 2)


@pytest.mark.parametrize("name", ["stores.csv", "stores.jsonl"])
def test_two_processes_load_what_one_loads(tmp_path: Path, name: str, request: pytest.FixtureRequest) -> None:
    made = stores(20 * BATCH_SIZE)
    content = as_csv(made, STORE_FIELDS) if name == "stores.csv" else as_lines(made)
    alone = outcome(load_stores(tmp_path, content, name))
    request.getfixturevalue("two")
    assert outcome(load_stores(tmp_path, content, name)) == alone


@pytest.mark.usefixtures("two")
def test_the_other_process_checks_the_first_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    made, alone = batches(FEW), BatchChecker(STORES, {"c1"})
    expected = [alone.check(batch.columns) for batch in made]
    monkeypatch.setattr(BatchChecker, "check", None)
    found = [checked for _, checked in checked_batches(made, BatchChecker(STORES, {"c1"}), size=1)]
    for one, other in zip(found, expected, strict=True):
        assert all(getattr(one, part) == getattr(other, part) for part in one.__struct_fields__)


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize("program", ["pass", "import sys; sys.stdin.buffer.raw.read(99)"])
def test_this_process_checks_what_the_other_failed_to_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    content = as_lines(stores(12 * BATCH_SIZE))
    expected = outcome(load_stores(tmp_path, content, "stores.jsonl"))
    monkeypatch.setattr(checking_ahead, "module_command", lambda _: (sys.executable, "-c", program))
    assert outcome(load_stores(tmp_path, content, "stores.jsonl")) == expected


@pytest.mark.usefixtures("two")
def test_the_other_process_is_ended_when_reading_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Popen[bytes]] = []

    def start(*args: Any, **options: Any) -> Popen[bytes]:
        started.append(Popen(*args, **options))
        return started[-1]

    monkeypatch.setattr(checking_ahead, "Popen", start)

    def broken() -> Iterator[Batch]:
        yield from batches(FEW)
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 - our own
        list(checked_batches(broken(), BatchChecker(STORES, {"c1"}), size=1))
    assert [process.returncode is not None for process in started] == [True]


def test_small_files_are_checked_by_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking_ahead, "Popen", None)
    assert load_stores(tmp_path, as_lines(stores(1)), "stores.jsonl").dataset is not None


def test_messages_of_any_length_arrive_whole_and_in_order() -> None:
    one, other = socketpair()
    with one, other:
        sent = [b"x" * length for length in (1, 10_000_000, 7)]
        queue = received(other)
        for message in sent:
            send(one, message)
        assert [queue.get() for _ in sent] == sent
        one.close()
        assert queue.get() is None


def test_a_message_that_is_cut_off_is_no_message() -> None:
    one, other = socketpair()
    with one, other:
        queue = received(other)
        one.sendall((9).to_bytes(8, "little") + b"part")
        one.close()
        assert queue.get() is None
