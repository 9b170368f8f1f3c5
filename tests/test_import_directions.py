"""The packages of the service: which may import which, and what only some of them may use."""

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

import pytest

PACKAGE: Final = Path(__file__).parents[1] / "service"

# The parts of each package that has packages in it, from top to bottom. A part imports from the layers below its own,
# and not from other parts of its layer.
LAYERS: Final[Mapping[str, tuple[frozenset[str], ...]]] = {
    package: tuple(frozenset(layer.split()) for layer in layers.strip().splitlines())
    for package, layers in {
        "service": """
            __main__
            commands
            server
            web
            publishing
            loading
            baking reading sampling settings
            dataset
            access engine
            model
            background files spool texts
        """,
        "service.engine": """
            results
            facets
            row_csv select
            conditions place_search row_json table_builder
            places
            table
            geography opening_hours text_index
            columns
        """,
        "service.reading": """
            files proposal
            mapping
            formats hours
            columns isolation
            batch characters text
            diagnostics
        """,
        "service.web": """
            site
            connections endpoints
            pipeline
            http
        """,
    }.items()
}
# Libraries that only some packages may import.
RESERVED: Final = {
    "aiohttp": {"web", "server", "publishing"},
    "gunicorn": {"server"},
    "prometheus_client": {"web"},
    "click": {"commands"},
    "uvloop": {"commands", "server"},
    "redis": {"access"},
    "obstore": {"publishing"},
    "pyarrow": {"commands", "reading"},
    "python_calamine": {"reading"},
}
# The engine only computes: no files, no HTTP, no clock, no await.
NOT_IN_ENGINE: Final = {"aiohttp", "asyncio", "datetime", "http", "io", "mmap", "os", "pathlib", "socket", "time"}
OPENING: Final = {"open", "read_bytes", "read_text", "write_bytes", "write_text", "fdopen", "mkstemp", "mmap"}
# Packages that open files: data, keys, the workspace of a run, settings, the table of countries, documents.
OPENERS: Final = (
    "service.access.key_file",
    "service.baking",
    "service.commands.help",
    "service.commands.options",
    "service.files",
    "service.publishing",
    "service.reading",
    "service.sampling",
    "service.server.log",
    "service.spool",
    "service.web.endpoints.documents",
)

WAITING: Final = (ast.Await, ast.AsyncFor, ast.AsyncWith, ast.AsyncFunctionDef)
READ: Final = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.Call, *WAITING)
# The nodes of modules that rules are about, by the name of the module.
Modules = Mapping[str, Sequence[ast.AST]]


def modules(folder: Path) -> dict[str, Sequence[ast.AST]]:
    """Return the modules of a package."""
    found: dict[str, Sequence[ast.AST]] = {}
    for file in sorted(folder.rglob("*.py")):
        name = ".".join(file.relative_to(folder.parent).with_suffix("").parts).removesuffix(".__init__")
        found[name] = [node for node in ast.walk(ast.parse(file.read_bytes())) if isinstance(node, READ)]
    return found


@cache
def package() -> Modules:
    """Return the modules of the service."""
    return modules(PACKAGE)


def imports(name: str, parsed: Modules) -> Iterator[str]:
    """Yield the modules that a module imports, anywhere in its code."""
    for node in parsed[name]:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from (each if (each := f"{module}.{alias.name}") in parsed else module for alias in node.names)


def part(module: str, package: str = "service") -> str:
    """Return the part of a package that a module is in; "" for the package itself."""
    return module.removeprefix(package).removeprefix(".").split(".")[0]


def layer(module: str, package: str) -> int:
    """Return the layer of a module in a package: the package itself is below all of them."""
    name, layers = part(module, package), LAYERS.get(package, ())
    return next(
        (depth for depth, parts in enumerate(layers) if name in parts), len(layers) if name else len(layers) + 1
    )


def packages_of(module: str, parsed: Modules) -> Iterator[str]:
    """Yield the packages that a module is in, or is, which have packages in them."""
    above = [module.rsplit(".", depth)[0] for depth in range(module.count(".") + 1)]
    yield from (
        each
        for each in above
        if any(name.count(".") > each.count(".") + 1 for name in parsed if name.startswith(f"{each}."))
    )


def pairs(parsed: Modules) -> Iterator[tuple[str, str]]:
    """Yield each module with each that it imports."""
    yield from ((name, each) for name in parsed for each in imports(name, parsed))


def homeless(parsed: Modules) -> list[str]:
    return [
        f"{name} is in no layer of {package}"
        for name in parsed
        for package in packages_of(name, parsed)
        if layer(name, package) == len(LAYERS.get(package, ()))
    ]


def relative(parsed: Modules) -> list[str]:
    return [f"{name} imports {each}, not by its full name" for name, each in pairs(parsed) if each[0] == "."]


def upward(parsed: Modules) -> list[str]:
    return [
        f"{name} imports {each}, {'beside' if layer(each, package) == layer(name, package) else 'above'} it"
        for name, each in pairs(parsed)
        for package in LAYERS
        if each in parsed and f"{name}.".startswith(f"{package}.") and f"{each}.".startswith(f"{package}.")
        if part(each, package) != part(name, package) and layer(each, package) <= layer(name, package)
    ]


def leaves(parsed: Modules) -> list[str]:
    """Return the modules that are no packages."""
    return [name for name in parsed if not any(other.startswith(f"{name}.") for other in parsed)]


def repeated(parsed: Modules) -> list[str]:
    """Return the names of public classes that occur twice."""
    nodes = [node for module in parsed.values() for node in module if isinstance(node, ast.ClassDef)]
    names = Counter(node.name for node in nodes if not node.name.startswith("_"))
    return [f"{name} occurs {count} times" for name, count in names.items() if count > 1]


def entangled(parsed: Modules) -> list[str]:
    """Return a cycle of folders that import each other, at any depth; a module at the top is a folder of its own."""
    folders = {name: name if name.count(".") == 1 else name.rpartition(".")[0] for name in leaves(parsed)}
    graph: dict[str, set[str]] = {}
    for name, each in pairs(parsed):
        if name in folders and each in folders and folders[name] != folders[each]:
            graph.setdefault(folders[name], set()).add(folders[each])
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [" <- ".join(error.args[1])]
    return []


def trespassing(parsed: Modules) -> list[str]:
    return [
        f"{name} imports {each}, which is for {' and '.join(sorted(rooms))} alone"
        for name, each in pairs(parsed)
        if (rooms := RESERVED.get(each.split(".")[0])) and part(name) not in rooms
    ]


def worldly(parsed: Modules) -> list[str]:
    engine = [name for name in parsed if part(name) == "engine"]
    known = [(name, each) for name in engine for each in imports(name, parsed)]
    found = [f"{name} imports {each}" for name, each in known if each.split(".")[0] in NOT_IN_ENGINE]
    return found + [f"{name} waits" for name in engine for node in parsed[name] if isinstance(node, WAITING)]


def called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def opening(parsed: Modules) -> list[str]:
    return [
        f"{name}, line {node.lineno}, calls {called(node)}"
        for name in parsed
        for node in parsed[name]
        if isinstance(node, ast.Call)
        and called(node) in OPENING
        and not f"{name}.".startswith(tuple(f"{each}." for each in OPENERS))
    ]


RULES: Final[Mapping[str, Callable[[Modules], list[str]]]] = {
    "every module is in a layer": homeless,
    "imports point down": upward,
    "names of public classes occur once": repeated,
    "no two folders import each other": entangled,
    "modules are imported by their full names": relative,
    "libraries are imported only by their packages": trespassing,
    "the engine uses no files, no HTTP, no clock and no await": worldly,
    "only listed packages open files": opening,
}


def test_the_service_keeps_each_rule() -> None:
    assert {rule: broken(package()) for rule, broken in RULES.items()} == {rule: [] for rule in RULES}


def test_imports_have_no_cycles() -> None:
    parsed = package()
    graph = {name: set(imports(name, parsed)) & parsed.keys() for name in parsed}
    assert set(TopologicalSorter(graph).static_order()) == parsed.keys()


def test_a_process_that_serves_imports_nothing_of_reading_and_loading() -> None:
    parsed, needed, new = package(), set[str](), {"service.web.site"}
    while new:
        needed |= new
        new = {each for name in new for each in imports(name, parsed)} & parsed.keys() - needed
    assert [name for name in sorted(needed) if part(name) in ("reading", "loading", "sampling")] == []


@pytest.mark.parametrize(
    ("file", "line", "violation"),
    [
        ("engine/results.py", "def f():\n import service.web", "service.engine.results imports service.web, above it"),
        ("baking/x.py", "import service.sampling.y", "service.baking.x imports service.sampling.y, beside it"),
        ("files.py", "from service.model import query", "service.files imports service.model.query, above it"),
        ("engine/results.py", "from ..web import app", "service.engine.results imports ..web, not by its full name"),
        ("attic.py", "", "service.attic is in no layer of service"),
        ("web/http/x.py", "import service.web.site", "service.web.http.x imports service.web.site, above it"),
        ("engine/table.py", "class Row: ...\nclass Row: ...", "Row occurs 2 times"),
        ("model/e.py", "import click.core", "service.model.e imports click.core, which is for commands alone"),
        ("engine/results.py", "from os.path import join", "service.engine.results imports os.path"),
        ("engine/results.py", "async def f(): ...", "service.engine.results waits"),
        ("model/e.py", "import pathlib\npathlib.Path().read_text()", "service.model.e, line 2, calls read_text"),
    ],
)
def test_code_in_the_wrong_package_is_reported(tmp_path: Path, file: str, line: str, violation: str) -> None:
    for name in ("web/site.py", "web/__init__.py", "sampling/y.py", "model/query.py", file):
        (tmp_path / "service" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "service" / name).write_text(line if name == file else "")
    parsed = modules(tmp_path / "service")
    assert [each for rule in RULES.values() if rule is not entangled for each in rule(parsed)] == [violation]


def test_folders_that_import_each_other_are_reported(tmp_path: Path) -> None:
    for name, line in {"baking/x.py": "import service.engine.y", "engine/z.py": "import service.baking.w"}.items():
        imported = line.rpartition(" ")[2].removeprefix("service.").replace(".", "/")
        for file, text in ((name, line), (f"{imported}.py", "")):
            (tmp_path / "service" / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "service" / file).write_text(text)
    (cycle,) = entangled(modules(tmp_path / "service"))
    assert "service.baking" in cycle
    assert "service.engine" in cycle
