"""Each form of values that docs/deploying.md shows is rendered to objects that an API server accepts."""

import re
import shlex
from collections.abc import Iterator
from typing import Any, Final

import pytest
import yaml

from tests.deploy.rendered_chart import FORMS, MINIMAL, ROOT, Values, manifests, pod, service_container

PAGE: Final = (ROOT / "docs" / "deploying.md").read_text("utf-8")
# Lists whose elements have names.
NAMED: Final = {"volumes", "volumeMounts", "containers", "initContainers", "env", "imagePullSecrets"}


def shown() -> Iterator[Values]:
    """Yield the values of each code block: YAML, or the options of `helm install`."""
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        if language == "yaml":
            yield yaml.safe_load(block)
        elif "helm install" in block:
            words = shlex.split(block.replace("\\\n", " "))
            yield values_of(words[at + 1] for at, word in enumerate(words) if word == "--set")


def values_of(options: Iterator[str]) -> Values:
    """Return what options `--set NAME.NAME=VALUE` say."""
    values: Values = {}
    for path, _, value in (each.partition("=") for each in options):
        *outer, name = path.split(".")
        inner = values
        for each in outer:
            inner = inner.setdefault(each, {})
        inner[name] = yaml.safe_load(value)
    return values


def without_secrets(values: Values) -> Values:
    """Return values without the optional Secret of their source."""
    ((form, source),) = values["data"].items()
    return {**values, "data": {form: {name: value for name, value in source.items() if not name.endswith("Secret")}}}


SHOWN: Final = [{"auth": MINIMAL["auth"], **each} for each in shown()]
WITH_DATA: Final = [values for values in FORMS.values() if "data" in values]
ALL: Final = [*SHOWN, *map(without_secrets, SHOWN), *WITH_DATA, MINIMAL]
each_shown = pytest.mark.parametrize("values", ALL, ids=[str(each["data"]) for each in ALL])


def faults(value: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of what an API server refuses: null, an empty text or selector, an element without its name."""
    if value is None or value == "":
        yield path
    for name, inner in value.items() if isinstance(value, dict) else ():
        if name in NAMED and not all(each.get("name") for each in inner):
            yield f"{path}.{name}: an element without a name"
        if name == "ports" and not all(each.get("name") or each.get("port") for each in inner):
            yield f"{path}.{name}: a port without a name or number"
        if name.endswith(("elector", "matchLabels")) and not inner:
            yield f"{path}.{name}: it selects everything"
        yield from faults(inner, f"{path}.{name}")
    for each in value if isinstance(value, list) else ():
        yield from faults(each, f"{path}[]")


def test_the_page_shows_each_form() -> None:
    assert {form for each in SHOWN for form in each["data"]} == {"image", "http", "objectStore", "sidecar"}


@each_shown
def test_what_is_rendered_has_no_null_and_no_empty_name(values: Values) -> None:
    assert [fault for each in manifests(values) for fault in faults(each, each["kind"])] == []


@each_shown
def test_exactly_the_secrets_that_are_named_are_mounted(values: Values) -> None:
    ((_, source),) = values["data"].items()
    named = {values["auth"].get("secret"), values.get("settingsSecret")}
    named |= {value for name, value in source.items() if name.endswith("Secret")}
    volumes = {each["name"]: each["secret"]["secretName"] for each in pod(values)["volumes"] if "secret" in each}
    assert set(volumes.values()) == named - {None}
    assert volumes.keys() <= {each["name"] for each in service_container(values)["volumeMounts"]}
