"""Metrics of the processes of a run: CPU time, memory, file descriptors."""

from collections.abc import Iterable
from functools import partial
from typing import Final

from prometheus_client import Metric, ProcessCollector
from prometheus_client.registry import Collector

from service.snapshot.worker_slots import WorkerSlot

_LABEL: Final = "process"


class ProcessMetrics(Collector):
    """The standard metrics of each process of a run, whichever worker is asked, from /proc.

    With several, the label `process` is `parent` or the number of the worker, which its successor has, too.
    """

    def __init__(self, slot: WorkerSlot) -> None:
        self._slot = slot

    def collect(self) -> Iterable[Metric]:
        """Return the metrics of the processes that are alive; none where there is no /proc."""
        families = dict[str, Metric]()
        for name, pid in self._slot.processes().items():
            labels = {} if self._slot.alone else {_LABEL: name}
            for found in ProcessCollector(pid=partial(int, pid), registry=None).collect():
                family = families.setdefault(found.name, Metric(found.name, found.documentation, found.type))
                for sample in found.samples:
                    family.add_sample(sample.name, labels, sample.value)
        return families.values()
