"""JSON by path: members of records and of nested values; an error of invalid JSON names record and member."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given, strategies as st

from service.reading.batch import BATCH_SIZE, WrongType
from service.reading.diagnostics import FileError
from service.reading.files.records import open_file
from service.reading.formats.file_format import FORMATS
from service.reading.formats.json_file import MAX_DEPTH, MAX_PATHS, open_json
from service.reading.formats.json_text import MAX_JSON_DEPTH, describe_json_error
from tests.loading.data_files import as_json, as_lines, load_stores, refusal, store
from tests.thoroughness import some_of


def column(value: object, path: str) -> object:
    (batch,) = open_json(as_json([value])).batches([path])
    return batch.columns[path][0]


@pytest.mark.parametrize(
    ("value", "path", "cell"),
    [
        ({"a": {"b": "x"}}, "a.b", "x"),
        ({"a": {"b": {"c": 1.50}}}, "a.b.c", "1.5"),
        ({"a": [{"b": "x"}, {"b": "y"}]}, "a.1.b", "y"),
        ({"a": [["x"]]}, "a.0.0", "x"),
        *(({"a": ["x"]}, path, None) for path in ("a.1", "a.-1", "a.b", "a.", "a.99999999999999999999")),
        *((value, "a.b", None) for value in ({"a": "x"}, {"a": None}, {}, {"a": {"b": None}})),
        ({"a": {"b": [1, 2]}}, "a.b", WrongType("[1, 2]")),
        ({"a": {"b": 1}}, "a", WrongType('{"b": 1}')),
        ({"a.b": "whole", "a": {"b": "parts"}}, "a.b", "whole"),
        ({"a": {"b.c": "whole", "b": {"c": "parts"}}}, "a.b.c", "whole"),
        ({"a.b": {"c": "x"}}, "a.b.c", "x"),
        ({"a": {"x": 1}, "a.b": {"c": "x"}}, "a.b.c", "x"),
        ({"a": {"": "x"}, "": {"a": "y"}}, "a.", "x"),
        ({"a": {"": "x"}, "": {"a": "y"}}, ".a", "y"),
        ({'a"': {"b": "x"}}, 'a".b', "x"),
        ({"a": True}, "a", True),
        ({"a": "true"}, "a", "true"),
        ({"a": "\u00e9\n\\"}, "a", "\u00e9\n\\"),
    ],
)
def test_a_path_is_a_name_or_names_and_indexes_at_its_dots(value: object, path: str, cell: object) -> None:
    assert column(value, path) == cell


def test_a_path_means_the_same_in_each_record_whatever_the_others_have() -> None:
    values = [{"a": {"b": 1}}, {"a": "x"}, {"a": [{"b": 2}]}, {}, {"a": None}, {"a.b": 3}, {"a.b": 4, "a": {"b": 5}}]
    (batch,) = open_json(as_json(values)).batches(["a.b", "a.0.b", f"a{'.b' * 60}"])
    assert list(batch.columns.values()) == [
        ["1", None, None, None, None, "3", "4"],
        [None, None, "2", None, None, None, None],
        [None] * len(values),
    ]


def test_the_names_are_the_paths_of_the_first_records_in_order_of_appearance() -> None:
    first = {"z": 1, "a": {"y": None, "b": {}, "c": [{"d": 1, "e": []}, {"f": 1}]}}
    found: list[object] = [first, 5, {"z": 1, "g": [[1]], "a": "text"}, *[{}] * BATCH_SIZE, {"late": 1}]
    names = ["z", "a.y", "a.b", "a.c.0.d", "a.c.0.e", "g.0.0", "a"]
    assert open_json(as_json(found)).names == names
    assert open_file(as_lines(found), FORMATS["jsonl"]).names == names


def test_the_names_are_limited_in_number_and_depth() -> None:
    assert len(open_json(as_json([{str(index): {"x": 1} for index in range(2 * MAX_PATHS)}])).names) == MAX_PATHS
    nested: object = 1
    for _ in range(MAX_DEPTH + 5):
        nested = {"a": nested}
    assert open_json(as_json([nested])).names == [".".join("a" * (MAX_DEPTH + 1))]


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_members_that_no_path_uses_are_counted_with_their_first_line(form: str) -> None:
    found = [{"a": {"b": 1}, "c": 1}, {"a": 1, "c": None, "d.e": 1}, {"f": {"g": 1, "h": 2}}]
    content = as_json(found).replace(b"}, {", b"},\n{") if form == "json" else as_lines(found)
    (batch,) = open_file(content, FORMATS[form]).batches(["a.b", "f.g"])
    assert [(each.name, each.line, each.records) for each in batch.unused] == [("c", 1, 2), ("d.e", 2, 1)]


def test_members_that_first_occur_later_are_counted() -> None:
    *_, batch = open_json(as_json([{"a": 1}] * BATCH_SIZE + [{"late": 1}, {"a": 1, "late": 2}])).batches(["a"])
    assert [(each.name, each.line, each.records) for each in batch.unused] == [("late", 1, 2)]
    assert batch.columns["a"] == [None, "1"]


def test_the_only_array_of_an_object_has_the_records() -> None:
    for name in ("stores", "elements", ""):
        (batch,) = open_json(as_json({"x": 1, name: [{"a": 1}], "y": {"z": []}})).batches(["a"])
        assert batch.columns["a"] == ["1"]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"5", "expected an array"),
        (b"", "not valid JSON"),
        (b"{}", "expected an array of records, or an object with one array"),
        (b'{"a": [], "b": []}', "expected an array of records, or an object with one array; found 2: 'a', 'b'"),
        (b'{"a": 1}\n{"a": 2}', "is JSON Lines, and its name must end in .jsonl"),
        (b"[" * 5_000 + b"]" * 5_000, "nested too deeply"),
        (b'{"a":' * 5_000 + b"1" + b"}" * 5_000, "nested too deeply"),
    ],
)
def test_json_without_one_array_is_refused(content: bytes, why: str) -> None:
    with pytest.raises(FileError) as error:
        open_json(content)
    assert why in error.value.why


def deep(depth: int) -> bytes:
    return as_json([{"a": 1}])[:-1] + b', {"a": ' + b'{"a":' * depth + b"1" + b"}" * depth + b"}]"


def test_a_deep_value_is_read_or_refused_at_every_depth() -> None:
    for depth in (*some_of(range(1_200), 5), MAX_JSON_DEPTH - 1):
        why = ""
        try:
            list(open_json(deep(depth)).batches(["a.a.a"]))
        except FileError as error:
            why = error.why
        assert ("nested too deeply" in why, bool(why)) == (depth >= MAX_JSON_DEPTH,) * 2


def test_a_deep_line_is_refused_wherever_it_is() -> None:
    for before in (0, BATCH_SIZE):
        lines = as_lines([{"a": 1}]) * before + deep(600)[1:-1].partition(b", ")[2]
        with pytest.raises(FileError, match="nested too deeply") as error:
            list(open_file(lines, FORMATS["jsonl"]).batches(["a"]))
        assert error.value.line == before + 1


SIGNS = st.text('[]{}",:1\\uda tru\n', max_size=40)


def why(folder: Path, text: bytes, name: str = "stores.json") -> str:
    return refusal(load_stores(folder, text, name)).why


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        (b'{"store_id": "s2", "city": nan}', "in record 2, at 'city'"),
        (b'{"store_id": "s2", "city": tru}', "in record 2, at 'city'"),
        (b'{"store_id": "s2", "city": "a"b"}', "in record 2, at 'city'"),
        (b'{"store_id": "s2", "city": "[{,\\q"}', "in record 2, at 'city'"),
        (b'{"store_id": "s2", "city": {"a": [1, {"b": 01}]}}', "in record 2, at 'city'"),
        (b'{"store_id": "s2", "city": "\\ud800 and more"}', "in record 2, at 'city'"),
        (b'{"store_id": "s2", city: "Ada"}', "in record 2"),
        (b'{"store_id": "s2",}', "in record 2"),
        (b"x", "in record 2"),
    ],
)
@pytest.mark.parametrize("form", ["[%b, %b, {}]", '{"x": [{"y": [1, 2]}, 3], "stores": [%b, %b, {}]}'])
def test_the_error_names_record_and_member_on_a_line(tmp_path: Path, form: str, wrong: bytes, place: str) -> None:
    text = form.encode() % (as_json(store("s1", name='a ",[{}]: \\')), wrong)
    error = refusal(load_stores(tmp_path, text, "stores.json"))
    assert error.line == 1
    assert error.why.startswith("not valid JSON: ")
    assert error.why.endswith(f", {place}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        *((text, "not valid JSON: the file is empty") for text in (b"", b" \n", b"\xef\xbb\xbf")),
        (b'[{"store_id": "s1"}, {"store_id": "s2', "truncated, or a lone surrogate, in record 2, at 'store_id'"),
        (b'[{"store_id": "s1"}, {"store_id": "\\ud800"}]', "or a lone surrogate, in record 2, at 'store_id'"),
        (b'{"stores": [{"store_id": "s1"}', "truncated, or a lone surrogate, in record 1"),
        (b'{"made": 01, "stores": []}', ", at 'made'"),
        (b"[{}] []", " (byte 6)"),
        (as_lines([store("s1"), store("s2")]), "one record per line is JSON Lines, and its name must end in .jsonl"),
        (b'[{"' + b"x" * 10_000 + b'": nan}]', f"at '{'x' * 60}'"),
    ],
)
def test_the_error_names_what_is_wrong_and_where(tmp_path: Path, text: bytes, said: str) -> None:
    assert why(tmp_path, text).endswith(said)


def test_the_error_in_json_lines_names_the_member(tmp_path: Path) -> None:
    error = refusal(load_stores(tmp_path, as_json(store()) + b'\n{"city": nan}\n', "stores.jsonl"))
    assert (error.line, error.why.rpartition(", ")[2]) == (2, "at 'city'")


@given(SIGNS)
def test_any_invalid_text_has_a_reason(text: str) -> None:
    for shape in (list[msgspec.Raw], dict[str, msgspec.Raw], msgspec.Raw):
        error = decoding_error(text.encode(), shape)
        assert error is None or describe_json_error(error, text.encode(), "1").startswith("not valid JSON: ")


def decoding_error(text: bytes, shape: object) -> Exception | None:
    try:
        msgspec.json.decode(text, type=shape)
    except msgspec.ValidationError:
        return None
    except msgspec.DecodeError as error:
        return error
    return None
