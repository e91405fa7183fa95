"""The site: every page of this folder and the reference of all public names (``make docs``)."""

from __future__ import annotations

import os
import re
import sys
from importlib import import_module
from inspect import isroutine
from pathlib import Path
from typing import Any

from sphinx.errors import ExtensionError

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "src"))

import appletaste  # noqa: E402 (found on the path above)
from appletaste.kernels._jit import ANNOUNCED  # noqa: E402

os.environ[ANNOUNCED] = os.environ.get("NUMBA_CACHE_DIR", "")  # the gallery shows what a study prints, not compilation

project = "appletaste"
author = "The appletaste developers"
copyright = "the appletaste developers"  # noqa: A001 (Sphinx's name)
version = release = appletaste.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "gallery/sg_execution_times.rst", "sg_execution_times.rst"]

html_theme = "furo"
html_title = "appletaste"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
pygments_style, pygments_dark_style = "friendly", "monokai"

#: Every study of ``examples`` is run, and becomes a page with its picture, a script and a notebook.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 10_000,
    "write_computation_times": False,
    "plot_gallery": True,
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "matplotlib_animations": False,
}

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": False}
python_use_unqualified_type_names = True
napoleon_numpy_docstring, napoleon_google_docstring = True, False
napoleon_use_rtype = False

#: Single modules with public names, beside the rooms.
GROUND = ("costs", "costs_by_item", "decision", "keys", "errors")
#: Files of the repository that pages link to, and where the site has them.
OUTSIDE = {"../CONTRIBUTING.md": "contributing.md", "../README.md": "index.md"}
REFERENCE = """\
# Reference

Every public name, by the room where it lives. The names that most people need are also in `appletaste` itself:
`import appletaste as at`, then `at.Costs`, `at.policy`, `at.replay`.

```{{toctree}}
:maxdepth: 2

{tree}
```
"""


def write_reference(_: Any) -> None:
    """Write a page for each room into the folder ``reference``, which is made anew with every build."""
    folder = HERE / "reference"
    folder.mkdir(exist_ok=True)
    rooms = [*GROUND, *(room for room in appletaste.ROOMS if room not in GROUND)]
    rooms += [f"adapters.{path.stem}" for path in sorted((HERE.parent / "src/appletaste/adapters").glob("[a-z]*.py"))]
    rooms.remove("adapters")
    for room in rooms:
        name = f"appletaste.{room}"
        module = import_module(name)
        source = "\n".join(
            path.read_text() for path in sorted((HERE.parent / "src/appletaste" / room).glob("[a-z]*.py"))
        )
        found = "".join(constant(n, source) for n in getattr(module, "__all__", ()) if is_constant(getattr(module, n)))
        renew(folder / f"{room}.md", f"# {name}\n\n```{{eval-rst}}\n.. automodule:: {name}\n{found}```\n")
    tree = "\n".join(rooms)
    renew(folder / "index.md", REFERENCE.format(tree=tree))


def is_constant(thing: Any) -> bool:
    """Return whether autodoc passes over a public name: what is neither a class nor a function."""
    return not isinstance(thing, type) and not isroutine(thing)


def constant(name: str, source: str) -> str:
    """Return the entry of a constant, with the comment above the line that makes it."""
    found = re.search(rf"((?:^#: .*\n)*)^(?:\w+, )*{name}\b.*=", source, re.MULTILINE)
    if found is None:  # autodoc has found it in the room itself
        return ""
    told = " ".join(line.removeprefix("#: ") for line in found[1].splitlines())
    return f"\n.. py:data:: {name}\n\n   {told}\n"


def renew(page: Path, text: str) -> None:
    """Write a page only if it is another one: Sphinx reads again what is new."""
    if not page.exists() or page.read_text() != text:
        page.write_text(text)


def lead_home(_: Any, page: str, source: list[str]) -> None:
    """Point links that leave this folder to the page of the site that holds the same text."""
    for outside, inside in OUTSIDE.items():
        source[0] = source[0].replace(f"]({outside}", f"]({inside}")


def skip(_: Any, what: str, name: str, thing: Any, skipped: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn writes into every estimator."""
    return True if name.startswith("set_") and name.endswith("_request") else None


def check_reference(app: Any, failure: Exception | None) -> None:
    """Refuse a site whose reference lacks a public name."""
    if failure is not None:
        return
    there = {name.rpartition(".")[2] for name, *_ in app.env.get_domain("py").get_objects()}
    rooms = [import_module(f"appletaste.{room}") for room in appletaste.ROOMS]
    wanted = {name for room in (appletaste, *rooms) for name in getattr(room, "__all__", ()) if name != "__version__"}
    if lacking := sorted(wanted - there):
        raise ExtensionError(f"the reference lacks {', '.join(lacking)}")


LLMS = """\
# appletaste

> Decide which items to act on when the true label is seen only if you act: apple tasting, in Python and over HTTP.

"""


def write_llms(app: Any, failure: Exception | None) -> None:
    """Write ``llms.txt`` (llmstxt.org) beside the site: every page with its title and its first sentence."""
    if failure is not None or app.builder.format != "html":
        return
    lines = []
    for page in sorted(app.env.found_docs):
        if page.startswith(("reference/", "gallery/", "decisions/")):
            continue
        source = Path(app.env.doc2path(page))
        prose = re.split(r"\n\s*\n", source.read_text())
        first = next((" ".join(part.split()) for part in prose if re.match(r"[A-Z*\[]|`[^`]", part)), "")
        told = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", first).partition(". ")[0].rstrip(".:")
        lines.append(f"- [{app.env.titles[page].astext()}]({page}.html): {told}")
    Path(app.outdir, "llms.txt").write_text(LLMS + "\n".join(["## Pages", "", *lines, ""]))


def setup(app: Any) -> None:
    """Connect the above."""
    app.connect("builder-inited", write_reference)
    app.connect("source-read", lead_home)
    app.connect("autodoc-skip-member", skip)
    app.connect("build-finished", check_reference)
    app.connect("build-finished", write_llms)
