"""Places: what a visitor's text may mean, with a point; and the parameters of the search for them."""

from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta

from service.model.parameters import LIMIT, filter_parameter, integer_parser
from service.model.records import STORES
from service.model.search_parameters import NEAR, Parameter
from service.model.words import MAX_CHARACTERS, MAX_WORDS, parse_place

MAX_PLACES: Final = 50
DEFAULT_PLACES: Final = 8
COUNTRY: Final = "country"
Kind: TypeAlias = Literal["city", "postal_code", "postal_area"]
CITY: Final = "city"
POSTAL_CODE: Final = "postal_code"
POSTAL_AREA: Final = "postal_area"


class Place(msgspec.Struct, frozen=True):
    """A city or postal code of stores, or of the operator's list; or an area, the beginning of postal codes."""

    name: Annotated[str, Meta(description="Name of the city, or the postal code, or the beginning of several.")]
    kind: Annotated[Kind, Meta(extra_json_schema={"type": "string"})]
    city: str | None
    province: str | None
    country: str | None
    latitude: Annotated[float, Meta(description="Latitude of the mean of its stores in degrees, to five decimals.")]
    longitude: float
    stores: Annotated[int, Meta(ge=0, description="Number of its stores.")]


class PlacePage(msgspec.Struct, frozen=True):
    """The places that a text may mean; or, if there are none, the name of a city that may have been meant."""

    data: list[Place]
    suggestion: Annotated[str | None, Meta(description="A city whose name is one edit away from the text.")]


PLACE_PARAMETERS: Final = (
    filter_parameter(STORES.field(COUNTRY)),
    msgspec.structs.replace(
        NEAR,
        description="A point, as `latitude,longitude` in decimal degrees: places are sorted by their distance from it, "
        "not by their number of stores.",
    ),
    Parameter(
        name="q",
        description="What a visitor typed: words of the name, city, province or country of a place, at least one of "
        "them of its name. Case and accents do not matter. The last word may be the beginning of one, unless a space "
        f"follows it. At most {MAX_WORDS} words and {MAX_CHARACTERS} characters.",
        schema={"type": "string", "maxLength": MAX_CHARACTERS},
        parse=parse_place,
        example="toron",
        required=True,
    ),
    msgspec.structs.replace(
        LIMIT,
        description="The number of places.",
        schema={"type": "integer", "minimum": 1, "maximum": MAX_PLACES, "default": DEFAULT_PLACES},
        parse=integer_parser(1, MAX_PLACES),
    ),
)
