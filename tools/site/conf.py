"""How Sphinx makes the site of the documentation: `make docs`.

The pages are those of the repository, unchanged. docs/README.md is the one list of them: the navigation and llms.txt
have its order and its descriptions. A page of docs/ that is not in it is an error, here and in `store-directory help`.
"""

import re
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from posixpath import normpath
from typing import Final, NamedTuple

from sphinx.application import Sphinx

from service import __version__
from tools.project_urls import repository_of

ROOT: Final = Path(__file__).parents[2]
_PYPROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))

project = "Store Directory"
version = release = __version__
root_doc = "README"
include_patterns = ["*.md", "docs/*.md", "examples/README.md", "examples/*/README.md", "bench/README.md"]
include_patterns += ["datasets/README.md", "deploy/*/README.md"]
extensions = ["myst_parser"]
myst_heading_anchors = 4  # links to headings, as in the repository
smartquotes = False  # `--data` is two hyphens
suppress_warnings = ["misc.highlighting_failure"]  # a language that Pygments does not know is shown without colours
html_theme = "furo"
html_static_path = html_css_files = ["site.css"]
if _REPOSITORY := repository_of(ROOT):  # the button to view the source of a page leads there
    html_theme_options = {
        "source_repository": _REPOSITORY,
        "source_branch": f"v{__version__}",
        "source_directory": "",
        "top_of_page_buttons": ["view"],
    }
html_title = f"{project} {__version__}"
html_show_copyright = False
html_sourcelink_suffix = ""  # _sources/docs/interface.md, to which llms.txt links

# A row of docs/README.md: what a reader wants, the page, what is in it.
_ROW: Final = re.compile(r"^\| (.*) \| \[.*\]\((.*)\.md\): (.*) \|$", re.MULTILINE)
# A file that a page names without a link: README.md is also shown where links into the repository break.
_NAMED: Final = re.compile(r"(?<!\[)`((?:docs/)?[\w-]+\.md|examples/)`")


class ListedPage(NamedTuple):
    """A page of the list in docs/README.md."""

    name: str  # as Sphinx names pages: docs/interface
    goal: str
    content: str


def listed_pages() -> Iterator[ListedPage]:
    """Yield the pages in the order of docs/README.md."""
    for goal, path, content in _ROW.findall((ROOT / "docs" / "README.md").read_text("utf-8")):
        yield ListedPage(normpath(f"docs/{path}"), goal, content)


def _toctree(caption: str, *names: str) -> str:
    """Return a tree of pages, or of patterns of them, in Markdown."""
    return "\n".join(["", "```{toctree}", ":hidden:", ":glob:", f":caption: {caption}", "", *names, "```", ""])


def _navigation() -> str:
    listed = [page.name for page in listed_pages()]
    guides = [name for name in listed if name.startswith("docs/")]
    project = [name for name in listed if name not in guides]
    return _toctree("Documentation", "docs/README", *guides) + _toctree(
        "Project", *project, "datasets/README", "deploy/*/README"
    )


def _add_links(_: Sphinx, name: str, source: list[str]) -> None:
    """Add to a page what the site has beyond the repository: the navigation, and links to files that it names."""
    if "/" not in name:
        source[0] = _NAMED.sub(lambda found: _linked(found[1]), source[0])
    if name == root_doc:
        source[0] += _navigation()
    if name == "examples/README":
        source[0] += _toctree("Examples", "*/README")


def _linked(named: str) -> str:
    path = named + "README.md" if named.endswith("/") else named
    return f"[`{named}`]({path})" if (ROOT / path).exists() else f"`{named}`"


def _add_files(app: Sphinx, error: Exception | None) -> None:
    """Write llms.txt (llmstxt.org), whose links lead to the Markdown of the pages, and the first page as index.html."""
    if error is not None or app.builder.name != "html":
        return
    lines = [f"# {project}", "", f"> {_PYPROJECT['project']['description']}", "", "## Documentation", ""]
    for page in listed_pages():
        title = app.env.titles[page.name].astext()
        lines.append(f"- [{title}](_sources/{page.name}.md): to {page.goal}: {page.content}")
    (app.outdir / "llms.txt").write_text("\n".join([*lines, ""]), "utf-8")
    shutil.copy(app.outdir / f"{root_doc}.html", app.outdir / "index.html")


def setup(app: Sphinx) -> None:
    """Connect the hooks; Sphinx calls it."""
    app.connect("source-read", _add_links)
    app.connect("build-finished", _add_files)
