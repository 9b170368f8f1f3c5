"""The examples, run unchanged."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import PIPE, STDOUT

import pytest

from service.commands.serve import serve
from tests.client_trial import try_client, try_client_without_key
from tests.program import SECONDS, environment, eventually

pytestmark = pytest.mark.ci

EXAMPLES = Path(__file__).parents[1] / "examples"


@contextmanager
def running(script: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run a script with this project's program on its path, and end it, and what it started, if it has not ended."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    command = [str(EXAMPLES / script), *arguments]
    with subprocess.Popen(
        command, stdout=PIPE, stderr=STDOUT, text=True, env=environment({"PATH": path}), start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(SECONDS)
                os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.process
def test_the_service_follows_the_sidecar() -> None:
    generations: list[int] = []
    with running("sidecar/try.sh", f"{SECONDS}") as process:
        assert process.stdout is not None
        for line in process.stdout:
            state = re.match(r"status:ready .*generation:(\d+) ", line)
            assert state is not None, line
            generations.append(int(state[1]))
            if generations[-1] > generations[0]:
                break
    assert generations == sorted(generations)
    assert len(set(generations)) > 1


@pytest.mark.process
def test_the_sidecar_ends_at_sigterm_by_a_handler_of_its_own(tmp_path: Path) -> None:
    """In a container it is process 1, for which the kernel ignores signals that have no handler."""
    command: list[str | Path] = [
        sys.executable,
        EXAMPLES / "sidecar" / "refresh.py",
        tmp_path / "data",
        "--every",
        f"{SECONDS}",
    ]
    with subprocess.Popen(command, stderr=PIPE, text=True) as process:
        eventually((tmp_path / "data" / "..data" / "manifest.json").exists)
        process.send_signal(signal.SIGTERM)
        _, printed = process.communicate(timeout=SECONDS)
    assert (process.returncode, printed) == (0, "")


def test_the_pod_sets_existing_options_and_has_time_to_drain() -> None:
    pod = (EXAMPLES / "sidecar" / "pod.yaml").read_text()
    given = dict(re.findall(r"- --([a-z-]+)=(\S+)", pod))
    assert {f"--{name}" for name in given} <= {name for option in serve.params for name in option.opts}
    (grace,) = re.findall(r"terminationGracePeriodSeconds: (\d+)", pod)
    assert int(grace) > int(given["drain"]) + 5


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*/haproxy.cfg")), ids=lambda file: file.parent.name)
def test_haproxy_waits_longer_for_a_check_than_a_busy_service_takes(file: Path) -> None:
    """Without a timeout of its own a check fails after `inter`, and one slow moment takes all replicas out at once."""
    text = file.read_text()
    assert re.findall(r"^    timeout check (\d+)s$", text, re.MULTILINE) == ["3"]
    assert set(re.findall(r"\bfall (\d+)", text)) == {"3"}
    assert "httpchk" in text


@pytest.mark.process
def test_a_node_follows_its_origin_and_keeps_serving_without_it(unused_tcp_port: int) -> None:
    with running("edge/try.sh", "python", str(unused_tcp_port)) as process:
        printed, _ = process.communicate(timeout=2 * SECONDS)
    assert process.returncode == 0, printed
    states = dict(line.split(": ", 1) for line in printed.splitlines() if ": " in line)
    assert {moment: re.findall(r"stores:(\d+)", state) for moment, state in states.items()} == {
        "the first file": ["1000"],
        "another file": ["2000"],
        "the origin is gone": ["2000"],
        "restarted without the origin": ["2000"],
        "the origin is back": ["1000"],
    }
    assert all(state.startswith("status:ready ") for state in states.values())


@pytest.mark.process
def test_the_python_client_reads_everything_and_waits_when_it_must(tmp_path: Path) -> None:
    try_client(sys.executable, "-W", "error", EXAMPLES / "clients" / "stores.py", folder=tmp_path)


@pytest.mark.process
@pytest.mark.parametrize("command", [(sys.executable, "stores.py"), ("bash", "stores.sh")], ids=str)
def test_a_client_without_a_key_says_how_to_set_it(command: tuple[str, str]) -> None:
    try_client_without_key(command[0], EXAMPLES / "clients" / command[1])
