"""What Linux tells of a process and its children: processor time and memory."""

import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

_TICKS_PER_SECOND: Final = os.sysconf("SC_CLK_TCK")
_KIB: Final = 1024
# Places in /proc/PID/stat behind the name in brackets, from 0 (proc_pid_stat(5)).
_PARENT, _USER, _SYSTEM = 1, 11, 12


class Memory(msgspec.Struct, frozen=True):
    """Bytes of memory: the most ever resident, resident now with shared pages shared out, and private to no file."""

    peak: int
    resident: int
    anonymous: int


def cpu_seconds(pid: int) -> float:
    """Return the user and system time that a process and its living descendants have taken, to a tick of 10 ms."""
    stats = (_stat(each) for each in _family(pid))
    return sum(int(stat[_USER]) + int(stat[_SYSTEM]) for stat in stats) / _TICKS_PER_SECOND


def memory(pid: int) -> Memory:
    """Return the memory of a process and its living descendants."""
    peak = resident = anonymous = 0
    for each in _family(pid):
        status = _kibibytes(Path(f"/proc/{each}/status"))
        rollup = _kibibytes(Path(f"/proc/{each}/smaps_rollup"))
        peak += status["VmHWM"]
        resident += rollup["Pss"]
        anonymous += rollup["Anonymous"]
    return Memory(peak * _KIB, resident * _KIB, anonymous * _KIB)


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _family(pid: int) -> Iterator[int]:
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
