"""Notifications to a service manager, such as systemd with `Type=notify` (sd_notify(3))."""

import logging
import os
import socket
import time
from typing import Final

import msgspec

_SECONDS: Final = 1
_log = logging.getLogger(__name__)


class ServiceManager(msgspec.Struct, frozen=True):
    """Notifies the service manager over the Unix datagram socket at an address; `@` begins an abstract one, "" is none.

    A notification that cannot be sent within a second is a warning in the log.
    """

    address: str = ""

    def ready(self) -> None:
        """Report that data is served, after the start or after a reload that was requested."""
        self._notify("READY=1")

    def reloading(self) -> None:
        """Report that a reload was requested; `ready` ends it."""
        self._notify(f"RELOADING=1\nMONOTONIC_USEC={time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000}")

    def stopping(self) -> None:
        """Report that the service drains, or ends."""
        self._notify("STOPPING=1")

    def _notify(self, state: str) -> None:
        if self.address:
            path = f"\0{self.address[1:]}" if self.address[0] == "@" else self.address
            try:
                with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                    sender.settimeout(_SECONDS)
                    sender.sendto(state.encode(), path)
            except OSError as error:
                _log.warning("the service manager at NOTIFY_SOCKET was not notified: %s", error.strerror or error)


def service_manager() -> ServiceManager:
    """Return the service manager that NOTIFY_SOCKET names, and remove the variable.

    Otherwise gunicorn would report that it is ready, before there is data, and worker and child processes would inherit
    the variable.
    """
    return ServiceManager(os.environ.pop("NOTIFY_SOCKET", ""))
