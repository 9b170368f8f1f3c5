"""Rounds of trying: hypothesis against the model, mixed requests, growth of work, or atheris on one target."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, perf_counter
from typing import Final

import msgspec

from fuzz.cpu_time import cpu_time
from fuzz.growth import Reader, measure
from fuzz.targets import Target
from tests.composition.play import play
from tests.composition.tally import Tally

_LONGEST_RUN_SECONDS: Final = 10
_MOST_MIB: Final = 1_024
_MIXED_REQUESTS: Final = 1_000_000
_REQUESTS_OF_A_SEED: Final = 20_000
_DONE: Final = re.compile(r"^stat::number_of_executed_units: +([0-9]+)$", re.MULTILINE)
_REACHED: Final = re.compile(r"\bcov: ([0-9]+) ft: ([0-9]+)")


class Round(msgspec.Struct, frozen=True):
    """What was tried of one target, what code it reached where that is known, and what it said of what was found.

    figures  more about what was tried, in lines
    """

    name: str
    runs: int
    seconds: float
    coverage: int = 0
    features: int = 0
    finding: str = ""
    figures: str = ""


def ask_model(cases: int) -> Round:
    """Compare so many answers of the service with those of its model."""
    started = perf_counter()
    command = [sys.executable, "-m", "pytest", "--show-capture=no", "tests/fastapi_model"]
    ended = _run(command, {**os.environ, "FUZZ_CASES": str(cases)})
    return Round("model", cases, perf_counter() - started, finding=ended.stdout if ended.returncode else "")


def compose(*, seed: int, seconds: int | None) -> Round:
    """Send a million mixed requests to services, started anew for each seed from this one on, or stop after a time."""
    started = monotonic()
    deadline = inf if seconds is None else started + seconds
    mixed, finding = Tally(), ""
    while not finding and mixed["requests"] < _MIXED_REQUESTS and monotonic() < deadline:
        with TemporaryDirectory() as folder:
            try:
                mixed.update(play(Path(folder), seed, _REQUESTS_OF_A_SEED, deadline=deadline))
            except AssertionError as error:
                finding = "\n".join((str(error), *error.__notes__, ""))
        seed += 1
    if not finding and (lacking := mixed.lacking()):
        finding = f"too few of each: {lacking}\n"
    return Round("composition", mixed["requests"], monotonic() - started, finding=finding, figures=f"{mixed}\n")


def grow(readers: Mapping[str, Reader], *, seconds: float) -> Round:
    """Measure the work of readers on longer and longer inputs of many shapes; what is superlinear is a finding."""
    started = perf_counter()
    for reader in readers.values():
        reader.read(b"")  # once, as the first call makes what later ones use
    shapes, figures, findings = 0, [], []
    with cpu_time() as work:
        for name, verdict in measure(readers, seconds, work):
            shapes += verdict.shapes
            figures.append(f"{name}: {verdict.worst or 'negligible'}\n")
            findings += [f"{name} is superlinear: {growth}\n" for growth in verdict.superlinear]
    took = perf_counter() - started
    return Round("growth", shapes, took, finding="".join(findings), figures="".join(figures))


def fuzz(name: str, target: Target, *, runs: int, seconds: int) -> Round:
    """Fuzz a target, at most so often and so long, on from what was found before."""
    folder = Path(__file__).parent / "found" / name
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(target.seeds):
        (corpus / f"seed-{number}").write_bytes(seed)
    limits = (f"-runs={runs}", f"-max_total_time={seconds}", f"-max_len={target.longest}")
    bounds = (f"-timeout={_LONGEST_RUN_SECONDS}", f"-rss_limit_mb={_MOST_MIB}", f"-artifact_prefix={folder}/")
    started = perf_counter()
    command = [sys.executable, "-m", "fuzz.harness", name, *limits, *bounds, "-print_final_stats=1", str(corpus)]
    ended = _run(command, dict(os.environ))
    coverage, features = (int(number) for number in (_REACHED.findall(ended.stdout) or [(0, 0)])[-1])
    done = _DONE.search(ended.stdout)
    finding = _end_of(ended.stdout) if ended.returncode else ""
    return Round(name, int(done[1]) if done else 0, perf_counter() - started, coverage, features, finding)


def _run(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; both its outputs are one."""
    return subprocess.run(  # noqa: S603 - of our own
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        env=environment,
        cwd=Path(__file__).parents[1],
        encoding="utf-8",
        errors="replace",
    )


def _end_of(output: str) -> str:
    """Return what a fuzzer says of a finding: the traceback, and where the input is kept."""
    _, mark, finding = output.partition("=== Uncaught Python exception")
    return mark + finding if mark else output[-4_000:]
