"""Processes as Linux describes them: CPU time and memory, with their children; and the caches of this one."""

import functools
import gc
import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from service.engine.columns.bounded_cache import BoundedCache

_TICKS_PER_SECOND: Final = os.sysconf("SC_CLK_TCK")
_KIB: Final = 1024
# Indexes of /proc/PID/stat after the name in brackets, from 0 (proc_pid_stat(5)).
_PARENT, _USER, _SYSTEM = 1, 11, 12


class Memory(msgspec.Struct, frozen=True):
    """Bytes of memory: peak resident, resident with a share of shared pages, and anonymous."""

    peak: int
    resident: int
    anonymous: int


def cpu_seconds(pid: int) -> float:
    """Return the user and system time of a process and its living descendants, to a tick of 10 ms."""
    stats = (_stat(each) for each in family(pid))
    return sum(int(stat[_USER]) + int(stat[_SYSTEM]) for stat in stats) / _TICKS_PER_SECOND


def memory(pid: int) -> Memory:
    """Return the memory of a process and its living descendants."""
    every = (memory_of(member) for member in family(pid))
    return Memory(*map(sum, zip(*((each.peak, each.resident, each.anonymous) for each in every), strict=True)))


def memory_of(pid: int) -> Memory:
    """Return the memory of one process."""
    status, rollup = (_kibibytes(Path(f"/proc/{pid}/{name}")) for name in ("status", "smaps_rollup"))
    return Memory(status["VmHWM"] * _KIB, rollup["Pss"] * _KIB, rollup["Anonymous"] * _KIB)


def anonymous(pid: int) -> int:
    """Return the anonymous memory of a process now, faster than `memory_of`; 0 if it has ended."""
    try:
        return _kibibytes(Path(f"/proc/{pid}/status")).get("RssAnon", 0) * _KIB
    except OSError:
        return 0


def core_wait(*pids: int | str) -> float:
    """Return the seconds that the first threads of processes were ready to run but had no core."""
    return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) for pid in pids) / 1e9


def family(pid: int) -> Iterator[int]:
    """Yield a process and its living descendants."""
    children: dict[int, list[int]] = defaultdict(list)
    for folder in Path("/proc").iterdir():
        with suppress(OSError, ValueError):  # no process, or one that ended meanwhile
            children[int(_stat(int(folder.name))[_PARENT])].append(int(folder.name))
    found = [pid]
    for each in found:
        yield each
        found += children[each]


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _kibibytes(file: Path) -> dict[str, int]:
    fields = (line.split() for line in file.read_text().splitlines())
    return {field[0].rstrip(":"): int(field[1]) for field in fields if field[-1] == "kB"}


def caches(packages: tuple[str, ...] = ("service.",)) -> list[Callable[[], object]]:
    """Return what empties each cache: those of the packages' functions, and the bounded ones of the service."""
    objects = gc.get_objects()
    functions = [each for each in objects if isinstance(each, functools._lru_cache_wrapper)]  # noqa: SLF001 - it has no other name
    bounded: list[Callable[[], object]] = [each.clear for each in objects if isinstance(each, BoundedCache)]
    return [*bounded, *(each.cache_clear for each in functions if each.__wrapped__.__module__.startswith(packages))]
