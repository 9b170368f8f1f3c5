"""Listening on a Unix socket, for a proxy on the same machine."""

import os
import socket
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from service.files.locks import locked_folder
from service.server.listener import CannotListen, Listener

UNIX_SCHEME: Final = "unix:"
# Only the owner and the group of the file can connect.
_UMASK: Final = 0o117
# Until the server sets its own.
_BACKLOG: Final = 1024


class UnixListener(Listener, frozen=True):
    """A Unix socket that all workers share.

    identity  device and inode of its file, so that no other file is removed
    owner     id of the process that created it
    """

    file: Path = Path()
    identity: tuple[int, int] = (0, 0)
    owner: int = 0

    @property
    def url(self) -> str:
        """The path of the file after `unix:`."""
        return f"{UNIX_SCHEME}{self.file}"

    @property
    def address(self) -> str:
        """The same as `url`."""
        return self.url

    @property
    def is_local(self) -> bool:
        """True: a Unix socket is not reachable over a network."""
        return True

    def duplicate(self) -> Listener:
        """Return this listener: all workers share its socket."""
        return self

    def clean_up(self) -> None:
        """Remove the file, if it is still that of this socket."""
        if os.getpid() == self.owner:
            with suppress(OSError), locked_folder(self.file.parent):
                if _identity(self.file) == self.identity:
                    self.file.unlink()


def bind_unix(path: str) -> UnixListener:
    """Listen at a path, replacing a socket on which no process listens any more. Raises `CannotListen`.

    A lock of the folder prevents services that start or end at the same time from removing each other's socket.
    """
    file = Path(path).absolute()
    bound = socket.socket(socket.AF_UNIX)
    try:
        with locked_folder(file.parent):
            _remove_stale(file)
            mask = os.umask(_UMASK)
            try:
                bound.bind(str(file))
            finally:
                os.umask(mask)
            bound.listen(_BACKLOG)
            bound.setblocking(False)
            return UnixListener((bound,), file=file, identity=_identity(file), owner=os.getpid())
    except OSError as error:
        bound.close()
        raise CannotListen(f"cannot listen on {UNIX_SCHEME}{file}: {error.strerror or error}") from error


def _remove_stale(file: Path) -> None:
    """Remove the file of a socket on which no process listens. Raises OSError if it is anything else."""
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(file.lstat().st_mode):
            raise FileExistsError(0, "it exists and is not a socket")
        with socket.socket(socket.AF_UNIX) as client, suppress(ConnectionRefusedError):
            client.settimeout(1)  # connecting blocks while the backlog is full
            client.connect(str(file))
            raise OSError(0, "another process is listening there")
        file.unlink()


def _identity(file: Path) -> tuple[int, int]:
    found = file.lstat()
    return found.st_dev, found.st_ino
