"""The complexity check of `make fuzz`: quadratic work is found, linear work is not, every reader takes its shapes."""

import re
from collections.abc import Callable
from math import inf

import msgspec
import pytest

from tests.fuzz.campaigns import measure_complexity
from tests.fuzz.complexity import Growth, Reader, cpu_time, judge
from tests.fuzz.input_shapes import SERIAL, Alphabet, Shape
from tests.fuzz.raw_connection import READERS
from tests.thoroughness import some_of

pytestmark = pytest.mark.ci

SHAPE = Shape(b"", (b"a",), b"")


def counted(steps: Callable[[bytes], object], sample: bytes) -> float:
    """Return what a reader says that it has done, as microseconds."""
    return 1e-6 * float(str(steps(sample)))


@pytest.mark.parametrize(
    ("seconds", "superlinear"),
    [
        ((1, 2.6, 6.8), True),
        ((1, 4, 16), True),
        ((1, 8, 64), True),
        ((inf,), True),
        ((1, 2, 4), False),
        ((1, 2.3, 5.2), False),  # n log n
        ((1, 1, 1), False),
        ((1, 5, 6), False),  # beyond a cache of the processor
        ((1, 1, 16), False),
        ((1e-6, 4e-6, 16e-6), False),  # too little to be measured
    ],
)
def test_work_is_superlinear_if_each_doubling_more_than_doubles_it(
    seconds: tuple[float, ...],
    superlinear: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    assert Growth(SHAPE, (1, 2, 4), seconds).superlinear is superlinear


def test_a_quadratic_reader_is_found_with_its_shape_its_sizes_and_its_work() -> None:
    reader = Reader(lambda given: len(given) + given.count(b'"') ** 2, Alphabet((b"a", b'"'), (b"<",), (b">",)))
    verdict = judge(reader, 1, counted)
    found = {(growth.shape.start, growth.shape.runs, growth.shape.end) for growth in verdict.superlinear}
    assert found == {(b"<", runs, b">") for runs in ((b'"',), (b'a"',), (b"a", b'"'))}
    (growth,) = (growth for growth in verdict.superlinear if growth.shape.runs == (b'"',))
    assert str(growth) == (
        "4.00 per doubling: 16781.31, 67117.06, 268451.84 ms for 4,098, 8,194, 16,386 bytes of b'<' + b'\"' * n + b'>'"
    )


def test_a_linear_reader_is_not() -> None:
    verdict = judge(Reader(lambda given: 1000 + len(given), Alphabet((b"a", b'"'))), 1, counted)
    assert (verdict.shapes, verdict.superlinear) == (5, [])


def test_work_that_is_quadratic_up_to_a_limit_is_found() -> None:
    limit = 8192
    reader = Reader(lambda given: len(given) ** 2 if len(given) <= limit else 1, Alphabet((b"a",), limit=limit))
    (growth,) = judge(reader, 0, counted).superlinear
    assert growth.sizes[-1] <= limit


def test_a_refusal_that_costs_the_square_of_what_is_refused_is_found() -> None:
    limit = 512
    reader = Reader(lambda given: len(given) ** 2 if len(given) > limit else 1, Alphabet((b"a",), limit=limit))
    (growth,) = judge(reader, 1_000, counted).superlinear
    assert growth.sizes == [limit, 2 * limit, 4 * limit]


def test_work_that_was_measured_too_high_once_is_not_found() -> None:
    slow = iter((1, 4, 16))
    reader = Reader(lambda given: 300 * next(slow, 0) or len(given), Alphabet((b"a",)))
    assert judge(reader, 1, counted).superlinear == []


def test_a_quadratic_regular_expression_is_found_by_cpu_time() -> None:
    expression = re.compile(rb"[a-z]+!")
    quadratic = Reader(expression.search, Alphabet((b"a",), (b"0",), limit=4096))
    found = measure_complexity({"the one": quadratic, "the other": Reader(len, Alphabet((b"a",)))}, seconds=0)
    assert found.finding.startswith("the one is superlinear: ")
    assert found.finding.endswith(" bytes of b'0' + b'a' * n\n")
    assert found.figures.endswith("the other: negligible\n")


def test_a_reader_that_comes_to_no_end_is_stopped_and_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzz.complexity.LONGEST_SECONDS", 0.1)
    expression = re.compile(rb"(?:a|aa)+!")  # exponential
    with cpu_time() as work:
        verdict = judge(Reader(expression.match, Alphabet((b"a",))), 1, work)
    assert [growth.seconds for growth in verdict.superlinear] == [[inf]]


def test_a_shape_is_of_any_size_and_counts_what_it_repeats() -> None:
    shape = Shape(b"[", (b"a%b," % SERIAL, b"]"), b"!")
    assert shape.sample(0) == b"[a0000000,]!"
    assert shape.sample(36) == b"[a0000000,a0000001," + b"]" * 18 + b"!"
    assert str(shape) == "b'[' + b'a<serial>,' * n + b']' * n + b'!'"


@pytest.mark.parametrize(("number", "name"), [*enumerate(READERS)], ids=READERS)
def test_the_work_of_every_reader_is_linear_where_one_fragment_is_repeated(number: int, name: str) -> None:
    reader = READERS[name]
    reader.read(b"")  # once, because the first call fills caches
    every = reader.alphabet.fragments
    fragments = some_of(every, min(8, len(every)), number)
    alphabet = msgspec.structs.replace(
        reader.alphabet, fragments=fragments, ends=reader.alphabet.ends[:1], paired=False
    )
    with cpu_time() as work:
        assert judge(Reader(reader.read, alphabet), 0, work).superlinear == []
