"""The words that company and store names consist of, by locale."""

from typing import Final

import msgspec

from service.sampling.reference_data import read_toml
from service.sampling.seeded_random import Draw, pick


class Brands(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The words and name forms of one locale, as `data/brands.toml` describes them."""

    stems: tuple[str, ...]
    trades: tuple[str, ...]
    forms: tuple[str, ...]
    groups: tuple[str, ...]
    legal: tuple[str, ...]
    branches: tuple[str, ...]

    def shop_name(self, draw: Draw) -> str:
        """Return a name for a company that owns stores."""
        return self._name(self.forms, draw)

    def group_name(self, draw: Draw) -> str:
        """Return a name for a company that owns other companies."""
        return self._name(self.groups, draw)

    def _name(self, forms: tuple[str, ...], draw: Draw) -> str:
        index = int(draw() * len(self.stems))
        others = self.stems[:index] + self.stems[index + 1 :]
        return pick(forms, draw).format(stem=self.stems[index], other=pick(others, draw), trade=pick(self.trades, draw))


BRANDS: Final = read_toml("brands.toml", dict[str, Brands])
