"""Countries: how many stores of a sample they have, how they write offsets from UTC, and their domains."""

from typing import Final

import msgspec

from service.sampling.words import listed


class Country(msgspec.Struct, frozen=True):
    """A country's weight among all, its offsets from UTC over the year, and the endings of its domains."""

    weight: int
    offsets: tuple[str, ...]
    endings: tuple[str, ...]


_EUROPE: Final = ("+01:00", "+02:00")

# The weights are ours: such that no city has much more than a hundredth of all stores.
COUNTRIES: Final = {
    "US": Country(30, ("-05:00", "-04:00", "-06:00", "-07:00", "-08:00"), listed(".com; .com; .com; .net; .shop; .us")),
    "CA": Country(9, ("-05:00", "-04:00", "-08:00", "-03:30"), listed(".ca; .ca; .com")),
    "MX": Country(6, ("-06:00", "-07:00"), listed(".com.mx; .com.mx; .mx")),
    "BR": Country(8, ("-03:00", "-04:00"), listed(".com.br")),
    "AU": Country(4, ("+10:00", "+11:00", "+08:00", "+09:30"), listed(".com.au; .com.au; .au")),
    "GB": Country(7, ("+00:00", "+01:00"), listed(".co.uk; .co.uk; .uk; .com")),
    "FR": Country(7, _EUROPE, listed(".fr; .fr; .com")),
    "DE": Country(8, _EUROPE, listed(".de; .de; .de; .com")),
    "ES": Country(5, _EUROPE, listed(".es; .es; .com")),
    "IT": Country(5, _EUROPE, listed(".it")),
    "NL": Country(3, _EUROPE, listed(".nl")),
    "SE": Country(2, _EUROPE, listed(".se; .se; .nu")),
    "PL": Country(4, _EUROPE, listed(".pl; .pl; .com.pl")),
    "TR": Country(3, ("+03:00",), listed(".com.tr")),
    "JP": Country(7, ("+09:00",), listed(".co.jp; .jp")),
}
