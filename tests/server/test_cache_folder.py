"""The cache folder: if none can be created, the error says why and which setting changes it."""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

import pytest

from service.publishing.cache_folder import NoCache, cache_folder
from tests.program import PROGRAM, SECONDS, environment, run_here, start_error

HINT = "choose another folder with --cache DIR or STORE_DIRECTORY_CACHE\n"


@pytest.mark.process
def test_without_any_folder_the_error_lists_what_was_tried_and_the_settings() -> None:
    # A process that can only create empty files finds no temporary folder.
    shell = f"ulimit -f 0; exec {shlex.join([*PROGRAM, 'serve', '--port', '0'])}"
    unwritable = environment({"XDG_CACHE_HOME": "/dev/null/cache", "TMPDIR": "/dev/null/tmp"})
    ended = subprocess.run(
        ["/bin/sh", "-c", shell], capture_output=True, text=True, timeout=SECONDS, check=False, env=unwritable
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert start_error(ended) == (
        "Error: cannot create a folder for compiled data: /dev/null/cache/store-directory: Not a directory; "
        f"no temporary folder is writable (set TMPDIR); {HINT}"
    )


def test_a_temporary_folder_of_another_user_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null/cache")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    user = os.getuid()
    assert cache_folder("") == tmp_path / f"store-directory-{user}"
    monkeypatch.setattr(os, "getuid", lambda: user + 1)  # as this user, for which the folder is another's
    with pytest.raises(NoCache, match=f"store-directory-{user + 1}: it belongs to another user; choose another"):
        cache_folder("")


@pytest.mark.parametrize(
    ("cache", "message"),
    [
        ("/dev/null/cache", "/dev/null/cache: Not a directory"),
        ("/dev/null", "/dev/null: it exists and is not a folder"),
        ("{tmp_path}/full", "{tmp_path}/full/runs: File exists"),
    ],
)
def test_an_unusable_chosen_folder_is_named(tmp_path: Path, cache: str, message: str) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "runs").touch()
    ended = run_here("serve", "--port", "0", "--cache", cache.format(tmp_path=tmp_path))
    assert (ended.returncode, ended.stdout) == (1, "")
    why = message.format(tmp_path=tmp_path)
    assert ended.stderr == f"Error: cannot create a folder for compiled data: {why}; {HINT}"
