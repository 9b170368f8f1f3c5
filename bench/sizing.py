"""Measure what a number of stores takes: `make bench-sizing`.

Bakes each data set, starts the service from the baked file, and sends load to it. The figures are the table of
docs/operating.md; the rule made of them, which computes resources, is that of the Helm chart.
"""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final

import click
import msgspec

from bench import processes
from bench.load import LoadGenerator, Workload, generate_load
from bench.report import ROOT, Surroundings, finish, keep, save, surroundings, table
from bench.samples import Sample, make
from bench.servers import Failed, pinned, running, service, split_cores
from bench.shapes import Shape, read_shapes
from bench.workers import connected, with_workers
from service.web.connections.limits import MAX_ADMIN_HELD_BYTES, MAX_HELD_BYTES

_SIZES: Final = (10_000, 100_000, 1_000_000, 4_000_000)
PAGE: Final = ROOT / "docs" / "operating.md"
RULE: Final = ROOT / "deploy" / "helm" / "store-directory" / "files" / "sizing.json"
# Requests per second are counted of these; the others fill the caches before memory is read.
_COUNTED: Final = ("company", "city", "page")
_SHAPES: Final = (*_COUNTED, "dense", "scattered")
_WORKERS: Final = 2
_CONNECTIONS: Final = 32
_SAMPLE_SECONDS: Final = 0.02
_MIB: Final = 1 << 20
# Figures of the rule are rounded up to a multiple of these.
_BYTES_STEP, _MIB_STEP = 10, 8
# Up to so many stores memory is that of the program, beyond it grows with the stores.
_FEW: Final = 100_000
_EXAMPLE: Final = (1_000_000, 4, 1000)  # stores, workers, connections


class Size(msgspec.Struct, frozen=True):
    """What a data set takes; memory is anonymous, so it cannot be reclaimed.

    baked         bytes of the baked file, which is mapped: as many in the page cache
    bake_seconds  CPU time to compile data files, as `bake` and `serve` do
    bake_memory   bytes of that process, at most
    start         seconds from the start of the process to /ready, from the baked file; the fastest
    worker        bytes of the larger of two workers, after load
    parent        bytes of their parent
    rates         requests for a second of a core's CPU time, by shape
    """

    stores: int
    baked: int
    bake_seconds: float
    bake_memory: int
    start: float
    worker: int
    parent: int
    rates: dict[str, int]


class Rule(msgspec.Struct, frozen=True):
    """The figures that resources are computed from: memory of few stores, and bytes for each of many.

    cache_mib             full caches of a worker: `BoundedCache`
    held_mib              what its connections hold at most, those of probes included
    bytes_per_connection  of an open connection that holds nothing
    """

    baked_bytes_per_store: int
    parent_mib: int
    worker_mib: int
    worker_bytes_per_store: int
    compile_mib: int
    compile_bytes_per_store: int
    cache_mib: int = 464
    held_mib: int = (MAX_HELD_BYTES + MAX_ADMIN_HELD_BYTES) // _MIB
    bytes_per_connection: int = 8192

    @classmethod
    def of(cls, sizes: Sequence[Size]) -> "Rule":
        """Return the rule that all sizes keep."""
        stores = [each.stores for each in sizes]
        worker_mib, worker_bytes = _line(stores, [each.worker for each in sizes])
        compile_mib, compile_bytes = _line(stores, [each.bake_memory for each in sizes])
        baked_bytes = _up(max(each.baked / each.stores for each in sizes), _BYTES_STEP)
        parent_mib = _up(max(each.parent for each in sizes) / _MIB, _MIB_STEP)
        return cls(baked_bytes, parent_mib, worker_mib, worker_bytes, compile_mib, compile_bytes)

    def memory(self, stores: int, workers: int) -> int:
        """Return the MiB of workers that serve a baked file."""
        fixed = workers * self.worker_mib + (self.parent_mib if workers > 1 else 0)
        return fixed + stores * (self.baked_bytes_per_store + workers * self.worker_bytes_per_store) // _MIB + 1

    def limit(self, stores: int, workers: int, connections: int) -> int:
        """Return the MiB that they take at most, with as many connections each."""
        most = self.cache_mib + self.held_mib + -(-connections * self.bytes_per_connection // _MIB)
        return self.memory(stores, workers) + workers * most

    def json(self) -> bytes:
        """Return the figures as the Helm chart has them."""
        return msgspec.json.format(msgspec.json.encode(self)) + b"\n"

    def markdown(self) -> str:
        """Return the figures as a table, and an example."""
        rows = (
            ("each worker", str(self.worker_mib), f"{self.worker_bytes_per_store} per store"),
            ("their parent, if there are several", str(self.parent_mib), ""),
            ("the baked file, in the page cache", "", f"{self.baked_bytes_per_store} per store"),
            ("compiling data files, in addition", str(self.compile_mib), f"{self.compile_bytes_per_store} per store"),
            ("at most: full caches of each worker", str(self.cache_mib), ""),
            ("at most: its connections", str(self.held_mib), f"{self.bytes_per_connection:,} per connection"),
        )
        stores, workers, connections = _EXAMPLE
        usual, most = self.memory(stores, workers), self.limit(stores, workers, connections)
        example = f"{stores:,} stores from a baked file with {workers} workers: {usual:,} MiB"
        rest = f"at most {most:,} MiB with `--max-connections {connections}`"
        return f"{table(('memory of', 'MiB', 'and bytes'), rows)}\nFor example, {example}; {rest}.\n"


def _line(stores: Sequence[int], sizes: Sequence[int]) -> tuple[int, int]:
    """Return MiB, and bytes for each store, that are above all sizes: the former of few stores."""
    few = max(size for count, size in zip(stores, sizes, strict=True) if count <= _FEW)
    growth = max((size - few) / count for count, size in zip(stores, sizes, strict=True))
    return _up(few / _MIB, _MIB_STEP), _up(growth, _BYTES_STEP)


class Results(msgspec.Struct, frozen=True):
    """What was measured, and the load average of the machine at the end, over 15 minutes."""

    surroundings: Surroundings
    load: float
    sizes: Sequence[Size]


@click.command()
@click.option("--stores", type=int, multiple=True, help=f"Number of stores; repeatable.  [default: {_SIZES}]")
@click.option("--repeats", default=3, show_default=True, help="Starts, and runs of wrk, per size.")
@click.option("--seconds", default=2, show_default=True, help="Length of a run of wrk.")
def main(*, stores: tuple[int, ...], repeats: int, seconds: int) -> None:
    """Print the table. A run of the default sizes updates docs/operating.md, and the rule of the Helm chart."""
    core, load_core = split_cores()
    load = LoadGenerator(load_core, _CONNECTIONS, seconds)
    sizes = [_measure(Sample.of(each), core, load, repeats) for each in stores or _SIZES]
    results = Results(surroundings(), round(os.getloadavg()[2], 1), sizes)
    if not stores:
        keep("sizing", results)
        save("sizing-rule", Rule.of(sizes).markdown(), page=PAGE)
        RULE.write_bytes(Rule.of(sizes).json())
    finish("sizing", markdown(results), is_full=not stores, page=PAGE)


def _measure(sample: Sample, core: int, load: LoadGenerator, repeats: int) -> Size:
    make(sample)
    sample.baked.unlink(missing_ok=True)
    bake_seconds, bake_memory = _bake(sample.folder, sample.baked, core)
    shapes = [shape for shape in read_shapes(sample.folder, sample.seed) if shape.slug in _SHAPES]
    starts, rates = [], dict[str, int]()
    for number in range(repeats):
        with running(service(sample.baked), core) as server:
            starts.append(server.ready_seconds)
            for shape in shapes if number == 0 else ():
                if shape.slug in _COUNTED:
                    runs = [generate_load(load, Workload.of(shape, server)) for _ in range(repeats + 1)]
                    # The first fills caches.
                    rates[shape.slug] = int(1e6 / median(run.cpu_microseconds for run in runs[1:]))
    worker, parent = _memory(sample, shapes, core, load)
    baked = sample.baked.stat().st_size
    return Size(sample.stores, baked, bake_seconds, bake_memory, min(starts), worker, parent, rates)


def _memory(sample: Sample, shapes: Sequence[Shape], core: int, load: LoadGenerator) -> tuple[int, int]:
    """Return the memory of the larger worker and of the parent, after requests of all shapes."""
    with running(with_workers(sample.baked, _WORKERS), core) as server, connected(server, _WORKERS):
        for shape in shapes:
            generate_load(load, Workload.of(shape, server))
        most = max(processes.memory_of(pid).anonymous for pid in server.workers())
        return most, processes.memory_of(server.pid).anonymous


def _bake(folder: Path, file: Path, core: int) -> tuple[float, int]:
    """Compile a data set; return the CPU seconds, and the largest anonymous memory that was seen."""
    before, most = sum(os.times()[2:4]), 0
    command = pinned([sys.executable, "-m", "service", "bake", str(folder), str(file)], core)
    with subprocess.Popen(command, cwd=ROOT, stdout=sys.stderr) as process:  # noqa: S603 - this project's own program
        while process.poll() is None:
            most = max(most, processes.anonymous(process.pid))
            time.sleep(_SAMPLE_SECONDS)
    if process.returncode:
        raise Failed(f"bake exited with {process.returncode}")
    return sum(os.times()[2:4]) - before, most


def markdown(results: Results) -> str:
    """Return the surroundings, then the table."""
    memory = ("baked file and page cache, MB", "memory of a worker, MB", "of the parent, MB", "start, s")
    rates = (f"`{shape}` requests per CPU s" for shape in _COUNTED)
    head = ("stores", *memory, *rates, "compile data files, CPU s", "memory for that, MB")
    return f"{results.surroundings} Load average {results.load}.\n\n{table(head, map(_row, results.sizes))}"


def _row(size: Size) -> Sequence[str]:
    figures = (size.baked, size.worker, size.parent)
    rates = (f"{size.rates[shape]:,}" for shape in _COUNTED)
    compiling = (f"{size.bake_seconds:,.1f}", f"{size.bake_memory / 1e6:,.0f}")
    return (f"{size.stores:,}", *(f"{each / 1e6:,.0f}" for each in figures), f"{size.start:.2f}", *rates, *compiling)


def _up(figure: float, step: int) -> int:
    return int(-(-figure // step) * step)


if __name__ == "__main__":
    main()
