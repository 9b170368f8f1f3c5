"""Records in spools of a byte, all in files, are served and reported as those in memory."""

from pathlib import Path

from service.baking.baked_file import write_baked
from service.dataset import Totals
from service.loading.dataset import load
from service.spool import MEMORY, Spools
from tests.directory import company, store, write_directory


def test_spools_of_a_byte_give_the_same_file_and_report(tmp_path: Path) -> None:
    """Repeated, contradicting and invalid records; values that only those have are not in the file."""
    stores = [store(f"s{number % 400}", name=f"Shop {number // 400}", city=f"C{number}") for number in range(1_000)]
    stores += [store("s1", name="Shop 0", city="C1"), store("s2", city=None), store("new")]
    folder = write_directory(tmp_path / "data", [*stores, *stores[:50]], [company()])
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
