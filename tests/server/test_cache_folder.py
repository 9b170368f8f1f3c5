"""The folder for compiled data: where there can be none, it is said why, and which setting names another."""

import shlex
import subprocess
from pathlib import Path

import pytest

from tests.program import PROGRAM, SECONDS, environment, run_here

HINT = "choose another folder with --cache DIR or STORE_DIRECTORY_CACHE\n"


def test_without_any_folder_it_says_what_it_tried_and_which_settings_there_are() -> None:
    # A process that can make no file larger than nothing finds no temporary folder to write to.
    shell = f"ulimit -f 0; exec {shlex.join([*PROGRAM, 'serve', '--port', '0'])}"
    unwritable = environment({"XDG_CACHE_HOME": "/dev/null/cache", "TMPDIR": "/dev/null/tmp"})
    ended = subprocess.run(
        ["/bin/sh", "-c", shell], capture_output=True, text=True, timeout=SECONDS, check=False, env=unwritable
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == (
        "Error: cannot create a folder for compiled data: /dev/null/cache/store-directory: Not a directory; "
        f"no temporary folder is writable (set TMPDIR); {HINT}"
    )


@pytest.mark.parametrize(
    ("cache", "told"),
    [
        ("/dev/null/cache", "/dev/null/cache: Not a directory"),
        ("/dev/null", "/dev/null: it exists and is not a folder"),
        ("{tmp_path}/full", "{tmp_path}/full/runs: File exists"),
    ],
)
def test_the_folder_that_was_given_is_named_where_it_cannot_be_used(tmp_path: Path, cache: str, told: str) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "runs").touch()
    ended = run_here("serve", "--port", "0", "--cache", cache.format(tmp_path=tmp_path))
    assert (ended.returncode, ended.stdout) == (1, "")
    why = told.format(tmp_path=tmp_path)
    assert ended.stderr == f"Error: cannot create a folder for compiled data: {why}; {HINT}"
