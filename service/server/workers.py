"""Several worker processes under gunicorn, which starts them, replaces them when they die, and ends them."""

import os
import signal
from typing import Final, cast

import msgspec
import uvloop
from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter
from gunicorn.config import Config
from gunicorn.glogging import Logger
from gunicorn.workers.base import Worker

from service.dataset import Rejected
from service.server.console import ServiceManager
from service.server.listener import Listener
from service.server.process import ServeSetup, import_web, run

# Time that a worker has to end, in addition to the time to drain, before it is killed.
_GRACE_SECONDS: Final = 15
# A worker whose event loop is blocked for this long is replaced.
_HUNG_SECONDS: Final = 30


def run_workers(setup: ServeSetup, public: Listener, admin: Listener) -> None:
    """Serve with several processes until a signal ends the run. Raises `Rejected` if there is nothing to serve.

    Each worker has its own listening sockets on the addresses bound here. With one shared socket the worker that wakes
    first would accept most connections.
    """
    setup.workspace.slots.add(setup.settings.processes)
    import_web()  # once, for all forked workers
    owner = os.getpid()
    try:
        _Arbiter(_Application(setup, public, admin)).run()
    except SystemExit as end:
        if end.code or os.getpid() != owner:  # a forked worker ends here as well
            raise
    if rejected := setup.workspace.read_rejection():
        raise rejected


class _Log(Logger):
    """Passes gunicorn's log on to ours."""

    def setup(self, cfg: Config) -> None:
        """Use our handlers instead of gunicorn's."""
        super().setup(cfg)
        self.error_log.handlers.clear()
        self.error_log.propagate = True


class _Arbiter(Arbiter):
    """The parent of the workers."""

    def handle_hup(self) -> None:
        """Pass SIGHUP on, so that the leader fetches the source, instead of replacing the workers."""
        cast("_Application", self.app).setup.manager.reloading()
        self.kill_workers(signal.SIGHUP)

    def handle_usr1(self) -> None:
        """Report to the service manager what a worker reports to this process: it accepts nothing from workers."""
        cast("_Application", self.app).setup.manager.ready()

    def handle_usr2(self) -> None:
        """Do nothing, instead of starting a new arbiter."""

    def stop(self, graceful: bool = True) -> None:  # noqa: FBT001, FBT002 - gunicorn's parameter
        """Report that the run ends, and end the workers."""
        cast("_Application", self.app).setup.manager.stopping()
        super().stop(graceful)


class _Parent(ServiceManager, frozen=True):
    """What a worker notifies: the arbiter, which knows of reloads and the end by itself."""

    process: int = 0

    def ready(self) -> None:
        """Send the signal that the arbiter passes on."""
        os.kill(self.process, signal.SIGUSR1)


class _Worker(Worker):
    """A worker of gunicorn that runs our event loop."""

    def init_signals(self) -> None:
        for number in self.SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until the event loop handles it

    def load_wsgi(self) -> None:
        """Do nothing: there is no WSGI application."""

    def run(self) -> None:
        cast("_Application", self.app).work(self)


class _Application(BaseApplication):
    """The run, as an application of gunicorn."""

    def __init__(self, setup: ServeSetup, public: Listener, admin: Listener) -> None:
        self.setup, self._public, self._admin = setup, public, admin
        super().__init__()

    def load_config(self) -> None:
        settings = self.setup.settings
        for name, value in {
            "bind": [],  # each worker binds its own sockets
            "reuse_port": True,  # so that the parent has no listening sockets
            "workers": settings.processes,
            "worker_class": _Worker,
            "logger_class": _Log,
            "loglevel": "warning",
            "timeout": _HUNG_SECONDS,
            "graceful_timeout": int(settings.drain) + _GRACE_SECONDS,
            "control_socket_disable": True,
        }.items():
            self.cfg.set(name, value)

    def work(self, worker: Worker) -> None:
        """Work until a signal ends the process. If there is nothing to serve, record why and end the run."""

        def heartbeat() -> None:
            worker.notify()
            if os.getppid() != worker.ppid:
                os.kill(os.getpid(), signal.SIGTERM)

        try:
            slot = self.setup.workspace.slots.claim()
            public, admin = self._public.duplicate(), self._admin.duplicate()
            setup = msgspec.structs.replace(self.setup, manager=_Parent(process=worker.ppid))
            uvloop.run(run(setup, slot, public, admin, heartbeat=heartbeat))
        except Rejected as rejected:
            self.setup.workspace.write_rejection(rejected)
            os.kill(worker.ppid, signal.SIGTERM)
