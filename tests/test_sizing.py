"""What the docs, the Helm chart and the example say of memory is what `make bench-sizing` measured."""

import re
from pathlib import Path
from typing import Final

import msgspec
import pytest

from bench.sizing import PAGE, RULE, Results, Rule, markdown
from service.engine.columns import bounded_cache
from service.web.connections.limits import MAX_ADMIN_HELD_BYTES, MAX_HELD_BYTES

ROOT: Final = Path(__file__).parents[1]
RESULTS: Final = msgspec.json.decode((ROOT / "bench" / "results" / "sizing.json").read_bytes(), type=Results)


def test_the_documented_tables_and_the_figures_of_the_chart_are_those_measured() -> None:
    rule, page = Rule.of(RESULTS.sizes), PAGE.read_text("utf-8")
    assert markdown(RESULTS) in page
    assert rule.markdown() in page
    assert RULE.read_bytes() == rule.json()


def test_the_limit_has_what_caches_and_connections_take_at_most() -> None:
    rule = Rule.of(RESULTS.sizes)
    (caches,) = re.findall(r"^Together at most (\d+) MiB", str(bounded_cache.__doc__), re.MULTILINE)
    assert rule.cache_mib == int(caches)
    assert rule.held_mib * (1 << 20) == MAX_HELD_BYTES + MAX_ADMIN_HELD_BYTES
    assert rule.limit(1, 3, 1000) == rule.memory(1, 3) + 3 * (rule.cache_mib + rule.held_mib + 8)


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_the_rule_is_above_all_that_was_measured(workers: int) -> None:
    rule = Rule.of(RESULTS.sizes)
    for size in RESULTS.sizes:
        parent = size.parent if workers > 1 else 0
        assert rule.memory(size.stores, workers) * (1 << 20) >= size.baked + workers * size.worker + parent
