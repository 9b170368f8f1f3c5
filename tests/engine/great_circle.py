"""Distances on the sphere of the interface, by the haversine formula with forty digits."""

from decimal import Decimal, localcontext
from functools import cache

Point = tuple[float, float]

_DIGITS = 40
_RADIUS = Decimal("6371008.8")
_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")
HALF_CIRCUMFERENCE = float(_PI * _RADIUS)


@cache
def distance(one: Point, other: Point) -> Decimal:
    """Return the distance of two points, latitude and longitude in degrees, in metres."""
    with localcontext(prec=_DIGITS):
        (phi, lam), (phi2, lam2) = (tuple(Decimal(angle) * _PI / 180 for angle in point) for point in (one, other))
        haversine = _sine((phi2 - phi) / 2) ** 2 + _cosine(phi) * _cosine(phi2) * _sine((lam2 - lam) / 2) ** 2
        return 2 * _RADIUS * _arcsine(min(haversine.sqrt(), Decimal(1)))


def _cosine(angle: Decimal) -> Decimal:
    return 1 - 2 * _sine(angle / 2) ** 2


@cache
def _sine(angle: Decimal) -> Decimal:
    total = term = angle
    number = 1
    while abs(term) > Decimal(10) ** -_DIGITS:
        number += 2
        term *= -angle * angle / (number * (number - 1))
        total += term
    return total


def _arcsine(sine: Decimal) -> Decimal:
    """Return the arc tangent of the half angle, doubled, by a series after two more halvings."""
    cosine = ((1 - sine) * (1 + sine)).sqrt()
    if sine == 0:
        return sine
    tangent, doublings = sine / (1 + cosine), 2
    for _ in range(3):
        tangent, doublings = tangent / (1 + (1 + tangent * tangent).sqrt()), doublings * 2
    total, power, number = tangent, tangent, 1
    while abs(power) > Decimal(10) ** -_DIGITS:
        number += 2
        power *= -tangent * tangent
        total += power / number
    return total * doublings
