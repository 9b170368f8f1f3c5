"""Postal codes: their pattern by country, and where they begin by state or province."""

from typing import Final

from service.sampling.seeded_random import Pattern, patterns


def _first_characters(states: dict[str, str]) -> dict[str, str]:
    return {state: first for first, together in states.items() for state in together.split()}


# The first character of the codes of a state or province (the largest region's, where it has several).
_FIRST: Final = {
    "US": _first_characters(
        {
            "0": "CT MA ME NH NJ RI VT",
            "1": "DE NY PA",
            "2": "DC MD NC SC VA WV",
            "3": "AL FL GA MS TN",
            "4": "IN KY MI OH",
            "5": "IA MN MT ND SD WI",
            "6": "IL KS MO NE",
            "7": "AR LA OK TX",
            "8": "AZ CO ID NM NV UT WY",
            "9": "AK CA HI OR WA",
        }
    ),
    "CA": {
        "NL": "A", "NS": "B", "PE": "C", "NB": "E", "QC": "GHJ", "ON": "KLMNP", "MB": "R", "SK": "S", "AB": "T",
        "BC": "V", "NT": "X", "NU": "X", "YT": "Y",
    },
    "AU": _first_characters({"0": "NT", "2": "ACT NSW", "3": "VIC", "4": "QLD", "5": "SA", "6": "WA", "7": "TAS"}),
    "BR": _first_characters(
        {
            "0": "SP",
            "2": "ES RJ",
            "3": "MG",
            "4": "BA SE",
            "5": "AL PB PE RN",
            "6": "AC AM AP CE MA PA PI RR",
            "7": "DF GO MS MT RO TO",
            "8": "PR SC",
            "9": "RS",
        }
    ),
}  # fmt: skip

# `{first}` is as above, `{area}` two digits and `{letters}` two letters that the stores of a city share.
_PATTERNS: Final = {
    "US": ("{first}{area}##", "{first}{area}##", "{first}{area}##-####"),
    "CA": ("{first}{digit}@ #@#",),
    "MX": ("{area}###",),
    "BR": ("{first}{area}##-###", "{first}{area}##-###", "{first}{area}##000"),
    "AU": ("{first}{area}#",),
    "GB": ("{letters}* #@@", "{letters}1# #@@"),
    "FR": ("{area}##0", "{area}000"),
    "DE": ("{area}###",),
    "ES": ("{area}0##",),
    "IT": ("{area}###",),
    "NL": ("{area}## @@", "{area}## @@", "{area}##@@"),
    "SE": ("{area}# ##",),
    "PL": ("{area}-###",),
    "TR": ("{area}###",),
    "JP": ("{area}#-####",),
}
# Countries whose first two digits do not reach 99: Spain has 52 provinces, Turkey 81, France 95.
_AREAS: Final = {"ES": 52, "TR": 81, "FR": 95}


def postal_patterns(*, country: str, province: str, city: str, place: int) -> tuple[Pattern, ...]:
    """Return the patterns of a city's postal codes; `place` is the city's among those of its country."""
    firsts = _FIRST[country][province] if country in _FIRST else " "
    area = 10 + place * 37 % (_AREAS.get(country, 99) - 9)  # 37 and what it is cut by have no common divisor
    parts = {
        "first": firsts[place % len(firsts)],
        "area": area,
        "digit": area % 9 + 1,
        "letters": (city[0] + city[-1]).upper(),
    }
    return patterns(form.format(**parts) for form in _PATTERNS[country])
