"""A setting's option, environment variable, key and accepted values."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import inspect

ENVIRONMENT_PREFIX: Final = "STORE_DIRECTORY_"
Group: TypeAlias = Literal["Data", "Listening", "Access", "Limits", "HTTP", "Logging"]
_LONGEST: Final = 100  # bits of a number that is quoted
_PARSERS: Final[dict[type[inspect.Type], Callable[[Any], Any]]] = {inspect.IntType: int, inspect.FloatType: float}


class Help(msgspec.Struct, frozen=True):
    """A setting in `--help`: its group, metavar and effect, and a default that no value expresses."""

    group: Group
    metavar: str
    effect: str
    default: str = ""


class Setting(msgspec.Struct, frozen=True):
    """A setting: its name in Python, its type, annotated with ranges and `Help`, and its default."""

    name: str
    type: Any
    default: object

    @property
    def help(self) -> Help:
        """Its description in `--help`."""
        return next(each for each in self.type.__metadata__ if isinstance(each, Help))

    @property
    def key(self) -> str:
        """Key in the settings file: `api-key`."""
        return self.name.replace("_", "-")

    @property
    def option(self) -> str:
        """Command-line option: `--api-key`."""
        return f"--{self.key}"

    @property
    def variable(self) -> str:
        """Environment variable: `STORE_DIRECTORY_API_KEY`."""
        return ENVIRONMENT_PREFIX + self.name.upper()

    @property
    def default_text(self) -> str:
        """The default in words: "8080"; "" for a flag, or if nothing is done by default."""
        if self.help.default or isinstance(self.default, bool | tuple | None):
            return self.help.default
        return f"{self.default:g}" if isinstance(self.default, float) else str(self.default)

    @property
    def types(self) -> tuple[inspect.Type, ...]:
        """The types of value: one, or several of a union; never None."""
        kind = inspect.type_info(self.type)
        kinds = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
        return tuple(each for each in kinds if not isinstance(each, inspect.NoneType))

    @property
    def is_flag(self) -> bool:
        """Whether the setting is true or false."""
        return isinstance(self.types[0], inspect.BoolType)

    @property
    def is_list(self) -> bool:
        """Whether the setting takes several texts."""
        return isinstance(self.types[0], inspect.VarTupleType)

    def mismatch(self, value: object) -> str:
        """Return the error message for a value that is not accepted; it quotes no list, which may hold keys."""
        is_long = isinstance(value, int) and value.bit_length() > _LONGEST  # Python may refuse to convert it
        quotable = isinstance(value, str | int | float) and not self.is_list and not is_long
        quoted = str(value).lower() if isinstance(value, bool) else repr(value) if quotable else ""
        accepted = " or ".join(map(_describe, self.types))
        return f"must be {accepted}" + (f", not {quoted}" if quotable else "")

    def check(self, value: object) -> None:
        """Raise ValueError if a value is not accepted."""
        texts = value if isinstance(value, list) else [value]
        if any("\0" in text for text in texts if isinstance(text, str)):
            raise ValueError("a text cannot contain the character NUL")
        try:
            msgspec.convert(value, self.type)
        except msgspec.ValidationError as error:
            raise ValueError(self.mismatch(value)) from error

    def parse(self, text: Any) -> Any:
        """Return the value of a text, or of a value from the settings file; raise ValueError if it is not accepted."""
        for kind in self.types:
            with suppress(ValueError):
                value = _PARSERS.get(type(kind), str)(text)
                self.check(value)
                return value
        raise ValueError(self.mismatch(text))


def _describe(kind: inspect.Type) -> str:
    match kind:
        case inspect.BoolType():
            words = "true or false"
        case inspect.IntType(ge=least, le=most):
            words = "a whole number" + _describe_range(least, most)
        case inspect.FloatType(gt=above, ge=least, le=most):
            words = "a number" + _describe_range(least, most, above=above)
        case inspect.LiteralType(values=values):
            words = " or ".join(map(repr, values))
        case inspect.EnumType(cls=choices):
            words = " or ".join(repr(choice.value) for choice in choices)
        case inspect.VarTupleType():
            words = 'a list such as ["one", "two"]'
        case _:
            words = "a non-empty text"
    return words


def _describe_range(least: float | None, most: float | None, *, above: float | None = None) -> str:
    start = f"from {least:.0f} to" if above is None else f"above {above:.0f} and up to"
    return f" {start} {most:.0f}"
