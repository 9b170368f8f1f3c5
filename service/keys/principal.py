"""Who asks."""

import msgspec

from service.keys.rate import Rate


class Principal(msgspec.Struct, frozen=True):
    """Who asks, by the name of the key; how much it may ask, if that is limited."""

    name: str
    rate: Rate | None = None
