"""The cores: one for the servers, one for everything else."""

import os
import shutil
from typing import Final

import click

_TOOLS: Final = {"taskset": "util-linux", "wrk": "wrk"}


def split_cores() -> tuple[int, int]:
    """Return the core of the servers and that of the load, and move this process to the latter.

    Raises `click.ClickException` if a tool is missing or there is only one core.
    """
    for tool, package in _TOOLS.items():
        if shutil.which(tool) is None:
            raise click.ClickException(f"{tool} is missing: install it, on Debian with `apt-get install {package}`")
    load, *others = sorted(os.sched_getaffinity(0))
    if not others:
        raise click.ClickException("there is only one core: one is needed for the servers, one for the load")
    os.sched_setaffinity(0, {load})
    return others[-1], load


def pinned(command: list[str], *cores: int) -> list[str]:
    """Return the command that runs `command` on some cores."""
    return ["taskset", "--cpu-list", ",".join(map(str, cores)), *command]
