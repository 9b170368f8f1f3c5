"""The memory that the chart requests is what was measured, and the example of a sidecar has the same."""

import re
from typing import Final

import msgspec
import pytest
import yaml

from bench.sizing import Results, Rule, Size
from tests.deploy.rendered_chart import MINIMAL, ROOT, Values, options, pod, service_container

MEASURED: Final = msgspec.json.decode((ROOT / "bench" / "results" / "sizing.json").read_bytes(), type=Results).sizes
POD_TEXT: Final = (ROOT / "examples" / "sidecar" / "pod.yaml").read_text()
POD: Final[Values] = yaml.safe_load(POD_TEXT)
SIDECAR: Final = {"sidecar": {"image": "registry.example/refresh:1"}}


def mebibytes(text: str) -> int:
    """Return the number of a quantity in Mi."""
    return int(text.removesuffix("Mi"))


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("compiles", [False, True])
@pytest.mark.parametrize("size", MEASURED, ids=lambda size: f"{size.stores}")
def test_the_request_is_what_was_measured_and_little_more(size: Size, workers: int, *, compiles: bool) -> None:
    values = {**MINIMAL, "stores": size.stores, "workers": workers} | ({"data": SIDECAR} if compiles else {})
    parent, compiling = size.parent if workers > 1 else 0, size.bake_memory if compiles else 0
    taken = (size.baked + workers * size.worker + parent + compiling) / (1 << 20)
    requested = mebibytes(service_container(values)["resources"]["requests"]["memory"])
    assert taken <= requested <= 1.5 * taken + 100
    if not compiles:
        assert requested == Rule.of(MEASURED).memory(size.stores, workers)


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("connections", [1, 1000, 10_000])
def test_the_limit_leaves_each_worker_its_caches_and_connections(workers: int, connections: int) -> None:
    values = {**MINIMAL, "stores": 1_000_000, "workers": workers, "maxConnections": connections}
    resources = service_container(values)["resources"]
    assert mebibytes(resources["limits"]["memory"]) == Rule.of(MEASURED).limit(1_000_000, workers, connections)
    assert (resources["requests"]["cpu"], "cpu" in resources["limits"]) == (f"{100 * workers}m", False)
    scaled = {**values, "autoscaling": {"enabled": True}}  # by the CPU time that is requested
    assert service_container(scaled)["resources"]["requests"]["cpu"] == str(workers)
    assert options(values)["max-connections"] == str(connections)


def test_without_values_a_worker_accepts_a_thousand_connections() -> None:
    assert options(MINIMAL)["max-connections"] == "1000"


def test_resources_of_the_operator_replace_those() -> None:
    resources = {"requests": {"memory": "1Gi"}, "limits": {"memory": "2Gi"}}
    assert service_container({**MINIMAL, "resources": resources})["resources"] == resources


def test_the_cache_holds_four_copies_of_the_data() -> None:
    for size in MEASURED:
        (cache,) = (each for each in pod({**MINIMAL, "stores": size.stores})["volumes"] if each["name"] == "cache")
        assert mebibytes(cache["emptyDir"]["sizeLimit"]) * (1 << 20) > 4 * size.baked


def test_the_example_of_a_sidecar_is_what_the_chart_renders() -> None:
    (ours,) = POD["spec"]["containers"]
    arguments = dict(re.findall(r"--([a-z-]+)=(\S+)", " ".join(ours["args"])))
    values: Values = {
        "data": SIDECAR,
        "auth": {"secret": "store-directory-keys"},
        "workers": int(arguments["workers"]),
        "stores": int(re.findall(r"for ([\d,]+) stores", POD_TEXT)[0].replace(",", "")),
    }
    theirs = service_container(values)
    for name in ("resources", "securityContext", "ports", "startupProbe", "livenessProbe", "readinessProbe"):
        assert ours[name] == theirs[name], name
    given = options(values)
    assert {name: value for name, value in given.items() if name != "log-format"} == arguments
    assert POD["spec"]["securityContext"].items() <= pod(values)["securityContext"].items()
