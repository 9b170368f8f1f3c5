"""The parts of addresses, by locale."""

from typing import Final

import msgspec

from service.sampling.reference_data import read_toml
from service.sampling.seeded_random import Draw, fill, pick


class Streets(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The street names and address forms of one locale, as `data/streets.toml` describes them."""

    names: tuple[str, ...]
    forms: tuple[str, ...]
    max_number: int
    second_lines: tuple[str, ...]

    def first_line(self, draw: Draw) -> str:
        """Return a first address line; low house numbers are likelier than high ones."""
        share = draw()
        return pick(self.forms, draw).format(
            street=pick(self.names, draw), number=1 + int(self.max_number * share * share), part=1 + int(draw() * 30)
        )

    def second_line(self, draw: Draw) -> str:
        """Return a second address line."""
        return fill(pick(self.second_lines, draw), draw)


STREETS: Final = read_toml("streets.toml", dict[str, Streets])
