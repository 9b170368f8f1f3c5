"""Precedence between keys and `--no-auth`."""

from pathlib import Path
from typing import Any

import click
import pytest

from service.commands.serve import resolve_authentication, serve

KEY = ("--api-key", "k")
KEY_FILE = ("--key-file", "keys.json")
NO_AUTH = ("--no-auth",)
VARIABLES = {KEY: ("API_KEY", "k"), KEY_FILE: ("KEY_FILE", "keys.json"), NO_AUTH: ("NO_AUTH", "true")}
LINES = {KEY: 'api-key = ["k"]', KEY_FILE: 'key-file = "keys.json"', NO_AUTH: "no-auth = true"}
KEYS = pytest.mark.parametrize("keys", [KEY, KEY_FILE], ids=["key", "key file"])


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, _ in VARIABLES.values():
        monkeypatch.delenv(f"STORE_DIRECTORY_{name}", raising=False)


def resolved(*options: str) -> dict[str, Any]:
    """Return the settings of authentication that `serve` uses, from command line, environment and settings file."""
    context = serve.make_context("serve", [*options])
    values = dict(context.params)
    resolve_authentication(context, values)
    return {name: values[name] for name in ("api_key", "key_file", "no_auth") if values[name]}


@KEYS
def test_no_auth_and_keys_from_one_source_are_a_usage_error(keys: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(click.UsageError, match="not both"):
        resolved(*keys, *NO_AUTH)
    file = tmp_path / "settings.toml"
    file.write_text(f"{LINES[keys]}\n{LINES[NO_AUTH]}")
    with pytest.raises(click.UsageError, match="not both"):
        resolved("--config", str(file))


@KEYS
def test_an_option_overrides_the_environment_and_both_override_the_settings_file(
    keys: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "settings.toml"
    for nearer, other in ((keys, NO_AUTH), (NO_AUTH, keys)):
        alone = resolved(*nearer)
        file.write_text(LINES[other])
        assert resolved("--config", str(file), *nearer) == alone != {}
        for set_, options in ((other, nearer), (nearer, ("--config", str(file)))):
            name, value = VARIABLES[set_]
            with monkeypatch.context() as environment:
                environment.setenv(f"STORE_DIRECTORY_{name}", value)
                assert resolved(*options) == alone
