"""Readers of the coordinates and words of requests. Each takes any bytes; an exception is a finding."""

import math
from contextlib import suppress

from service.model.coordinates import parse_box, parse_point
from service.model.errors import UnprocessableContent
from service.model.query import QueryParser
from service.model.records import STORES
from service.model.words import MAX_CHARACTERS, MAX_WORDS, parse_terms, words_of_lines
from tests.engine.search_oracle import indexed, tokens

_PARSER = QueryParser(STORES)


def read_places(given: bytes) -> None:
    """Read a text as a point, a box and a radius; what is read is written as it can be read again."""
    text = given.decode("utf-8", "replace")
    with suppress(ValueError):
        point = parse_point(text)
        assert parse_point(",".join(map(repr, point))) == point
    with suppress(ValueError):
        box = parse_box(text)
        assert parse_box(",".join(map(repr, box))) == box
        assert box.south <= box.north
    with suppress(UnprocessableContent):
        radius = _PARSER.parse([("near", "0,0"), ("radius", text)], strict=True).radius
        assert not radius or 0 < radius < math.inf


def read_search(given: bytes) -> None:
    """Split a text into words as it is indexed and as it is searched for; both equal a naive reader."""
    text = given.decode("utf-8", "replace")
    assert {word for line in words_of_lines(text) for word in line} == indexed([text])
    try:
        terms = parse_terms(text)
    except ValueError:
        assert len(text) > MAX_CHARACTERS or len(tokens(text)) > MAX_WORDS
        return
    assert list(terms) == sorted(set(terms))
    assert bool(terms) == bool(tokens(text))
    assert all(term.word for term in terms)
