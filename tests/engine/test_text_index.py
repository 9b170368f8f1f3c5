"""The index of words: the rows that match a search equal those of a naive scan."""

from collections import defaultdict
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given, strategies as st

from service.engine.columns.column import build_column
from service.engine.columns.selection import bit_positions
from service.engine.text_index import TextIndex, TextIndexBuilder
from service.model.words import Term, parse_terms
from service.spool import Spools
from tests.engine.ranked_keys import ranked
from tests.engine.search_oracle import NAMES, indexed, matches, tokens

RECORDS = st.lists(st.lists(st.sampled_from(NAMES) | st.text(max_size=4), min_size=2, max_size=2), max_size=12)
SEARCHES = st.lists(st.sampled_from(NAMES), min_size=1, max_size=2).map(" ".join)


def build(records: Sequence[Sequence[str]]) -> TextIndex:
    """Return the index of records, each a text per column."""
    builder = TextIndexBuilder(Spools())
    for texts in zip(*records, strict=True):
        codes, distinct = ranked(texts)
        builder.add(build_column(codes, distinct, filters=False), distinct)
    return builder.build(len(records))


def rows(index: TextIndex, terms: Sequence[Term]) -> list[int]:
    """Return the rows that match all terms, which are the same in each of the ways to find them."""
    first, *others = map(index.match, terms)
    found, bitmap = first.rows(), first.bitmap()
    assert found.dtype == np.int32
    assert found.tolist() == bit_positions(bitmap).tolist()
    for match in others:
        found, bitmap = found[match.matches(found)], bitmap & match.bitmap()
    listed: list[int] = found.tolist()
    assert listed == bit_positions(bitmap).tolist()
    return listed


def check(index: TextIndex, records: Sequence[Sequence[str]], search: str) -> None:
    """Require the rows of a naive scan."""
    terms = parse_terms(search)
    if terms:
        expected = [row for row, texts in enumerate(records) if matches(texts, search)]
        assert rows(index, terms) == rows(index, terms[::-1]) == expected, search


@given(RECORDS, SEARCHES)
def test_a_search_finds_the_rows_of_a_naive_scan(records: list[list[str]], search: str) -> None:
    index = build(records)
    for text in (search, f"{search} ", *NAMES):
        check(index, records, text)


@given(st.lists(st.lists(st.text() | SEARCHES, min_size=2, max_size=2), max_size=20))
def test_each_word_has_the_rows_of_a_naive_tokenizer(records: list[list[str]]) -> None:
    expected = defaultdict[bytes, list[int]](list)
    for row, texts in enumerate(records):
        for word in indexed(texts):
            expected[word.encode()].append(row)
    index = build(records)
    assert list(index.words) == sorted(expected)
    assert [index.match(Term(word.decode())).rows().tolist() for word in index.words] == [
        expected[word] for word in index.words
    ]


def test_prefixes_of_every_length_are_found() -> None:
    records = [[name, other] for name, other in zip(NAMES, NAMES[1:] + NAMES[:1], strict=True)]
    index = build(records)
    for token in {token for name in NAMES for token in tokens(name)}:
        for length in range(1, len(token) + 2):
            for search in (token[:length], f"{token[:length]} ", f"{token} {token[:length]}", f"{token[:length]} a"):
                check(index, records, search)


@pytest.mark.parametrize("count", [64, 65, 500])
def test_common_and_rare_words_are_combined(count: int) -> None:
    """Words of all rows, of half of them, of a few and of one: each way to combine postings is taken."""
    random = Random(1)
    common = ["shop", "store", "street", "strasse", "東京駅"]
    records = [
        [f"{random.choice(common)} {random.choice(common)} all", f"n{random.randrange(40)} u{row}"]
        for row in range(count)
    ]
    index = build(records)
    searches = [*common, "s", "st", "str", "a", "all ", "n", "n1", "n1 ", "u", "u1", "u1 ", "zz", "n0 "]
    searches.append(f"u{count - 1} ")
    for one in searches:
        for other in searches:
            check(index, records, f"{one} {other}")
    check(index, records, "shop street n u all")


def test_the_bitmaps_of_common_terms_are_cached() -> None:
    index = build([["shop shore"]] * 100)
    (term,) = parse_terms("sho")
    assert index.match(term).bitmap() is index.match(term).bitmap()


def test_an_empty_index_finds_nothing() -> None:
    for index in (TextIndexBuilder(Spools()).build(0), TextIndexBuilder(Spools()).build(100), build([["!"]])):
        assert rows(index, parse_terms("a")) == []
        assert rows(index, parse_terms("a b ")) == []
        assert len(index.words) == len(index.postings) == len(index.dense.numbers) == 0


@pytest.mark.parametrize("count", [64, 65, 640])
def test_words_of_many_rows_have_a_bitmap_and_others_postings(count: int) -> None:
    rare = ["few"] * 10 + ["rare"] * 2 + [""] * count
    records = [[f"all {'half' if row % 2 else 'other'} u{row} {rare[row]}"] for row in range(count)]
    index = build(records)
    dense = [index.words[number].decode() for number in index.dense.numbers]
    if count == 64:
        assert dense == []
    else:
        assert [word for word in dense if not word.startswith("u")] == [
            word for word in ("all", "few", "half", "other", "rare") if count < 100 or word != "rare"
        ]
    assert len(index.postings) + index.dense.counts.sum() == sum(len(set(tokens(text))) for (text,) in records)
    for word in ("all ", "few ", "half ", "rare ", "u", "al", "f", "o h ", "few u1", "h u2"):
        check(index, [[text, ""] for (text,) in records], word)
