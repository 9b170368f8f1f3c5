"""The Helm chart, rendered with the values of each form of data."""

from pathlib import Path
from typing import Any, Final

import yaml
from helm_python.chart import Chart

ROOT: Final = Path(__file__).parents[2]
CHART: Final = ROOT / "deploy" / "helm" / "store-directory"
Values = dict[str, Any]
# By form: those of chart-testing's convention.
FORMS: Final[dict[str, Values]] = {
    path.name.removesuffix("-values.yaml"): yaml.safe_load(path.read_text()) for path in sorted(CHART.glob("ci/*.yaml"))
}
MINIMAL: Final[Values] = {"data": {"http": {"url": "https://origin.example/stores.baked"}}, "auth": {"none": True}}


def render(values: Values) -> dict[str, str]:
    """Return the rendered files by name. Raises HelmError for values that the schema refuses."""
    with Chart.load(CHART) as chart:
        rendered: dict[str, str] = chart.render(values, name="stores", namespace="shops")
    return rendered


def manifests(values: Values) -> list[Values]:
    """Return the rendered objects."""
    texts = [text for name, text in render(values).items() if name.endswith(".yaml")]
    return [each for text in texts for each in yaml.safe_load_all(text) if each is not None]


def one(values: Values, kind: str) -> Values:
    """Return the only object of a kind."""
    (found,) = (each for each in manifests(values) if each["kind"] == kind)
    return found


def pod(values: Values) -> Values:
    """Return the specification of the pods."""
    found: Values = one(values, "Deployment")["spec"]["template"]["spec"]
    return found


def containers(values: Values) -> list[Values]:
    """Return the containers of a pod: the service, then others."""
    spec = pod(values)
    return [*spec["containers"], *spec.get("initContainers", [])]


def service_container(values: Values) -> Values:
    """Return the container of the service."""
    return containers(values)[0]


def options(values: Values) -> dict[str, str]:
    """Return the options of `serve` by name, with the last value of each; "" for flags."""
    command, *given = service_container(values)["args"]
    assert command == "serve"
    return {name: value for name, _, value in (each.removeprefix("--").partition("=") for each in given)}
