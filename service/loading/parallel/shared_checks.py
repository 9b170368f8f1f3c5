"""Check batches in their order, of a large file in two processes."""

from collections.abc import Sequence, Set as AbstractSet
from typing import Final

from service.loading.parallel.check_messages import Task
from service.loading.parallel.checked_batch import BatchChecker, CheckedBatch
from service.loading.parallel.second_process import SecondProcess
from service.model.attributes import Declaration
from service.model.records import STORES, Resource
from service.reading.batches.batch import Batch

CheckedBatches = Sequence[tuple[Batch, CheckedBatch]]

# From this batch on, a second process pays.
SHARED_FROM: Final = 128
# How many batches it checks while this process reads them and checks one.
_SENT: Final = 2


class SharedChecks:
    """Checks batches: every third one here, while a second process checks the two before."""

    def __init__(self, resource: Resource, companies: AbstractSet[str] | None, declaration: Declaration) -> None:
        """Check batches of a resource with the attributes of a declaration; see `BatchChecker` for `companies`."""
        self._checker, self._is_shared = BatchChecker(resource, companies), resource.name == STORES.name
        self._resource, self._task = resource, Task(declaration, companies)
        self._second: SecondProcess | None = None
        self._waiting: list[Batch] = []
        self._sent = self._added = 0

    def add(self, batch: Batch) -> CheckedBatches:
        """Return the next batches that are checked, none if one more is needed before."""
        self._waiting.append(batch)
        self._added += 1
        if self._second is None and self._is_shared and self._added >= SHARED_FROM:
            self._second = SecondProcess(self._resource, self._task)
        if self._second is None or batch.watched or len(self._waiting) > _SENT:
            return self.rest()
        if len(self._waiting) == _SENT:
            self._second.send([each.columns for each in self._waiting])
            self._sent = _SENT
        return ()

    def rest(self) -> CheckedBatches:
        """Return the batches that were not returned, checked."""
        waiting, sent = self._waiting, [each.columns for each in self._waiting[: self._sent]]
        checked = [self._checker.check(each.columns) for each in waiting[self._sent :]]
        if self._second is not None and sent:
            received = self._second.receive(sent)
            checked[:0] = list(map(self._checker.check, sent)) if received is None else received
        self._waiting, self._sent = [], 0
        return list(zip(waiting, checked, strict=True))
