"""The shapes and the peers of a run."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from bench.wire.bench import PEERS, PLACE_PEERS
from bench.wire.locator import read_locator_shapes
from bench.wire.shapes import Shape, read_shapes
from bench.wire.variants import variants

PLACES_FROM: Final = 1_000_000


def choose_shapes(folder: Path, slugs: Sequence[str], *, stores: int, seed: int) -> list[Shape]:
    """Return the named shapes of the data set in a folder; without names all, but places and words only of a large one.

    Raises ValueError, which lists the shapes, if there is none of these names.
    """
    drawn = read_shapes(folder, seed)
    placed = read_locator_shapes(folder, seed) if slugs or stores >= PLACES_FROM else ()
    every = (*drawn, *placed, *variants(drawn))
    shapes = [shape for shape in every if not slugs or shape.slug in slugs]
    if not shapes:
        raise ValueError(f"the shapes are {', '.join(shape.slug for shape in every)}")
    return shapes


def peers_of(shapes: Iterable[Shape]) -> Sequence[str]:
    """Return the peers that are measured on some of the shapes."""
    return PEERS if any(shape.locates for shape in shapes) else [name for name in PEERS if name not in PLACE_PEERS]
