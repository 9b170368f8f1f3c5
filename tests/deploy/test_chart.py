"""What the Helm chart renders for each form of data."""

import re
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import kubernetes_validate
import msgspec
import pytest
import yaml
from helm_python.chart import Chart, lint
from helm_python.errors import HelmError

from service import __version__
from service.access.key_file import change_keys
from service.commands.options import SETTINGS, make_settings
from service.commands.serve import serve
from service.sampling.sample_dataset import write_sample
from tests.deploy.rendered_chart import (
    CHART,
    FORMS,
    MINIMAL,
    ROOT,
    Values,
    containers,
    manifests,
    one,
    options,
    pod,
    render,
    service_container,
)
from tests.program import serving

# Settings that the chart makes of its other values.
OWN: Final = {
    *("data", "cache", "host", "port", "uds", "admin", "workers", "drain", "max-connections", "min-stores"),
    *("api-key", "key-file", "no-auth"),
}
IMAGE: Final = FORMS["image"]
each_form = pytest.mark.parametrize("values", FORMS.values(), ids=FORMS)


def with_value(path: str, value: object) -> Values:
    """Return minimal values with another, by the names on its path."""
    *outer, name = path.split(".")
    values: Values = {**MINIMAL}
    inner = values
    for each in outer:
        inner[each] = dict(inner.get(each, {}))
        inner = inner[each]
    inner[name] = value
    return values


@each_form
def test_it_is_linted_without_a_warning(values: Values) -> None:
    messages = lint(CHART, values, strict=True)["messages"]
    assert [each["error"] for each in messages] == ["icon is recommended"]


@pytest.mark.parametrize("version", ["1.36", "1.37"])
@each_form
def test_each_object_is_valid_in_kubernetes(values: Values, version: str) -> None:
    for each in manifests(values):
        if each["apiVersion"] != "monitoring.coreos.com/v1":  # of the Prometheus operator
            kubernetes_validate.validate(each, version, strict=True)


@each_form
def test_no_process_has_more_privileges_than_it_needs(values: Values) -> None:
    spec = pod(values)
    assert spec["securityContext"]["runAsNonRoot"]
    assert spec["securityContext"].get("runAsUser") == (None if "podSecurityContext" in values else 10001)
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert (spec["automountServiceAccountToken"], spec["enableServiceLinks"]) == (False, False)
    for each in containers(values):
        ours = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
        assert each["securityContext"] == {**ours, **values.get("securityContext", {})}


@each_form
def test_secrets_are_files_in_mounted_folders_and_never_in_arguments_or_the_environment(values: Values) -> None:
    for each in containers(values):
        assert [name for name in each.get("env", []) if "valueFrom" in name] == []
        assert each.get("envFrom") == values.get("envFrom")  # only the operator's own
        assert not [mount for mount in each["volumeMounts"] if "subPath" in mount]  # which would not follow changes
    assert options(values).keys() & {"api-key"} == set()
    secrets = {each["name"] for each in pod(values)["volumes"] if "secret" in each}
    mounts = {each["name"]: each for each in service_container(values)["volumeMounts"]}
    assert secrets <= mounts.keys()
    assert all(mounts[name]["readOnly"] for name in secrets)


@each_form
def test_each_file_that_the_service_is_given_is_in_a_mounted_folder(values: Values) -> None:
    mounts = tuple(f"{each['mountPath']}/" for each in service_container(values)["volumeMounts"])
    environment = {each["name"]: each["value"] for each in service_container(values)["env"]}
    paths = [each for each in (*options(values).values(), *environment.values()) if each.startswith("/")]
    assert [path for path in paths if not f"{path}/".startswith(mounts)] == []
    volumes = {each["name"] for each in pod(values)["volumes"]}
    assert {mount["name"] for each in containers(values) for mount in each["volumeMounts"]} == volumes


@each_form
def test_each_argument_is_an_option_of_the_service_with_a_valid_value(values: Values) -> None:
    arguments = [each for each in service_container(values)["args"][1:] if not each.startswith("--config=")]
    with serve.make_context("serve", arguments) as context:  # an error for unknown options
        settings = make_settings({name: context.params[name] for name in SETTINGS})
    given = options(values)
    assert (settings.workers, settings.drain) == (int(given["workers"]), float(given["drain"]))
    assert settings.no_auth != bool(settings.key_file)


@pytest.mark.process
def test_the_service_runs_with_the_arguments_and_answers_the_probes(tmp_path: Path) -> None:
    """In folders of its own, on free ports."""
    write_sample(tmp_path / "data" / "directory", stores=20, companies=2, seed=1)
    (tmp_path / "keys").mkdir()
    change_keys(tmp_path / "keys" / "keys.json", lambda entries: entries)
    values = {**FORMS["sidecar"], "auth": {"secret": "keys"}, "minStores": 20, "settings": {"log-format": "json"}}
    here = {"/etc/store-directory/": f"{tmp_path}/", "=/data/": f"={tmp_path}/data/", "=/cache": f"={tmp_path}/cache"}
    here |= {"0.0.0.0": "127.0.0.1", "8080": "0", ":8081": ":0"}
    arguments = "\n".join(service_container(values)["args"][1:])
    for there, instead in here.items():
        assert there in arguments
        arguments = arguments.replace(there, instead)
    with serving(*arguments.split("\n"), log=tmp_path / "log") as service:
        assert service.get("/stores").status == HTTPStatus.UNAUTHORIZED
        (admin,) = re.findall(r"^Probes and metrics on (\S+)$", service.printed, re.MULTILINE)
        for name in ("startup", "liveness", "readiness"):
            path = service_container(values)[f"{name}Probe"]["httpGet"]["path"]
            assert msgspec.structs.replace(service, address=admin).get(path).status == HTTPStatus.OK


@each_form
def test_ports_are_those_that_the_service_listens_on(values: Values) -> None:
    given, container = options(values), service_container(values)
    listening = {"http": int(given["port"]), "admin": int(given["admin"].rpartition(":")[2])}
    assert {each["name"]: each["containerPort"] for each in container["ports"]} == listening
    assert given["host"] == given["admin"].rpartition(":")[0].strip("[]") == values.get("host", "0.0.0.0")
    probes = {name: container[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")}
    assert {name: (probe["path"], probe["port"]) for name, probe in probes.items()} == {
        "startup": ("/health", "admin"),
        "liveness": ("/health", "admin"),
        "readiness": ("/ready", "admin"),
    }


def test_probes_and_metrics_are_reached_only_by_monitoring() -> None:
    public, metrics = (each for each in manifests(IMAGE) if each["kind"] == "Service")
    assert [each["targetPort"] for each in public["spec"]["ports"]] == ["http"]
    (rule,) = one(IMAGE, "Ingress")["spec"]["rules"]
    (path,) = rule["http"]["paths"]
    assert path["backend"]["service"] == {"name": public["metadata"]["name"], "port": {"name": "http"}}
    assert (metrics["spec"]["clusterIP"], metrics["spec"]["ports"][0]["targetPort"]) == ("None", "admin")
    http, admin = one(IMAGE, "NetworkPolicy")["spec"]["ingress"]
    assert ("from" in http, [each["port"] for each in http["ports"]]) == (False, ["http"])
    assert ([each["port"] for each in admin["ports"]], len(admin["from"])) == (["admin"], 1)


@pytest.mark.parametrize(
    ("form", "ports"),
    [
        ("image", []),
        ("http", [53, 53, 8443, 6379]),
        ("object-store", [53, 53, 9000]),
        ("object-store-role", [53, 53, 443]),
    ],
)
def test_the_service_connects_to_the_source_of_its_data_and_to_what_else_is_allowed(form: str, ports: object) -> None:
    egress = one(FORMS[form], "NetworkPolicy")["spec"]["egress"]
    assert [port["port"] for rule in egress for port in rule["ports"]] == ports


@each_form
def test_a_rolling_update_refuses_no_request(values: Values) -> None:
    deployment = one(values, "Deployment")["spec"]
    assert deployment["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    spec = pod(values)
    assert spec["terminationGracePeriodSeconds"] >= int(options(values)["drain"]) + 20
    assert {each["maxSkew"] for each in spec["topologySpreadConstraints"]} == {1}
    assert one(values, "PodDisruptionBudget")["spec"]["maxUnavailable"] == 1


@each_form
def test_each_object_selects_the_pods(values: Values) -> None:
    labels = one(values, "Deployment")["spec"]["template"]["metadata"]["labels"]
    labels = {name: label for name, label in labels.items() if name not in values.get("podLabels", {})}
    for each in manifests(values):
        spec = each.get("spec", {})
        if each["kind"] == "Service":
            assert spec["selector"] == labels
        elif each["kind"] in {"Deployment", "PodDisruptionBudget"}:
            assert spec["selector"]["matchLabels"] == labels
        elif each["kind"] == "NetworkPolicy":
            assert spec["podSelector"]["matchLabels"] == labels
    for constraint in pod(values)["topologySpreadConstraints"]:
        assert constraint["labelSelector"]["matchLabels"] == labels


def test_an_autoscaler_alone_sets_the_number_of_pods() -> None:
    deployment, scaler = one(IMAGE, "Deployment"), one(IMAGE, "HorizontalPodAutoscaler")["spec"]
    assert "replicas" not in deployment["spec"]
    assert scaler["scaleTargetRef"]["name"] == deployment["metadata"]["name"]
    assert scaler["metrics"][0]["containerResource"]["container"] == service_container(IMAGE)["name"]
    assert one(MINIMAL, "Deployment")["spec"]["replicas"] == 2


def test_prometheus_finds_the_metrics_and_has_the_alerts() -> None:
    monitor = one(IMAGE, "ServiceMonitor")["spec"]
    selected = [
        each
        for each in manifests(IMAGE)
        if each["kind"] == "Service"
        and each["metadata"]["labels"].items() >= monitor["selector"]["matchLabels"].items()
    ]
    assert [each["spec"]["ports"][0]["name"] for each in selected] == [monitor["endpoints"][0]["port"]]
    assert selected[0]["metadata"]["labels"][monitor["jobLabel"]] == "store-directory"  # the job of rules and dashboard
    rules = one(IMAGE, "PrometheusRule")
    assert rules["spec"] == yaml.safe_load((ROOT / "deploy" / "prometheus" / "alerts.yml").read_text())
    assert rules["metadata"]["labels"]["release"] == "prometheus"


@each_form
def test_it_is_deterministic(values: Values) -> None:
    assert render(values) == render(values)
    templates = "".join(path.read_text() for path in CHART.glob("templates/*"))
    assert re.findall(r"\b(lookup|rand\w*|now|uuidv4|gen\w+|Capabilities|IsUpgrade|Revision)\b", templates) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("replica", 3),
        ("image.version", "1"),
        ("data.http.uri", "x"),
        ("data.image", {"reference": "two sources"}),
        ("data.http.url", "https://user:password@origin.example/stores.baked"),
        ("auth.secret", "and-none"),
        ("settings.lim", 1),
        ("settings.api-key", ["secret"]),
        ("settings.rate-store", "redis://:password@redis"),
        ("stores", "many"),
        ("workers", 0),
        ("maxConnections", 0),
        ("settings.max-connections", 1000),  # which would not change the memory
        ("settings.min-stores", 1),
        ("service.type", "ExternalName"),
        ("drainSeconds", -1),
        ("image.tag", 1.0),
        ("serviceMonitor.enabled", "yes"),
    ],
)
def test_the_schema_refuses_unknown_values_wrong_types_and_secrets(path: str, value: object) -> None:
    render(MINIMAL)
    with pytest.raises(HelmError, match=re.escape(path.partition(".")[0])):
        render(with_value(path, value))


REFUSED: Final[list[tuple[Values, str]]] = [
    ({}, "set `data` (such as data.http.url) and `auth` (such as auth.secret), or demo=true for made-up data"),
    ({"data": MINIMAL["data"]}, "set `data` (such as data.http.url) and `auth`"),
    ({**MINIMAL, "demo": True}, "demo=true serves the bundled data without a key: leave out `data` and `auth`"),
    ({**MINIMAL, "extraArgs": ["--port=80"]}, "extraArgs: the chart sets --port"),
    ({**MINIMAL, "extraArgs": ["--api-key=secret"]}, "extraArgs: --api-key would be readable in the pod"),
    ({**MINIMAL, "extraEnv": [{"name": "TMPDIR", "value": "/"}]}, "extraEnv: the chart sets TMPDIR"),
    ({**MINIMAL, "extraVolumes": [{"name": "cache"}]}, "extraVolumes: the chart has a volume cache"),
    ({**MINIMAL, "extraVolumeMounts": [{"name": "x", "mountPath": "/data"}]}, "the chart mounts /data"),
    ({**MINIMAL, "podLabels": {"app.kubernetes.io/name": "x"}}, "podLabels: the chart sets app.kubernetes.io/name"),
    ({**MINIMAL, "livenessProbe": {"exec": {}}}, "livenessProbe: the chart sets what is asked"),
]


@pytest.mark.parametrize(("values", "why"), REFUSED)
def test_what_is_missing_or_set_by_the_chart_fails_with_one_line(values: Values, why: str) -> None:
    with pytest.raises(HelmError, match=re.escape(why)):
        render(values)


def test_each_refusal_of_the_chart_was_tried() -> None:
    errors = []
    for values, _ in REFUSED:
        with pytest.raises(HelmError) as raised:
            render(values)
        errors.append(str(raised.value))
    texts = "".join(path.read_text() for path in CHART.glob("templates/*"))
    refusals = re.findall(r'fail \(?(?:printf )?"(.*?)"', texts)
    assert len(refusals) == texts.count("fail ") > 0
    patterns = [re.escape(text).replace("%s", r"\S+") for text in refusals]
    assert [pattern for pattern in patterns if not any(re.search(pattern, error) for error in errors)] == []


def test_an_option_that_the_chart_sets_cannot_be_passed_again() -> None:
    """All options that it ever renders but settings, and those of which it renders another one instead."""
    with Chart.load(CHART) as chart:
        passed = chart.values["settings"].keys()
    plain = [{**values, "settings": {}, "extraArgs": []} for values in FORMS.values()]
    for name in {*OWN, "config", *(name for values in plain for name in options(values))} - passed:
        with pytest.raises(HelmError, match=f"extraArgs: (the chart sets )?--{name}"):
            render({**MINIMAL, "extraArgs": [f"--{name}=x"]})


def test_the_demonstration_serves_the_bundled_data_without_a_key() -> None:
    given = options(FORMS["demo"])
    assert ("data" in given, "no-auth" in given, given["min-stores"]) == (False, True, "1")


def test_what_is_passed_through_arrives_as_it_is() -> None:
    values, ours = FORMS["extras"], pod(FORMS["extras"])
    service = service_container(values)
    for name in ("priorityClassName", "nodeSelector", "affinity", "tolerations"):
        assert ours[name] == values[name]
    assert [each for each in values["extraVolumes"] if each not in ours["volumes"]] == []
    assert [each for each in values["extraVolumeMounts"] if each not in service["volumeMounts"]] == []
    assert [each for each in values["extraEnv"] if each not in service["env"]] == []
    assert service["args"][-1] == values["extraArgs"][-1]
    assert service["resources"] == values["resources"]
    for name in ("startupProbe", "livenessProbe", "readinessProbe"):
        default = service_container(MINIMAL)[name]
        assert service[name] == {**default, **values[name]}
    metadata = one(values, "Deployment")["spec"]["template"]["metadata"]
    assert metadata["labels"].items() >= values["podLabels"].items()
    assert metadata["annotations"].items() >= values["podAnnotations"].items()
    assert one(values, "Deployment")["metadata"]["name"] == "stores-shops"
    assert ours["serviceAccountName"] == "shops"
    assert "ServiceAccount" not in {each["kind"] for each in manifests(values)}


def test_changed_settings_restart_the_pods() -> None:
    def annotations(values: Values) -> Values:
        found: Values = one(values, "Deployment")["spec"]["template"]["metadata"]["annotations"]
        return found

    changed = {**MINIMAL, "settings": {"server-timing": True}}
    assert annotations(MINIMAL)["checksum/settings"] != annotations(changed)["checksum/settings"]


def test_it_is_small_by_default_and_has_three_minutes_to_start() -> None:
    service = service_container(MINIMAL)
    assert service["resources"]["requests"]["cpu"] == "100m"
    assert service["startupProbe"]["periodSeconds"] * service["startupProbe"]["failureThreshold"] == 180


def test_both_families_of_addresses_are_listened_on_if_the_host_says_so() -> None:
    given, spec = options(FORMS["dual-stack"]), one(FORMS["dual-stack"], "Service")["spec"]
    assert (given["host"], given["admin"]) == ("::", "[::]:8081")
    assert (spec["type"], spec["ipFamilyPolicy"]) == ("LoadBalancer", "PreferDualStack")


def test_the_schema_is_strict_wherever_it_names_values_and_has_all_defaults() -> None:
    with Chart.load(CHART) as chart:
        schema, defaults = chart.schema, chart.values
    assert schema is not None
    assert [each for each in objects(schema) if "properties" in each and each["additionalProperties"]] == []
    passed = ("startupProbe", "livenessProbe", "readinessProbe", "podSecurityContext", "securityContext", "affinity")
    assert [name for name in passed if schema["properties"][name] != {"type": "object"}] == []
    assert schema["properties"].keys() == {*defaults, "global"}


def objects(schema: Any) -> Iterator[Values]:
    """Yield the schemas in a schema."""
    if isinstance(schema, dict):
        yield schema
        for each in schema.values():
            yield from objects(each)


def test_each_setting_of_the_service_is_a_value() -> None:
    with Chart.load(CHART) as chart:
        schema = chart.schema
    assert schema is not None
    names = {name.replace("_", "-") for name in SETTINGS}
    assert set(schema["properties"]["settings"]["properties"]) == names - OWN


def test_it_installs_this_version() -> None:
    with Chart.load(CHART) as chart:
        assert chart.metadata["appVersion"] == __version__
        assert chart.version == re.sub(r"\.dev\d+$", "-dev", __version__)  # versions of charts are semantic ones
    assert service_container(MINIMAL)["image"] == f"store-directory:{__version__}"
    digest = f"sha256:{0:064}"
    pinned = service_container(with_value("image.digest", digest))
    assert pinned["image"] == f"store-directory@{digest}"
