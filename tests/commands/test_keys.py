"""`store-directory keys`, and `serve --key-file`."""

import re
import shlex
import stat
import subprocess
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import orjson
import pytest

from service.access.api_key import new_key
from service.commands.serve import serve, warn_about_contrast, warn_about_keys
from service.settings import Settings
from tests.program import run, run_here, run_into, serving, usage
from tests.run.generations import Generation

KEY, NEW = r"sd_[0-9A-Za-z]{49}", ["new", "--key-file", "k", "--name", "x"]
PALE = {"#f60": "2.9", "#FFFFFF": "1.0"}  # with their contrasts to white


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


def made(file: Path, *options: str, name: str = "shop") -> str:
    """Return a new key."""
    return usage("keys", "new", "--key-file", file, "--name", name, *options).stdout.strip()


def listed(file: Path) -> list[dict[str, object]]:
    keys: list[dict[str, object]] = orjson.loads(usage("keys", "list", "--key-file", file, "--json").stdout)
    return keys


@pytest.mark.process
def test_only_the_new_key_is_on_standard_output_and_only_its_hash_in_the_file(file: Path) -> None:
    ended = run("keys", "new", "--key-file", file, "--name", "shop")
    key = ended.stdout.removesuffix("\n")
    assert ended.returncode == 0
    assert re.fullmatch(KEY, key)
    assert key not in ended.stderr
    assert "x-api-key" in ended.stderr
    assert key not in file.read_text()
    assert sha256(key.encode()).hexdigest() in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_keys_are_listed_with_rate_expiry_and_state(file: Path) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    key = made(file, "--rate", "100/min", "--burst", "200", "--expires", "2999-01-01T02:00:00+02:00")
    made(file, name="other")
    assert usage("keys", "revoke", "--key-file", file, "other").stdout == "other is revoked\n"
    first, second = listed(file)
    created = str(first.pop("created_at"))
    assert created.endswith("Z")
    assert before <= datetime.fromisoformat(created) <= datetime.now(UTC)
    assert first == {
        "name": "shop",
        "id": sha256(key.encode()).hexdigest()[:12],
        "state": "valid",
        "rate": "100/min",
        "burst": 200,
        "expires_at": "2999-01-01T00:00:00Z",
        "revoked_at": None,
        "per_client": None,
        "origins": [],
    }
    assert (second["state"], second["rate"], second["burst"], second["expires_at"]) == ("revoked", None, None, None)
    header, *lines = usage("keys", "list", "--key-file", file).stdout.splitlines()
    columns = ("NAME", "ID", "STATE", "RATE", "BURST", "CREATED", "EXPIRES", "REVOKED", "PER_CLIENT", "ORIGINS")
    assert tuple(header.split()) == columns
    assert [line.split()[:3:2] for line in lines] == [["shop", "valid"], ["other", "revoked"]]
    assert not re.search("origins|per_client", file.read_text())  # which only public keys have
    file.write_text(file.read_text().replace("2999", "2020"))
    assert [each["state"] for each in listed(file)] == ["expired", "revoked"]


def test_a_public_key_is_listed_with_its_origins_and_the_rate_of_each_client(file: Path) -> None:
    origins = ("--origin", "HTTPS://Shop.example:443", "--origin", "https://*.shop.example:8443")
    options = ("--name", "shop", "--public", *origins, "--origin", "https://shop.example")
    new = usage("keys", "new", "--key-file", file, *options)
    assert re.fullmatch(r"sd_pub_[0-9A-Za-z]{49}\n", new.stdout)
    assert "Send it in the parameter key: anyone can read it in your pages." in new.stderr
    made(file, "--public", "--origin", "http://[::1]:80", "--per-client", "none", name="other")
    made(file, "--public", "--origin", "http://localhost", "--per-client", "5/s", name="third")
    assert [(each["per_client"], each["origins"]) for each in listed(file)] == [
        ("120/min", ["https://shop.example", "https://*.shop.example:8443"]),
        (None, ["http://[::1]"]),
        ("5/s", ["http://localhost"]),
    ]
    lines = [line.split()[-2:] for line in usage("keys", "list", "--key-file", file).stdout.splitlines()[1:]]
    assert lines[:2] == [["120/min", "https://shop.example,https://*.shop.example:8443"], ["-", "http://[::1]"]]
    assert file.read_text().count("per_client") == 2  # what only some keys have is written for them alone


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["new"], "'--key-file'"),
        (["new", "--key-file", "k"], "'--name'"),
        *(([*NEW[:-1], name], "not a valid name") for name in ("", "two words", "x" * 65, "x\n", new_key())),
        ([*NEW, "--rate", "fast"], "write it as 100/s"),
        ([*NEW, "--burst", "5"], "--burst needs --rate"),
        ([*NEW, "--rate", "1/s", "--burst", "0"], "--burst"),
        ([*NEW, "--expires", "soon"], "not a date"),
        ([*NEW, "--expires", "2020-01-01"], "in the past"),
        ([*NEW, "--public"], "--public needs --origin"),
        ([*NEW, "--origin", "https://a.example"], "--public needs --origin"),
        ([*NEW, "--per-client", "1/s"], "only a public key has"),
        ([*NEW, "--public", "--origin", "https://a.example", "--per-client", "fast"], "--per-client: 'fast'"),
        ([*NEW, "--public", "--origin", "https://a.example", "--origin", "*"], "not the origin of a website"),
        (["revoke", "--key-file", "k", new_key()], "not a valid name"),
        (["revoke", "--key-file", "k"], "NAME"),
    ],
)
def test_a_usage_error_exits_with_2_and_a_message_and_creates_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = usage("keys", *options)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["keys new --name x", "keys list", "keys revoke x", "serve --port 0"])
@pytest.mark.parametrize(
    "content", [b"", b'{"format": 2, "keys": []}', b'{"keys": [', b'{"secret-of-mine": 1}', bytes(9)]
)
def test_a_damaged_file_exits_with_1_and_is_not_changed(file: Path, command: str, content: bytes) -> None:
    file.write_bytes(content)
    ended = run_here(*command.split(), "--key-file", file)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith(f"Error: the key file {file}")
    assert not command.startswith("serve") or "store-directory keys new --key-file" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert "secret-of-mine" not in ended.stderr
    assert file.read_bytes() == content


@pytest.mark.process
def test_a_key_that_cannot_be_printed_exits_with_1_and_advice_to_revoke_it(file: Path) -> None:
    with Path("/dev/full").open("w") as full:
        ended = run_into(full, "keys", "new", "--key-file", file, "--name", "shop")
    assert ended.returncode == 1
    assert "could not be printed, so revoke shop" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.process
@pytest.mark.parametrize(
    "arguments",
    [
        ("keys", "{}"),
        ("keys", "list", "--key-file", "{}"),
        ("keys", "new", "--key-file", "k", "--name", "x", "--rate", "{}"),
        ("--{}",),
        ("serve", "--port", "{}"),
        ("serve", "--key-file", "{}"),
        ("serve", "--data", "{}", "--port", "0"),
    ],
)
def test_errors_never_contain_a_key_from_the_command_line(arguments: tuple[str, ...]) -> None:
    key = new_key()
    ended = (run if "--data" in arguments else run_here)(*(each.format(key) for each in arguments))
    assert ended.returncode in (1, 2)
    assert key not in ended.stderr + ended.stdout


@pytest.mark.process
def test_keys_of_file_and_option_are_accepted_and_no_key_is_created(file: Path, tmp_path: Path) -> None:
    key = made(file)
    with serving("--data", Generation(1).bake(tmp_path), "--key-file", file, "--api-key", "given") as service:
        assert [service.get("/stores", each).status for each in (key, "given", "other")] == [200, 200, 401]
        assert "Key: " not in service.printed
        assert key not in service.printed
        refused = {service.get("/stores", each).body for each in ("other", f"{key}x", new_key())}
    assert len(refused) == 1  # the same response for every invalid key


def test_a_mistyped_key_and_a_key_file_without_a_valid_key_or_with_a_loose_mode_are_warnings_without_a_key(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    made(file)
    usage("keys", "revoke", "--key-file", file, "shop")
    file.chmod(0o644)
    key = new_key()[:-1]
    with serve.make_context("serve", ["--api-key", "fine", "--api-key", key]):
        warn_about_keys(Settings(api_key=("fine", key), key_file=str(file)))
    mistyped, open_to_everybody, no_key = caplog.messages
    assert "key 2 looks like a key of `keys new` but is mistyped or truncated" in mistyped
    assert "is accessible to every user of this machine" in open_to_everybody
    assert "has no valid key" in no_key
    assert key not in caplog.text


def test_a_public_page_without_a_valid_public_key_or_with_an_unreadable_accent_is_a_warning(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    public = made(file, "--public", "--origin", "https://shop.example")
    for key in (public, made(file, name="secret"), new_key("sd_pub_")):
        warn_about_keys(Settings(explorer_key=key, key_file=str(file)))
    warn_about_keys(Settings(explorer_key=new_key("sd_pub_"), no_auth=True))
    for accent in ("", "#767676", *PALE):
        warn_about_contrast(accent)
    missing = "the public page shows no stores: its --explorer-key is no valid public key of --key-file"
    pale = [f"--accent: the contrast of {each} to white is {it}, texts need 4.5" for each, it in PALE.items()]
    assert caplog.messages == [missing, missing, *pale]


def test_a_public_key_as_an_option_is_a_usage_error_because_it_has_no_origins() -> None:
    key = new_key("sd_pub_")
    ended = run_here("serve", "--port", "0", "--api-key", key)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "a public key needs the origins of its websites, which a --key-file has" in ended.stderr
    assert key not in ended.stderr


@pytest.mark.process
@pytest.mark.parametrize(
    ("folder", "command"),
    [
        *((".", each) for each in (["keys", "list"], ["keys", "revoke", "shop"], ["serve", "--port", "0"])),
        *(("it's not there", each) for each in (["keys", "new", "--name", "shop"], ["serve", "--port", "0"])),
    ],
)
def test_a_missing_key_file_or_folder_has_a_command_for_it(tmp_path: Path, command: list[str], folder: str) -> None:
    file = tmp_path / folder / "keys.json"
    ended = run_here(*command, "--key-file", file)
    assert (ended.returncode, ended.stdout, list(tmp_path.iterdir())) == (1, "", [])
    found = re.fullmatch("Error: the key file (.*): No such file or directory; create one with `(.*)`\n", ended.stderr)
    assert found is not None, ended.stderr
    *before, new = found[2].split(" && ")
    assert [shlex.split(each)[:4] for each in before] == [["mkdir", "-p", "-m", "700"]] * (folder != ".")
    for each in before:
        subprocess.run(shlex.split(each), check=True)
    assert run_here(*shlex.split(new.replace("NAME", "shop"))[1:]).returncode == 0
    assert [each["name"] for each in listed(file)] == ["shop"]
