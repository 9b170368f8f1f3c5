"""The alerts use metrics that exist, are all tested, and lead to a section of the docs."""

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
RULES: Final = (ROOT / "deploy" / "prometheus" / "alerts.yml").read_text("utf-8")
ALERTS: Final = re.findall(r"- alert: (\w+)", RULES)


def test_they_use_documented_metrics() -> None:
    interface = (ROOT / "docs" / "interface.md").read_text("utf-8")
    documented = set(re.findall(r"^\| `((?:store_directory|process)_\w+)`", interface, re.MULTILINE))
    used = {name.removesuffix("_bucket") for name in re.findall(r"\b(?:store_directory|process)_\w+", RULES)}
    assert used
    assert used <= documented


def test_each_has_a_test_and_a_section_that_says_what_to_do() -> None:
    tested = (ROOT / "deploy" / "prometheus" / "alerts.test.yml").read_text("utf-8")
    # Before its time it is quiet, after that it fires.
    assert sorted(re.findall(r"alertname: (\w+)", tested)) == sorted(2 * ALERTS)
    runbooks = re.findall(r"runbook_url: https://docs.example/(\S+)\.html#(\S+)", RULES)
    assert len(runbooks) == len(ALERTS)
    for page, anchor in runbooks:
        headings = re.findall(r"^#+ (.*)$", (ROOT / f"{page}.md").read_text("utf-8"), re.MULTILINE)
        assert anchor in {heading.lower().replace(" ", "-") for heading in headings}
