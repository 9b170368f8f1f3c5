"""Several processes that answer, under gunicorn: it starts them, replaces them when they die, and ends them."""

import os
import signal
from typing import Final, cast

import uvloop
from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter
from gunicorn.config import Config
from gunicorn.glogging import Logger
from gunicorn.workers.base import Worker

from service.server.listener import Listener
from service.server.process import Plan, Sockets, import_web, run
from service.sources.source import Rejected

# What a worker that was told to end gets beyond the time to drain, before it is killed.
_GRACE_SECONDS: Final = 15
# A worker whose event loop does not turn for so long is replaced.
_HUNG_SECONDS: Final = 30


def run_workers(plan: Plan, public: Listener, admin: Listener) -> None:
    """Serve with several processes until told to end. Raises `Rejected` where there is nothing to serve.

    Each worker has listening sockets of its own, on the addresses that are bound here: with one socket for all,
    whichever worker wakes first would take most connections.
    """
    plan.workspace.slots.add(plan.settings.processes)
    import_web(rates=plan.policy.rates)  # once, for all that are forked from here
    owner = os.getpid()
    try:
        _Arbiter(_Application(plan, public, admin)).run()
    except SystemExit as end:
        if end.code or os.getpid() != owner:  # a worker ends here, too
            raise
    if rejected := plan.workspace.refusal():
        raise rejected


class _Log(Logger):
    """gunicorn's log as a part of ours."""

    def setup(self, cfg: Config) -> None:
        """Hand everything on to our log."""
        super().setup(cfg)
        self.error_log.handlers.clear()
        self.error_log.propagate = True


class _Arbiter(Arbiter):
    """The process above the workers."""

    def handle_hup(self) -> None:
        """Let the worker that looks after the source take it anew, instead of replacing the workers."""
        self.kill_workers(signal.SIGHUP)

    def handle_usr1(self) -> None:
        """Do nothing: there are no log files to open anew."""

    def handle_usr2(self) -> None:
        """Do nothing, instead of starting another program of the same name."""


class _Worker(Worker):
    """A worker of gunicorn that runs our loop."""

    def init_signals(self) -> None:
        """Leave the signals to the loop."""
        for number in self.SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until the loop listens to it

    def load_wsgi(self) -> None:
        """Do nothing: there is no WSGI application."""

    def run(self) -> None:
        """Be a worker until told to end."""
        cast("_Application", self.app).work(self)


class _Application(BaseApplication):
    """A run of several workers, as gunicorn sees it."""

    def __init__(self, plan: Plan, public: Listener, admin: Listener) -> None:
        self.plan, self._public, self._admin = plan, public, admin
        super().__init__()

    def load_config(self) -> None:
        """Tell gunicorn how to run."""
        settings = self.plan.settings
        for name, value in {
            "bind": [],  # each worker binds its own
            "reuse_port": True,  # so that the process above has none
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
        """Be a worker until told to end. Where there is nothing to serve, end the run and leave word why."""

        def beat() -> None:
            worker.notify()
            if os.getppid() != worker.ppid:
                os.kill(os.getpid(), signal.SIGTERM)

        try:
            slot = self.plan.workspace.slots.take()
            sockets = Sockets(self._public.again().sockets, self._admin.again().sockets)
            uvloop.run(run(self.plan, slot, sockets, beat=beat))
        except Rejected as rejected:
            self.plan.workspace.refuse(rejected)
            os.kill(worker.ppid, signal.SIGTERM)
