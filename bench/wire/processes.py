"""CPU time and memory of a process and its children, from /proc."""

import os
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

_TICKS_PER_SECOND: Final = os.sysconf("SC_CLK_TCK")
_KIB: Final = 1024
# Indexes of /proc/PID/stat after the name in brackets, from 0 (proc_pid_stat(5)).
_STATE, _PARENT, _USER, _SYSTEM, _STARTED = 0, 1, 11, 12, 19
_ENDED: Final = "ZX"


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
    each = [memory_of(member) for member in family(pid)]
    return Memory(sum(one.peak for one in each), sum(one.resident for one in each), sum(one.anonymous for one in each))


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


def command(pid: int) -> list[str]:
    """Return the command line of a process; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except OSError:
        return []


def started_at(pid: int) -> float:
    """Return when a process started, in seconds of the monotonic clock, to a tick of 10 ms."""
    booted = time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic()
    return int(_stat(pid)[_STARTED]) / _TICKS_PER_SECOND - booted


def is_alive(pid: int) -> bool:
    """Return whether a process is alive, not a zombie."""
    try:
        return _stat(pid)[_STATE] not in _ENDED
    except OSError:
        return False


def core_wait(pid: int | str) -> float:
    """Return the seconds that the first thread of a process was ready to run but had no core."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


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


def _kibibytes(file: Path) -> dict[str, int]:
    fields = (line.split() for line in file.read_text().splitlines())
    return {field[0].rstrip(":"): int(field[1]) for field in fields if field[-1] == "kB"}
