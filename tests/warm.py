"""Programs that start at once: `python -m MODULE …` in a fork of a process that has imported the service.

A start of Python with the service takes most of a second of CPU time, which the suite would pay a hundred times.
"""

import atexit
import ctypes
import gc
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, Final, NoReturn

import click

from service.commands import main

AUTHORITY: Final = Path(__file__).with_name("authority.pem")
_ROOT: Final = Path(__file__).parents[1]
_LARGEST: Final = 1 << 20
_PR_SET_CHILD_SUBREAPER: Final = 36  # prctl(2)
_one_at_a_time: Final = Lock()


class Warm(subprocess.Popen[str]):
    """What `Popen` makes of `[sys.executable, "-m", MODULE, …]`, in a process group of its own.

    Arguments, environment, working folder and standard streams are those of the call, and whether a hangup is ignored,
    which tests change. What Python itself reads from the environment, such as PYTHONPATH, has no effect.
    """

    def _execute_child(self, args: list[str], *others: Any) -> None:
        """Fork where `Popen` starts a program; the parameters are the same from Python 3.11 to 3.14."""
        sys.audit("subprocess.Popen", args[0], args, None, None)
        environment, pipes = others[5], others[9:15]
        start = {
            "arguments": args[2:],
            "folder": str(Path.cwd()),
            "environment": dict(environment or os.environ),
            "ignores_hangup": signal.getsignal(signal.SIGHUP) == signal.SIG_IGN,
        }
        streams = [given if given >= 0 else standard for standard, given in enumerate((pipes[0], pipes[3], pipes[5]))]
        with _one_at_a_time:
            parent = _parent()
            socket.send_fds(parent, [json.dumps(start).encode()], streams)
            self.pid = int(parent.recv(_LARGEST))
            parent.recv(_LARGEST)  # it is a child of this process now
        vars(self)["_child_created"] = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]


@cache
def _parent() -> socket.socket:
    """Start the process that forks, until this one ends; make this one the parent of what it orphans."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    command = [sys.executable, "-m", "tests.warm", str(theirs.fileno())]
    unset = {name: value for name, value in os.environ.items() if not name.startswith("STORE_DIRECTORY_")}
    process = subprocess.Popen(
        command,
        cwd=_ROOT,
        env={**unset, "SSL_CERT_FILE": str(AUTHORITY), "OPENBLAS_NUM_THREADS": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=[theirs.fileno()],
        process_group=0,
    )
    theirs.close()
    atexit.register(process.wait)
    atexit.register(ours.close)
    return ours


def _import_all() -> None:
    """Import the commands, and what they import when it is needed; no thread may run when a process forks."""
    context = click.Context(main)
    for name in main.list_commands(context):
        main.get_command(context, name)
    import_module("service.server.workers")
    gc.freeze()
    assert len(list(Path("/proc/self/task").iterdir())) == 1


def _next_start(parent: socket.socket) -> dict[str, Any]:
    """Return, in a fork, what a process of its own is to start."""
    while True:
        message, streams, _, _ = socket.recv_fds(parent, _LARGEST, 3)
        if not message:
            sys.exit()
        waiting, orphaned = os.pipe()
        if not (between := os.fork()):
            if forked := os.fork():
                os.setpgid(forked, forked)
                parent.send(b"%d" % forked)
                os._exit(0)
            os.close(orphaned)
            os.read(waiting, 1)  # until then it has another parent, and may be in another process group
            os.close(waiting)
            break
        os.waitpid(between, 0)
        for opened in (*streams, waiting, orphaned):
            os.close(opened)
        parent.send(b"orphaned")
    for standard, stream in enumerate(streams):
        os.dup2(stream, standard)
        os.close(stream)
    parent.close()
    found: dict[str, Any] = json.loads(message)
    return found


def _main(parent: int) -> NoReturn:
    _import_all()
    start = _next_start(socket.socket(fileno=parent))
    os.chdir(start["folder"])
    os.environ.clear()
    os.environ.update(start["environment"])
    signal.signal(signal.SIGHUP, signal.SIG_IGN if start["ignores_hangup"] else signal.SIG_DFL)
    sys.path[0] = start["folder"]
    module, *sys.argv[1:] = start["arguments"]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
    sys.exit()


if __name__ == "__main__":
    _main(int(sys.argv[1]))
