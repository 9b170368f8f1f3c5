"""What the docs, the Helm chart and the example say of memory is what `python -m bench.sizing` measured."""

from pathlib import Path
from typing import Final

import msgspec
import pytest

from bench.sizing import PAGE, RULE, Results, Rule, markdown

RESULTS: Final = msgspec.json.decode(
    (Path(__file__).parents[1] / "bench" / "results" / "sizing.json").read_bytes(), type=Results
)


def test_the_documented_tables_and_the_figures_of_the_chart_are_those_measured() -> None:
    rule, page = Rule.of(RESULTS.sizes), PAGE.read_text("utf-8")
    assert markdown(RESULTS) in page
    assert rule.markdown() in page
    assert msgspec.json.decode(RULE.read_bytes(), type=Rule) == rule


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_the_rule_is_above_all_that_was_measured(workers: int) -> None:
    rule = Rule.of(RESULTS.sizes)
    for size in RESULTS.sizes:
        parent = size.parent if workers > 1 else 0
        assert rule.memory(size.stores, workers) * (1 << 20) >= size.baked + workers * size.worker + parent
