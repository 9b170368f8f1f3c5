"""A peer is measured on places and words only if it finds the same stores as the service."""

from collections.abc import Iterator
from typing import Final

from bench.wire.finding import on_page
from bench.wire.load import Questions
from bench.wire.servers import Failed, Server
from bench.wire.shapes import Shape

PROBES: Final = 100


def check_same(shape: Shape, *, ours: Server, theirs: Server) -> None:
    """Send the first requests of a shape to the service and a peer that `finds` stores. Raises `Cannot`, `Failed`."""
    finds, unlike = theirs.contender.finds, theirs.contender.unlike
    if finds is None or not shape.locates:
        return
    pairs = [
        (on_page(mine), finds(its)) for mine, its in zip(_bodies(shape, ours), _bodies(shape, theirs), strict=True)
    ]
    others = [number for number, (mine, its) in enumerate(pairs) if not mine.agrees(its, unlike)]
    if others:
        target = shape.requests[others[0]].target
        raise Failed(f"it finds other stores in {len(others)} of {len(pairs)} responses, the first to {target}")


def _bodies(shape: Shape, server: Server) -> Iterator[bytes]:
    questions = Questions.of(shape, server)
    return (questions.ask(server, target).body for target in questions.targets[:PROBES])
