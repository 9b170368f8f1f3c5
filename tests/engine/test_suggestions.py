"""Names one edit away are those that trying all edits finds."""

from functools import partial

import pytest
from hypothesis import example, given, strategies as st

from service.engine.columns.column import StringArray
from service.engine.columns.row_budget import OverBudget, within_budget
from service.engine.place_search import is_one_edit, one_edit_away
from tests.engine import places_oracle

# Few letters, so that most names are close to others; some of several bytes.
NAMES = st.lists(st.text("ab é東", min_size=1, max_size=9), min_size=1, max_size=150)


def index(names: list[str]) -> StringArray:
    return StringArray.of(sorted({name.encode() for name in names}))


@given(NAMES, st.text("abé東 ", min_size=4, max_size=9))
@example(["sai", "saint", *(f"saint{each:02}" for each in range(30)), *map("saint{}".format, range(3))], "saint")
def test_names_one_edit_away_are_those_of_all_edits(names: list[str], text: str) -> None:
    expected = {name for name in names if places_oracle.is_one_edit(text, name)}
    assert one_edit_away(text, index(names), index([name[::-1] for name in names])) == expected


@given(st.text("abc", max_size=5), st.text("abc", max_size=5))
def test_one_edit_inserts_deletes_replaces_or_swaps(text: str, name: str) -> None:
    assert is_one_edit(text, name) == places_oracle.is_one_edit(text, name)


def test_a_suggestion_among_many_similar_names_looks_few_up_and_fits_on_the_event_loop() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    names = [f"saint {a}{b}{c}" for a in letters for b in letters for c in letters]
    sorted_names, backwards = index(names), index([name[::-1] for name in names])
    read = Counted(sorted_names), Counted(backwards)
    found = within_budget(partial(one_edit_away, "saint zzzz", *read))
    assert found == {"saint zzz"}
    assert sum(each.reads for each in read) < 4_000 < len(names)


def test_a_text_that_thousands_of_different_characters_may_follow_is_looked_up_in_a_thread() -> None:
    names = ["東京" + chr(0x4E00 + number) + "市" for number in range(3_000)]
    with pytest.raises(OverBudget):
        within_budget(partial(one_edit_away, "東京都x", index(names), index([name[::-1] for name in names])))


class Counted(StringArray):
    """Strings that count how many are read."""

    def __init__(self, strings: StringArray) -> None:
        super().__init__(strings.data, strings.offsets)
        self.sparse_index = strings.sparse_index
        self.reads = 0

    def __getitem__(self, number: int) -> bytes:
        self.reads += 1
        return super().__getitem__(number)
