"""While the data is replaced repeatedly, every response is complete, and of one generation."""

import shutil
from functools import partial
from pathlib import Path

import pytest

from tests.program import eventually
from tests.run.conftest import Serve
from tests.run.generations import MANIFEST, ORDER, Generation, swap_link
from tests.run.load_clients import all_see, clients_of_all_workers, running_clients, two_clients

pytestmark = pytest.mark.ci


def test_a_baked_file_replaced_20_times_is_never_served_mixed_and_no_worker_swaps_back(
    serve: Serve, file: Path, tmp_path: Path
) -> None:
    following = [Generation(number).bake(tmp_path) for number in range(2, 22)]
    with running_clients(*clients_of_all_workers(serve(file, "--workers", "2"))) as clients:
        for number, baked in enumerate(following, 2):
            baked.replace(file)
            eventually(partial(all_see, clients, number))


def test_files_with_a_manifest_rewritten_in_place_are_never_served_mixed(serve: Serve, tmp_path: Path) -> None:
    folder = Generation(1).write(tmp_path / "data")
    service = serve(folder)
    with running_clients(*two_clients(service)) as clients:
        for number in (2, 3):
            for name, content in Generation(number).files().items():
                with (folder / name).open("wb", buffering=0) as file:
                    file.write(content[: len(content) // 2])
                    file.write(content[len(content) // 2 :])
                if number == 2 and name != MANIFEST:  # long enough that the service reads the files in this state
                    eventually(lambda: not service.ready()["last_reload"]["ok"])
            eventually(partial(all_see, clients, number))


def test_files_renamed_one_after_the_other_and_a_mounted_volume_whose_link_is_swapped_is_never_served_mixed(
    serve: Serve, tmp_path: Path
) -> None:
    mount = tmp_path / "mount"
    Generation(1).write(mount / "..1")
    (mount / "..data").symlink_to("..1")
    for name in ORDER:
        (mount / name).symlink_to(Path("..data", name))
    with running_clients(*two_clients(serve(mount))) as clients:
        for number in (2, 3):
            Generation(number).write(mount / f"..{number}")
            swap_link(mount / "..data", Path(f"..{number}"))
            shutil.rmtree(mount / f"..{number - 1}")
            eventually(partial(all_see, clients, number))
