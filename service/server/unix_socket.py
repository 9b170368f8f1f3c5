"""The Unix socket that the service listens on, for a proxy on the same machine."""

import os
import socket
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from service.files.locks import locked_folder
from service.server.listener import CannotListen, Listener

UNIX_SCHEME: Final = "unix:"
# The owner and the group connect, and nobody else: who that is the folder decides, or who runs the service.
_WITHHELD: Final = 0o117
# Until it is told how many by whoever accepts them.
_BACKLOG: Final = 1024


class UnixListener(Listener, frozen=True):
    """A Unix socket, which all workers share, and the file that stands for it.

    identity  device and inode of the file, so that no other one is removed
    owner     the process that made it, and not one that was forked
    """

    file: Path = Path()
    identity: tuple[int, int] = (0, 0)
    owner: int = 0

    @property
    def url(self) -> str:
        """The path of the file, marked as one."""
        return f"{UNIX_SCHEME}{self.file}"

    @property
    def place(self) -> str:
        """The same."""
        return self.url

    @property
    def is_local(self) -> bool:
        """True: no network leads to a file."""
        return True

    def again(self) -> Listener:
        """Return the same socket: a path leads to one only."""
        return self

    def leave(self) -> None:
        """Remove the file, where it is still that of this socket."""
        if os.getpid() == self.owner:
            with suppress(OSError), locked_folder(self.file.parent):
                if _identity(self.file) == self.identity:
                    self.file.unlink()


def bind_unix(path: str) -> UnixListener:
    """Listen at a path, in place of a socket that nobody listens on any more. Raises `CannotListen`.

    Under a lock of the folder: nobody who starts or ends at the same moment removes a socket that is not theirs.
    """
    file = Path(path).absolute()
    bound = socket.socket(socket.AF_UNIX)
    try:
        with locked_folder(file.parent):
            _remove_dead(file)
            mask = os.umask(_WITHHELD)
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


def _remove_dead(file: Path) -> None:
    """Remove the file of a socket that nobody listens on. Raises OSError where something else is there."""
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(file.lstat().st_mode):
            raise FileExistsError(0, "it is there, and no socket")
        with socket.socket(socket.AF_UNIX) as client, suppress(ConnectionRefusedError):
            client.settimeout(1)  # where so many wait already that another one cannot
            client.connect(str(file))
            raise OSError(0, "a process that runs listens there")
        file.unlink()


def _identity(file: Path) -> tuple[int, int]:
    found = file.lstat()
    return found.st_dev, found.st_ino
