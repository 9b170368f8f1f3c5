"""A run depends neither on earlier runs, nor on which tests it has; only tests with the mark `process` start some."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given, seed, settings, strategies as st

from tests.program import SECONDS

ROOT = Path(__file__).parents[1]


def examples() -> list[list[int]]:
    """Return the examples that a test tries."""
    drawn = []

    @seed(0)
    @given(st.lists(st.integers(), min_size=50))
    def draw(numbers: list[int]) -> None:
        drawn.append(numbers)

    draw()
    return drawn


def test_examples_do_not_depend_on_the_modules_that_other_tests_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = examples()
    (tmp_path / "imported_meanwhile.py").write_text(f"NUMBERS = {list(range(1_000_000, 1_000_200))}\n")
    monkeypatch.syspath_prepend(tmp_path)
    import_module("imported_meanwhile")
    assert examples() == alone


@pytest.mark.parametrize("profile", ["suite", "thorough", "mutation"])
def test_each_run_tries_the_same_examples(profile: str) -> None:
    assert settings.get_profile(profile).derandomize


def test_a_failure_of_a_random_example_says_how_to_repeat_it() -> None:
    @seed(1)
    @settings(settings.get_profile("random"))
    @given(st.integers())
    def numbers_are_small(number: int) -> None:
        assert number < 1000

    with pytest.raises(AssertionError) as raised:
        numbers_are_small()
    assert "adding @reproduce_failure(" in "".join(raised.value.__notes__)


@pytest.mark.ci
@pytest.mark.process
def test_an_interrupt_reaches_what_tests_start_in_the_background() -> None:
    """There a shell ignores SIGINT, which the processes that are started inherit."""
    script = "import signal, tests.conftest; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    command = ["sh", "-c", 'trap "" INT && exec "$@"', "sh", sys.executable, "-c", script]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True, cwd=ROOT)
    assert ended.stdout == "True\n"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def bind() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))


def connect() -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect("nowhere")


STARTS: dict[str, Callable[[], object]] = {
    "a process": lambda: subprocess.Popen([sys.executable, "-V"]),
    "a fork": os.fork,
    "a spawned process": lambda: os.posix_spawn(sys.executable, [sys.executable, "-V"], {}),
    "a listener": bind,
    "a connection": connect,
}


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_without_the_mark_it_is_an_error(start: Callable[[], object]) -> None:
    with pytest.raises(RuntimeError, match=r"which needs @pytest\.mark\.process"):
        start()


async def test_an_event_loop_is_none() -> None:
    """Its own pair of sockets is connected when it is made."""
