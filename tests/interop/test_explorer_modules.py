"""The modules of the explorer: their declared types, and what needs no browser."""

import shutil
import subprocess
from pathlib import Path
from random import Random
from typing import Any, Final, get_args

import orjson
import pytest

from service.model.attributes import Attribute, AttributeKind, Declaration, schema_of
from service.publishing.snapshot import SnapshotHolder
from service.web.pipeline.auth import no_authentication
from service.web.site import make_site
from tests.engine.hours_oracle import is_open, random_hours, random_instant
from tests.interop.software import TOOLS, found
from tests.web.live import DEFAULTS

pytestmark = pytest.mark.process

PLAIN_ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata")
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
_SHOWN: Final[dict[str, Any]] = {"label": "A label", "group": "A group", "show": "list"}


@pytest.fixture
def served(tmp_path: Path) -> Path:
    """Return a folder with the modules at the paths where they are served."""
    shutil.copytree(WEB / "explorer", tmp_path / "explorer")
    shutil.copytree(WEB / "endpoints" / "docs", tmp_path / "docs")
    shutil.copytree(WEB / "explorer", tmp_path / "embed")
    shutil.copytree(WEB / "embed", tmp_path / "embed", dirs_exist_ok=True)
    (tmp_path / "embed" / "leaflet.d.ts").write_text("declare const L: any;\nexport default L;\n")
    shutil.copytree(WEB / "public", tmp_path / "public")
    return tmp_path


def succeed(folder: Path, *command: str | Path) -> None:
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def pass_in_node(folder: Path, tests: str) -> None:
    (folder / "package.json").write_text('{"type": "module"}')
    shutil.copy(Path(__file__).with_name(tests), folder)
    succeed(folder, found("node", package="nodejs"), "--test", tests)


def test_the_types_of_the_modules_fit(served: Path) -> None:
    compiler = TOOLS / "node_modules" / ".bin" / "tsc"
    if not compiler.exists():
        pytest.fail("there is no tsc: run `make interop`, which installs it", pytrace=False)
    config = {"compilerOptions": OPTIONS, "files": ["explorer/page.js", "embed/store-locator.js", "public/page.js"]}
    (served / "tsconfig.json").write_bytes(orjson.dumps(config))
    succeed(served, compiler, "-p", served)


@pytest.mark.parametrize("module", ["words", "names", "language"])
def test_what_needs_no_browser_is_right(served: Path, module: str) -> None:
    pass_in_node(served, f"{module}.test.mjs")


def test_opening_hours_are_shown_as_the_service_finds_them(served: Path) -> None:
    random, cases = Random(1), list[dict[str, Any]]()
    while len(cases) < 400:
        instant = random_instant(random)
        value = random_hours(random, instant)
        if value["timezone"] in PLAIN_ZONES and instant.year in range(2007, 2030):  # as all zone data has them
            cases.append({"value": value, "instant": instant.isoformat(), "isOpen": is_open(value, instant)})
    (served / "hours.json").write_bytes(orjson.dumps(cases))
    pass_in_node(served, "hours.test.mjs")


def test_attributes_are_read_from_the_openapi_document(served: Path) -> None:
    kinds = get_args(AttributeKind)
    attributes = (
        *(Attribute(f"a_{kind}", kind) for kind in kinds),
        Attribute("hidden", "text", filter=False, **_SHOWN),
    )
    site = make_site(SnapshotHolder(), no_authentication, DEFAULTS)
    for name, declaration in {"declared": Declaration(attributes), "plain": Declaration()}.items():
        (served / f"{name}.json").write_bytes(site.openapi(schema_of(declaration)))
    pass_in_node(served, "attributes.test.mjs")
