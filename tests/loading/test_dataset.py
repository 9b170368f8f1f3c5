"""Loading a whole data set: exceptions, progress and the garbage collector."""

import gc
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings, strategies as st

from service.baking.baked_file import write_baked
from service.dataset import Totals
from service.loading.dataset import load
from service.reading.batch import BATCH_SIZE
from service.spool import MEMORY, Spools
from tests.directory import company as acme, store as shop, write_directory
from tests.loading.data_files import as_csv, as_json, as_lines, load_stores, packed, rows, store

NAMES = [f"stores.{form}{packing}" for form in ("csv", "json", "jsonl") for packing in ("", ".gz", ".zst")]
SEEDS = [as_csv([store(name="a\nb")]), as_json([store()]), as_lines([store(), store("s2", is_open=1)])]
PIECES = st.sampled_from(
    [b"[", b"]", b"{", b"}", b'"', b",", b"\n", b"\r", b"\\", b"\\ud800", b"\x00", b"\xff", b"1e", b"null"]
)


def damaged(text: bytes, place: float, size: int, piece: bytes) -> bytes:
    at = int(place * len(text))
    return text[:at] + piece + text[at + size :]


CONTENTS = st.one_of(
    st.binary(max_size=200),
    st.lists(PIECES, max_size=12).map(b"".join),
    st.builds(damaged, st.sampled_from(SEEDS), st.floats(0, 1), st.integers(0, 9), PIECES | st.binary(max_size=3)),
)


@settings(max_examples=2 * settings().max_examples)
@given(st.sampled_from(NAMES), CONTENTS, st.booleans())
def test_no_file_content_raises_an_exception(name: str, content: bytes, pack: bool) -> None:  # noqa: FBT001
    with TemporaryDirectory() as folder:
        loaded = load_stores(Path(folder), packed(content, name) if pack else content, name)
    refused = [error for error in loaded.report.errors if error.code == "file"]
    assert (loaded.dataset is None) == bool(refused)
    assert len(refused) <= 1


def test_every_step_reports_progress(tmp_path: Path) -> None:
    load_stores(tmp_path, as_lines(store(f"s{number}") for number in range(6 * BATCH_SIZE)), "stores.jsonl")
    reported: list[tuple[str, int, int]] = []
    load(tmp_path, progress=lambda step, done, total: reported.append((step, done, total)))
    steps = {"Reading companies.csv", "Reading stores.jsonl", "Indexing companies", "Indexing stores"}
    assert {step for step, *_ in reported} == steps
    for step in ("Reading stores.jsonl", "Indexing stores"):
        shown = [(done, total) for name, done, total in reported if name == step]
        assert len(shown) > 5
        assert shown == sorted(shown, key=lambda pair: pair[0] / pair[1])
        assert shown[-1][0] == shown[-1][1]


class StoppedError(Exception):
    """What a test's progress raises."""


@pytest.mark.parametrize("content", [as_lines([store()]), b"{"])
def test_progress_can_abort_the_load_and_the_garbage_collector_is_enabled_again(tmp_path: Path, content: bytes) -> None:
    def stop(step: str, done: int, total: int) -> None:
        assert not gc.isenabled()
        raise StoppedError(step, done, total)

    load_stores(tmp_path, content, "stores.jsonl")
    with pytest.raises(StoppedError):
        load(tmp_path, progress=stop)
    assert gc.isenabled()


def test_a_disabled_garbage_collector_stays_disabled(tmp_path: Path) -> None:
    gc.disable()
    try:
        load_stores(tmp_path, as_lines([store()]), "stores.jsonl")
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_spools_of_a_byte_give_the_same_file_and_report(tmp_path: Path) -> None:
    """Repeated, contradicting and invalid records; values that only those have are not in the file."""
    stores = [shop(f"s{number % 400}", name=f"Shop {number // 400}", city=f"C{number}") for number in range(1_000)]
    stores += [shop("s1", name="Shop 0", city="C1"), shop("s2", city=None), shop("new")]
    folder = write_directory(tmp_path / "data", [*stores, *stores[:50]], [acme()])
    made = []
    for memory in (MEMORY, 1 << 10):
        loaded, file = load(folder, spools=Spools(tmp_path, memory)), tmp_path / f"{memory}.baked"
        assert loaded.dataset is not None
        assert len(loaded.dataset.stores.columns["city"].values or ()) == 401
        write_baked(loaded.dataset, file)
        made.append((file.read_bytes(), loaded.report))
    assert made[0] == made[1]
    assert made[0][1].totals == Totals(stores=401, companies=1, skipped=601, repeated=51)
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".baked"] == ["data"]


def test_many_records_load_in_the_default_order(tmp_path: Path) -> None:
    records = [store(f"s{number}", created_at=f"20{number % 90 + 10}-01-01") for number in range(3 * BATCH_SIZE)]
    expected = sorted(records, key=lambda record: (str(record["created_at"]), str(record["store_id"])))
    loaded = load_stores(tmp_path, as_csv(records))
    assert [row.split(b'"')[3].decode() for row in rows(loaded)] == [record["store_id"] for record in expected]
