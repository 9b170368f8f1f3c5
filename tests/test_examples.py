"""The examples, run as they are."""

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from subprocess import PIPE

from service.commands.serve import serve
from tests.program import SECONDS

EXAMPLES = Path(__file__).parents[1] / "examples"


def printed(script: str, *arguments: str) -> list[str]:
    """Return what a script prints, with this project's program on its path."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    command = [str(EXAMPLES / script), *arguments]
    with subprocess.Popen(
        command, stdout=PIPE, stderr=PIPE, text=True, env=os.environ | {"PATH": path}, start_new_session=True
    ) as process:
        try:
            told, wrong = process.communicate(timeout=SECONDS)
        finally:
            with suppress(ProcessLookupError):  # where it ended, nothing is left of what it started
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, told + wrong
    return told.splitlines()


def test_the_service_follows_the_process_beside_it() -> None:
    lines = printed("sidecar/try.sh", "4")
    assert all(line.startswith("status:ready ") for line in lines)
    generations = [int(number) for number in re.findall(r"generation:(\d+)", "\n".join(lines))]
    assert len(generations) == 4
    assert generations == sorted(generations)
    assert generations[-1] > generations[0]


def test_the_pod_gives_options_that_there_are_and_time_to_drain() -> None:
    pod = (EXAMPLES / "sidecar" / "pod.yaml").read_text()
    given = dict(re.findall(r"- --([a-z-]+)=(\S+)", pod))
    assert set(given) <= {name for option in serve.params if (name := option.name)}
    (grace,) = re.findall(r"terminationGracePeriodSeconds: (\d+)", pod)
    assert int(grace) > int(given["drain"]) + 5


def test_a_node_follows_its_origin_and_goes_on_without_it(unused_tcp_port: int) -> None:
    told = dict(line.split(": ", 1) for line in printed("edge/try.sh", "python", str(unused_tcp_port)) if ": " in line)
    assert {moment: re.findall(r"stores:(\d+)", state) for moment, state in told.items()} == {
        "the first file": ["1000"],
        "another file": ["2000"],
        "the origin is gone": ["2000"],
        "started anew without the origin": ["2000"],
        "the origin is back": ["1000"],
    }
    assert all(state.startswith("status:ready ") for state in told.values())
