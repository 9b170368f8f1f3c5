"""The program as tests start it."""

import os
import signal
import sys
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from tests.program import SECONDS, started
from tests.warm import Warm

pytestmark = pytest.mark.process

# What a process has of its start.
STATE = """
import os, signal, sys, threading
print(sys.argv, __name__, __package__, os.getcwd(), sorted(os.environ.items()), threading.active_count())
print([signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGHUP)])
print(sorted(os.listdir("/proc/self/fd")), os.getpgid(0) == os.getpid(), os.getppid(), sys.stdin.read())
sys.exit("an error")
"""


def test_a_service_is_killed_if_the_test_that_started_it_fails() -> None:
    with pytest.raises(pytest.fail.Exception), started() as process:
        pytest.fail("the test fails")
    assert process.returncode == -signal.SIGKILL


@pytest.mark.parametrize("hangup", [signal.SIG_DFL, signal.SIG_IGN])  # which is ignored under `nohup`
def test_a_fork_is_like_a_new_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hangup: signal.Handlers) -> None:
    monkeypatch.chdir(tmp_path)
    Path("state.py").write_text(STATE)
    command, variables = [sys.executable, "-m", "state", "--option", "\udcff"], {**os.environ, "ONE": "more"}
    ended, before = [], signal.signal(signal.SIGHUP, hangup)
    try:
        for start in (Warm, Popen):
            with start(
                command, stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True, env=variables, process_group=0
            ) as process:
                ended.append((*process.communicate("input", timeout=SECONDS), process.returncode))
    finally:
        signal.signal(signal.SIGHUP, before)
    assert ended[0] == ended[1]
    assert ended[0][1:] == ("an error\n", 1)
