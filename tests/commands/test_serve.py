"""`store-directory serve`, as a process."""

import re
import shlex
import signal
import subprocess
import sys
from itertools import chain
from pathlib import Path
from subprocess import PIPE, STDOUT
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import orjson
import pytest

from service import INTERFACE_VERSION, __version__
from service.baking.layout import FORMAT
from service.commands.options import SETTINGS
from service.settings import SECTIONS
from tests.directory import store, write_directory
from tests.http_server import serving_files
from tests.program import SECONDS, environment, eventually, run, run_here, serving, started, usage
from tests.run.generations import bake_stores


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a data set as a baked file, which is ready sooner."""
    return bake_stores(tmp_path, 2)


@pytest.mark.process
def test_without_options_it_serves_the_bundled_data_and_prints_a_working_curl_command() -> None:
    with serving() as service:
        (line,) = (line for line in service.printed.splitlines() if line.startswith("Try: "))
        command = shlex.split(line.removeprefix("Try: "))
        assert command[:3] == ["curl", "-H", f"x-api-key: {service.key}"]
        page = orjson.loads(service.get(command[3].removeprefix(service.address), service.key).body)
        assert (page["total_count"], len(page["data"])) == (5000, 2)


@pytest.mark.process
def test_no_auth_needs_no_key_and_the_log_has_the_counts_and_version_of_the_data(data: Path) -> None:
    with serving("--data", data, "--no-auth") as service:
        assert service.get("/stores").status == 200
        assert "x-api-key" not in service.printed
        version = service.ready()["version"]
        service.process.terminate()
        _, log = service.process.communicate(timeout=SECONDS)
    (line,) = (line for line in log.splitlines() if version in line)
    assert "stores of" in line
    assert "WARNING" not in log  # the address is local


@pytest.mark.process
def test_a_run_has_its_own_key_which_is_not_logged_logs_version_and_format_first_and_ends_with_0(data: Path) -> None:
    keys = set()
    for number in (signal.SIGTERM, signal.SIGINT):
        with serving("--data", data) as service:
            assert [service.get("/stores", key).status for key in (service.key, "sd_wrong")] == [200, 401]
            service.process.send_signal(number)
            _, log = service.process.communicate(timeout=SECONDS)
        assert service.process.returncode == 0
        begins = f"store-directory {__version__}, which reads baked files of the format {FORMAT!r}"
        assert log.partition("\n")[0].endswith(begins)
        assert not any(key in log for key in (service.key, "sd_wrong"))
        keys.add(service.key)
    assert len(keys) == 2


@pytest.mark.process
def test_settings_are_those_of_options_then_of_the_environment_then_of_the_settings_file(tmp_path: Path) -> None:
    file, log = tmp_path / "settings.toml", tmp_path / "log"
    file.write_text('api-key = ["of-the-file"]\ncache_control = "no-store"\nserver_timing = true\nresponse_cache = 0')
    variables = {
        "STORE_DIRECTORY_API_KEY": "of-the-environment another",
        "STORE_DIRECTORY_CACHE_CONTROL": "public, max-age=60",
        "STORE_DIRECTORY_DATA": str(write_directory(tmp_path / "data", [store("s1"), store("s2", city=None)])),
        "STORE_DIRECTORY_HOST": "127.0.0.2",
        "STORE_DIRECTORY_INVALID": "skip",
    }
    options = ("--api-key", "first-key", "--api-key", "second-key", "--cors-origin", "HTTPS://Shop.Example:443")
    with serving("--config", file, *options, log=log, **variables) as service:
        keys = ("first-key", "second-key", "of-the-environment", "another", "of-the-file")
        assert [key for key in keys if service.get("/stores", key).status == 200] == ["first-key", "second-key"]
        assert "first-key" not in service.printed
        assert service.address.startswith("http://127.0.0.2:")
        fields = {"Origin": "https://shop.example", "x-api-key": "first-key"}
        with urlopen(Request(f"{service.address}/stores", headers=fields), timeout=SECONDS) as answer:  # noqa: S310 - an address of our own
            assert orjson.loads(answer.read())["total_count"] == 1  # without the invalid record
            assert answer.headers["Cache-Control"] == "public, max-age=60"
            assert "Server-Timing" in answer.headers
            assert answer.headers["Access-Control-Allow-Origin"] == "https://shop.example"
            assert "Origin" in answer.headers["Vary"]
        assert orjson.loads(service.get("/ready", "first-key").body)["skipped"] == 1
        assert eventually(lambda: "skipped 1 invalid record" in log.read_text())


@pytest.mark.process
def test_sigterm_exits_with_0_while_there_is_no_data(tmp_path: Path) -> None:
    with started("--data", "http://127.0.0.1:9/no-such-origin", "--cache", tmp_path / "cache") as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("Listening on ")
        process.send_signal(signal.SIGTERM)
        printed, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 0
    assert "Ready" not in printed


@pytest.mark.process
def test_invalid_data_is_rejected_with_the_first_error_and_what_to_do_and_nothing_is_written(tmp_path: Path) -> None:
    invalid = write_directory(tmp_path / "invalid", [store("s1"), store("s2", city=None), store("s3", city="")])
    baking = run_here("bake", invalid, tmp_path / "set.baked")
    for ended in (run("serve", "--port", "0", "--data", invalid), baking):
        assert ended.returncode == 1
        assert f"the data set in {invalid} is rejected: stores.json:1: record 2: city: " in ended.stderr
        for part in ("(and 1 more)", f"store-directory check {invalid}", "--invalid skip"):
            assert part in ended.stderr
        assert "Traceback" not in ended.stderr
    assert (baking.stdout, (tmp_path / "set.baked").exists()) == ("", False)


@pytest.mark.process
def test_it_continues_after_its_standard_output_is_closed(data: Path) -> None:
    with started("--data", data, "--no-auth") as process:
        assert process.stdout is not None
        address = process.stdout.readline().removeprefix("Listening on ").strip()
        process.stdout.close()
        while urlopen(f"{address}/health", timeout=SECONDS).status == 200:  # noqa: S310 - an address of our own
            try:
                assert urlopen(f"{address}/ready", timeout=SECONDS).status == 200  # noqa: S310 - as above
                break
            except HTTPError as error:
                assert error.code == 503  # noqa: PT017 - still loading
        process.terminate()
        assert process.wait(SECONDS) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--port", "99999"], "--port: must be a whole number from 0 to 65535, not '99999'"),
        (["--nope"], "No such option"),
        (["my data"], "use an option for the data set, serve --data 'my data'"),
        (["--no-auth", "--api-key", "k"], "not both"),
        (["--api-key", ""], "--api-key: must be a non-empty text, or a list such as"),
        (["--api-key", "clé"], "--api-key"),
        (["--config", "no-such-file.toml"], "No such file"),
        (["--data", "http://"], "--data: it is not an http or https URL"),
        (["--data", ".", "--no-copy"], "--data: --no-copy is for a baked file on this machine, which this is not"),
        (["--data", "https://origin.example/stores.baked", "--no-copy"], "--data: --no-copy is for a baked file"),
        (["--no-copy"], "--data: --no-copy is for a baked file"),
        (["--data", "https://origin.example/", "--places", "list.csv"], "--data: --places is for data files;"),
        (["--admin", "8080"], "--admin: '8080' is not HOST:PORT"),
        (["--admin", "127.0.0.1:65536"], "is not HOST:PORT"),
        (["--poll", "0"], "--poll: must be a number above 0 and up to 31622400, not '0'"),
        (["--max-stale", "inf"], "--max-stale: must be a number above 0"),
        (["--cache-control", "private\r\nX: y"], "--cache-control: a header field may contain printable ASCII only"),
        (["--cors-origin", "shop.example"], "--cors-origin: 'shop.example' is not an origin"),
        (["--cors-origin", "https://*.shop.example"], "is not an origin"),
        (["--tiles", "https://a.example/{z}/{x}.png", "--tiles-attribution", "A"], "is not a URL of tiles"),
        (["--tiles", "https://a.example;b/{z}/{x}/{y}.png", "--tiles-attribution", "A"], "is not a URL of tiles"),
        (["--tiles", "/{z}/{x}/{y}.png", "--tiles-attribution", "A"], "is not a URL of tiles"),
        (["--tiles", "https://a.example/{z}/{x}/{y}.png"], "tiles need --tiles-attribution"),
        (["--explorer", "public"], "--explorer: the public page needs --explorer-key, a public key"),
        (["--explorer", "public", "--explorer-key", "sd_secret"], "needs --explorer-key, a public key"),
        (["--title", "Shops"], "are for --explorer public"),
        (["--no-auth", "--explorer", "public", "--accent", "red;}"], "'red;}' is no colour"),
        (["--no-auth", "--explorer", "public", "--logo", "/nowhere.svg"], "is no file that ends with .svg"),
        (["--no-auth", "--explorer", "public", "--frame-ancestors", "https://a;b"], "is not an origin"),
        (["--no-auth", "--explorer", "public", "--frame-ancestors", "*"], "is not an origin"),
        (["--image-origin", "http://a.example"], "--image-origin: 'http://a.example' is not an origin"),
        (["--image-origin", "https://a.example/x"], "is not an origin"),
        (["--image-origin", "https://a.example;b"], "is not an origin"),
        (["--trusted-proxy", "10.0.0.1/8"], "--trusted-proxy: '10.0.0.1/8' is not a network"),
    ],
)
def test_a_usage_error_exits_with_2_and_a_message(arguments: list[str], message: str) -> None:
    ended = usage("serve", *arguments)
    assert ended.exit_code == 2
    assert message in ended.stderr


@pytest.mark.process
def test_the_error_for_rejected_data_of_a_url_has_no_password_or_signature(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<html>" * 100)
    with serving_files(tmp_path) as origin:
        address = f"{origin.replace('http://', 'HTTP://user:hunter2@')}/page.html?signature=topsecret"
        ended = run("serve", "--port", "0", "--data", address, "--cache", tmp_path / "cache")
    assert ended.returncode == 1
    assert "is rejected" in ended.stderr
    assert "not a baked data set" in ended.stderr
    assert not any(secret in ended.stderr + ended.stdout for secret in ("hunter2", "topsecret"))


@pytest.mark.process
def test_a_package_named_service_in_the_working_directory_is_not_imported(data: Path, tmp_path: Path) -> None:
    (tmp_path / "service").mkdir()
    (tmp_path / "service" / "__init__.py").write_text("raise SystemExit('another service')")
    program = Path(sys.executable).with_name("store-directory")
    command = [str(program), "serve", "--port", "0", "--data", str(data)]
    with subprocess.Popen(command, cwd=tmp_path, stdout=PIPE, stderr=STDOUT, text=True, env=environment({})) as process:
        assert process.stdout is not None
        try:
            assert any(line.startswith("Ready: ") for line in process.stdout)
        finally:
            process.terminate()


def test_version_and_help_list_each_setting_once_under_its_group() -> None:
    assert usage("--version").stdout == f"store-directory, version {__version__}, interface {INTERFACE_VERSION}\n"
    groups = re.split(r"^(\w+):\n", usage("serve", "--help").stdout, flags=re.MULTILINE)
    assert "STORE_DIRECTORY_PORT" in groups[0]
    listed = {
        group: re.findall(r"^  (?:-h, )?(--[a-z-]+)", options, re.MULTILINE)
        for group, options in zip(groups[1::2], groups[2::2], strict=True)
    }
    assert listed.pop("General") == ["--config", "--check", "--help"]
    assert {options[0]: group for group, options in listed.items()} == {
        f"--{SETTINGS[first].key}": section for first, section in SECTIONS.items()
    }
    assert list(chain(*listed.values())) == [f"--{setting.key}" for setting in SETTINGS.values()]


@pytest.mark.process
def test_with_a_log_of_json_every_line_is_json(data: Path, tmp_path: Path) -> None:
    with started("--data", data, "--log-format", "json", "--api-key", "k", log=tmp_path / "log") as process:
        assert process.stdout is not None
        printed = [orjson.loads(process.stdout.readline()) for _ in range(5)]
    assert [each["message"].split()[0] for each in printed] == ["Listening", "Ready:", "Try:", "Explore:", "Docs:"]
    assert [orjson.loads(line)["level"] for line in (tmp_path / "log").read_text().splitlines()]


@pytest.mark.process
@pytest.mark.parametrize(
    ("options", "code", "why"),
    [
        (("--data", "ftp://a/b"), 2, "--data: ftp:// is not supported"),
        (("--host", "192.0.2.1"), 1, "cannot listen on 192.0.2.1:0: "),
        (("--key-file", "nowhere.json"), 1, "nowhere.json"),
    ],
)
def test_the_error_that_ends_a_start_is_a_line_of_a_log_of_json(options: tuple[str, ...], code: int, why: str) -> None:
    ended = run("serve", "--port", "0", "--log-format", "json", *options)
    last = orjson.loads(ended.stderr.splitlines()[-1])
    assert (ended.returncode, last["level"], why in last["message"]) == (code, "critical", True)


@pytest.mark.process
@pytest.mark.parametrize(
    ("options", "why"),
    [
        ((), ""),
        (("--data", "nowhere"), "there is no such file or folder"),
        (("--min-stores", "3"), "2 stores, at least 3 needed; --min-stores 2 allows that"),
        (("--key-file", "nowhere.json"), "nowhere.json"),
        (("--data", "http://127.0.0.1:1/stores.baked"), "cannot connect"),
    ],
)
def test_a_check_of_the_start_serves_nothing_and_fails_like_one(data: Path, options: tuple[str, ...], why: str) -> None:
    ended = run("serve", "--check", "--port", "0", "--data", data, *options)
    valid = "" if why else "Settings and data are valid: 2 stores, 1 companies\n"
    assert (ended.returncode, ended.stdout, why in ended.stderr) == (bool(why), valid, True), ended.stderr
