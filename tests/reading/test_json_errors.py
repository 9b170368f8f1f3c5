"""The error for invalid JSON names the record and the member."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given, strategies as st

from service.reading.formats.json_batches import describe_json_error
from tests.loading.data_files import as_json, load_stores, refusal, store

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
def test_the_error_names_record_and_member_on_a_single_line(
    tmp_path: Path, form: str, wrong: bytes, place: str
) -> None:
    text = form.encode() % (as_json(store("s1", name='a ",[{}]: \\')), wrong)
    error = refusal(load_stores(tmp_path, text, "stores.json"))
    assert error.line == 1
    assert error.why.startswith("not valid JSON: ")
    assert error.why.endswith(f", {place}")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (b'[{"store_id": "s1"}, {"store_id": "s2', ", in record 2, at 'store_id'"),
        (b'[{"store_id": "s1"}, {"store_id": "\\ud800"}]', ", in record 2, at 'store_id'"),
        (b'{"stores": [{"store_id": "s1"}', ", in record 1"),
    ],
)
def test_the_error_for_truncated_text_names_its_end(tmp_path: Path, text: bytes, place: str) -> None:
    assert why(tmp_path, text) == f"not valid JSON: truncated, or a lone surrogate{place}"


@pytest.mark.parametrize("text", [b"", b" \n", b"\xef\xbb\xbf"])
def test_the_error_for_an_empty_file_says_so(tmp_path: Path, text: bytes) -> None:
    assert why(tmp_path, text) == "not valid JSON: the file is empty"


def test_the_error_outside_of_records_names_the_member_or_nothing(tmp_path: Path) -> None:
    assert why(tmp_path, b'{"made": 01, "stores": []}').endswith(", at 'made'")
    assert why(tmp_path, b"[{}] []").endswith(" (byte 6)")


def test_the_error_in_json_lines_names_the_member(tmp_path: Path) -> None:
    error = refusal(load_stores(tmp_path, as_json(store()) + b'\n{"city": nan}\n', "stores.jsonl"))
    assert (error.line, error.why.rpartition(", ")[2]) == (2, "at 'city'")


def test_json_lines_under_the_name_of_json_are_detected(tmp_path: Path) -> None:
    lines = as_json(store("s1")) + b"\n" + as_json(store("s2")) + b"\n"
    assert why(tmp_path, lines).endswith(
        "; a file with one record per line is JSON Lines, and its name must end in .jsonl"
    )


def test_a_long_name_is_truncated(tmp_path: Path) -> None:
    assert len(why(tmp_path, b'[{"' + b"x" * 10_000 + b'": nan}]')) < 200


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
