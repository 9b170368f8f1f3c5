"""The example clients that need other programs: curl and jq, and Node."""

import subprocess
from pathlib import Path

from tests.client_trial import try_client, try_client_without_key
from tests.interop.software import TOOLS, found

CLIENTS = Path(__file__).parents[2] / "examples" / "clients"
OPTIONS = (
    *("--strict", "--noUncheckedIndexedAccess", "--noPropertyAccessFromIndexSignature", "--skipLibCheck"),
    "--erasableSyntaxOnly",
    *("--target", "es2022", "--lib", "es2023,dom,dom.iterable", "--module", "nodenext", "--types", "node"),
)


def test_the_curl_client_reads_everything_and_waits_when_it_must(tmp_path: Path) -> None:
    assert all(found(program, package=program) for program in ("curl", "jq"))
    try_client(CLIENTS / "stores.sh", folder=tmp_path)


def test_the_typescript_client_reads_everything_and_waits_when_it_must(tmp_path: Path) -> None:
    """Its types are erased by the compiler, as Node 22.18 and later does by itself."""
    (tmp_path / "node_modules").symlink_to(TOOLS / "node_modules")
    script = tmp_path / "stores.mts"
    script.write_bytes((CLIENTS / "stores.ts").read_bytes())
    command: list[str | Path] = [TOOLS / "node_modules" / ".bin" / "tsc", *OPTIONS, script]
    compiled = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert compiled.returncode == 0, compiled.stdout
    try_client(found("node", package="nodejs"), script.with_suffix(".mjs"), folder=tmp_path)
    try_client_without_key(found("node", package="nodejs"), script.with_suffix(".mjs"))
