"""Errors of settings name the source of the value and what is accepted; they never quote an API key."""

from pathlib import Path

import pytest
from msgspec.structs import asdict

from service.commands import ENVIRONMENT_PREFIX
from service.commands.options import SETTINGS, SettingOption
from service.settings import Settings
from tests.program import serving, usage
from tests.run.generations import bake_stores

NO_TOML = "invalid TOML: "
LIST = 'must be a non-empty text, or a list such as ["one", "two"]'


def error_of(tmp_path: Path, content: str | bytes) -> str:
    """Return the error message for a settings file, without its path."""
    file = tmp_path / "settings.toml"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    ended = usage("serve", "--config", file)
    assert ended.exit_code == 2
    error = ended.stderr.partition("Error: ")[2].strip()
    assert error.startswith(f"{file}: ")
    return error.replace(f"{file}: ", "")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("port = 'http'", "port (--port): must be a whole number from 0 to 65535, not 'http'"),
        ("port = true", "port (--port): must be a whole number from 0 to 65535, not true"),
        ("port = [80]", "port (--port): must be a whole number from 0 to 65535"),
        ("data = 1", "data (--data): must be a non-empty text, not 1"),
        ("no_auth = 'yes'", "no_auth (--no-auth): must be true or false, not 'yes'"),
        ("invalid = 'ignore'", "invalid (--invalid): must be 'refuse' or 'skip', not 'ignore'"),
        ("log-format = 'xml'", "log-format (--log-format): must be 'text' or 'json', not 'xml'"),
        ("min-stores = -1", "min-stores (--min-stores): must be a whole number from 0 to 1000000000, not -1"),
        ("max-skipped = nan", "max-skipped (--max-skipped): must be a number from 0 to 1, not nan"),
        ("drain = -1", "drain (--drain): must be a number from 0 to 31622400, not -1"),
        ("response_cache = 0.5", "response_cache (--response-cache): must be a whole number from 0 to 1048576, not "),
        (f"workers = {10**20}", "workers (--workers): must be a whole number from 1 to 1000000000 or 'auto', not 1"),
        (f"min-stores = 0x{'f' * 5000}", "min-stores (--min-stores): must be a whole number from 0 to 1000000000"),
        (f"port = {'9' * 5000}", "a number is too long, or a value is nested too deeply"),
        (f"port = {'[' * 5000}", "a number is too long, or a value is nested too deeply"),
        ("api_key = 1234567890", f"api_key (--api-key): {LIST}"),
        ("api-key = ['one', 2]", f"api-key (--api-key): {LIST}"),
        ('uds = "a\\u0000b"', "uds (--uds): a text cannot contain the character NUL"),
        ('cors-origin = ["a\\u0000b"]', "cors-origin (--cors-origin): a text cannot contain the character NUL"),
        ("host = ''", f"host (--host): {LIST}"),
        ("host = ['127.0.0.1', '']", f"host (--host): {LIST}"),
        ("admin = 'here'", "admin (--admin): 'here' is not HOST:PORT"),
        ("cors_origin = ['*', 'here']", "cors-origin (--cors-origin): 'here' is not an origin: write https://shop.ex"),
        ("data = 'ftp://bucket/x'", "data (--data): ftp:// is not supported"),
        ("encoding = 'klingon'", "encoding (--encoding): 'klingon' is not the name of an encoding, such as"),
        ("mapping = ''", "mapping (--mapping): must be a non-empty text, not ''"),
        ("rate_store = 'http://user:the-secret'", "rate-store (--rate-store): it "),
        ("api_key = ['the-sécret']", "api-key (--api-key): a key is printable ASCII"),
    ],
)
def test_an_error_in_a_settings_file_names_key_option_and_values(tmp_path: Path, content: str, message: str) -> None:
    error = error_of(tmp_path, content)
    assert error.startswith(message)
    assert "secret" not in error
    assert "1234567890" not in error


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("prot = 1", "unknown setting prot; did you mean port?"),
        ("api_keys = ['x']", "unknown setting api_keys; did you mean api-key?"),
        ("config = 'other.toml'", "unknown setting config; known settings: data, mapping, encoding, places, invalid,"),
        ("[serve]\nport = 1", "unknown table [serve]: settings are top-level keys"),
        ("no_auth = true\nno-auth = false", "no-auth is set twice, with a dash and with an underscore"),
        ("prot = 1\nport = 'x'", "unknown setting prot; did you mean port?\nport (--port): must be a whole number"),
        ("data = x", f"{NO_TOML}Invalid value (at line 1, column 8); write texts in quotes, as in host = "),
        ("port = 1\nport: 2\n", f"{NO_TOML}Expected '=' after a key in a key/value pair (at line 2, column 5)"),
        ("port = 1\nport = 2", f"{NO_TOML}Cannot overwrite a value"),
    ],
)
def test_unknown_keys_and_invalid_toml_are_reported_with_a_suggestion_and_all_errors_of_a_file_together(
    tmp_path: Path, content: str, message: str
) -> None:
    assert error_of(tmp_path, content).startswith(message)


def test_a_file_must_be_utf_8_and_may_have_a_byte_order_mark(tmp_path: Path) -> None:
    assert error_of(tmp_path, "data = 'Göteborg'".encode("cp1252")) == "the file is not UTF-8: save it as UTF-8"
    assert error_of(tmp_path, b"\xef\xbb\xbfport = 'x'").startswith("port (--port): ")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("port", "http", "must be a whole number from 0 to 65535, not 'http'"),
        ("no_auth", "perhaps", "must be true or false, not 'perhaps'"),
        ("trusted_proxy", "x", "'x' is not a network"),
        ("cache_control", "é", "a header field may contain printable ASCII only"),
        ("data", "ftp://user:the-secret@bucket/x", "ftp:// is not supported"),
        ("api_key", "the-sécret", "a key is printable ASCII"),
    ],
)
def test_an_error_in_the_environment_names_the_variable(name: str, value: str, message: str) -> None:
    variable = ENVIRONMENT_PREFIX + name.upper()
    ended = usage("serve", **{variable: value})
    assert ended.exit_code == 2
    assert f"Error: {variable}: {message}" in ended.stderr
    assert "secret" not in ended.stderr


NUMBERS = [SETTINGS[name] for name, value in asdict(Settings()).items() if not isinstance(value, bool | str | tuple)]


@pytest.mark.parametrize("setting", NUMBERS)
def test_every_number_has_a_range(setting: SettingOption) -> None:
    for number in (10**30, -(10**30)):
        with pytest.raises(ValueError, match=r"must be a .*number"):
            setting.parse(number)
        with pytest.raises(ValueError, match=r"must be a .*number"):
            setting.parse(str(number))


def test_the_error_for_a_variable_set_by_kubernetes_says_so() -> None:
    ended = usage("serve", STORE_DIRECTORY_PORT="tcp://10.96.0.7:8080")
    assert ended.exit_code == 2
    assert "STORE_DIRECTORY_PORT: must be a whole number" in ended.stderr
    assert "enableServiceLinks: false" in ended.stderr


def test_an_error_names_the_source_that_has_precedence(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("cors_origin = ['of-the-file']")
    variable = {"STORE_DIRECTORY_CORS_ORIGIN": "of-the-environment"}
    config = ("--config", tmp_path / "settings.toml")
    assert "Error: STORE_DIRECTORY_CORS_ORIGIN: 'of-the-env" in usage("serve", *config, **variable).stderr
    option = usage("serve", *config, "--cors-origin", "of-the-option", **variable)
    assert "Error: --cors-origin: 'of-the-option'" in option.stderr


def test_every_setting_describes_its_accepted_values() -> None:
    assert not any(setting.mismatch([]).endswith("must be ") for setting in SETTINGS.values())
    assert SETTINGS["max_stale"].mismatch([]) == "must be a number above 0 and up to 31622400"


@pytest.mark.process
def test_unknown_variables_alone_are_logged_with_a_suggestion_and_without_their_values(tmp_path: Path) -> None:
    data = bake_stores(tmp_path, 1)
    (tmp_path / "settings.toml").write_text("")
    keys, log = tmp_path / "keys.json", tmp_path / "log"
    key = usage("keys", "new", "--name", "one", STORE_DIRECTORY_KEY_FILE=str(keys)).stdout.strip()
    known = {
        "STORE_DIRECTORY_KEY_FILE": str(keys),
        "STORE_DIRECTORY_CONFIG": str(tmp_path / "settings.toml"),
        "STORE_DIRECTORY_DATA": str(data),
        "STORE_DIRECTORY_LOG_FORMAT": "text",
    }
    unknown = {"STORE_DIRECTORY_APIKEY": "the-secret", "STORE_DIRECTORY_QQQ": "the-secret"}
    with serving(log=log, **known, **unknown) as service:
        assert service.get("/stores", key).status == 200
        assert service.end() == 0
    warnings = [line.partition(" WARNING ")[2] for line in log.read_text().splitlines() if " WARNING " in line]
    assert warnings == [
        "unknown environment variable STORE_DIRECTORY_APIKEY; did you mean STORE_DIRECTORY_API_KEY?",
        "unknown environment variable STORE_DIRECTORY_QQQ",
    ]
    assert "secret" not in log.read_text() + service.printed


@pytest.mark.parametrize(
    ("command", "message"),
    [(["serv"], "No such command 'serv'. Did you mean 'serve'?\n"), (["zzz"], "No such command 'zzz'.\n")],
)
def test_a_mistyped_command_is_reported_with_a_suggestion(command: list[str], message: str) -> None:
    ended = usage(*command)
    assert ended.exit_code == 2
    assert message in ended.stderr
