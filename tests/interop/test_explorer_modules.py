"""The modules of the explorer: their declared types, and what needs no browser."""

import shutil
import subprocess
from pathlib import Path

import orjson
import pytest

from tests.interop.software import found
from tests.interop.test_clients import TOOLS

pytestmark = pytest.mark.process

WEB = Path(__file__).parents[2] / "service" / "web"
OPTIONS = {
    "checkJs": True,
    "noEmit": True,
    "strict": True,
    "target": "es2023",
    "module": "esnext",
    "moduleResolution": "bundler",
    "lib": ["es2023", "dom", "dom.iterable"],
    "types": [],
}


@pytest.fixture
def served(tmp_path: Path) -> Path:
    """Return a folder with the modules at the paths where they are served."""
    shutil.copytree(WEB / "explorer", tmp_path / "explorer")
    shutil.copytree(WEB / "endpoints" / "docs", tmp_path / "docs")
    return tmp_path


def succeed(folder: Path, *command: str | Path) -> None:
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_types_of_the_modules_fit(served: Path) -> None:
    compiler = TOOLS / "node_modules" / ".bin" / "tsc"
    if not compiler.exists():
        pytest.fail("there is no tsc: run `make interop`, which installs it", pytrace=False)
    config = {"compilerOptions": OPTIONS, "files": ["explorer/page.js"]}
    (served / "tsconfig.json").write_bytes(orjson.dumps(config))
    succeed(served, compiler, "-p", served)


def test_words_are_split_and_compared_as_by_the_service(served: Path) -> None:
    (served / "package.json").write_text('{"type": "module"}')
    shutil.copy(Path(__file__).with_name("words.test.mjs"), served)
    succeed(served, found("node", package="nodejs"), "--test", "words.test.mjs")
