"""The project keeps its own word: public names, documents, commands, and kernels that run as plain Python."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from bench.__main__ import BENCHES

import appletaste as at
from appletaste import errors
from appletaste.policies import POLICIES
from appletaste.problems import PROBLEMS

ROOT = Path(__file__).parent.parent.parent
PUBLIC = [
    "AppleTasteError",
    "Audit",
    "Budget",
    "Costs",
    "CostsByItem",
    "Decision",
    "DecisionLog",
    "Desk",
    "Encoder",
    "FeatureMap",
    "Key",
    "Policy",
    "Stream",
    "connect",
    "explain",
    "list_policies",
    "load",
    "load_policy",
    "missed",
    "plan_audit",
    "play",
    "policy",
    "problem",
    "random_polyagamma",
    "read_records",
    "replay",
    "replicate",
    "what_if",
    "write_report",
]


def test_public_names_are_these_and_load():
    assert sorted(at.__all__) == PUBLIC
    for name in PUBLIC:
        assert getattr(at, name) is not None
    assert len(at.__all__) <= 29
    rooms = {path.parent.name for path in (ROOT / "src" / "appletaste").glob("*/__init__.py")}
    assert set(dir(at)) == {"__version__", *PUBLIC, *(rooms - {"cli", "kernels", "pages"}), "decision", "errors"}
    assert all(getattr(at, room).__doc__ for room in at.ROOMS)
    with pytest.raises(AttributeError, match="nothing"):
        _ = at.nothing
    assert len(at.list_policies()) == len(POLICIES)


def test_what_type_checkers_see_is_what_is_loaded():
    source = (ROOT / "src" / "appletaste" / "__init__.py").read_text()
    seen = re.findall(r"^    from \.(\w+) import (\w+) as (\w+)$", source, re.M)
    assert {name: module for module, name, _ in seen} == at._MODULE_OF
    assert all(name == other for _, name, other in seen)


def test_documents_name_everything():
    readme = (ROOT / "README.md").read_text()
    paper = (ROOT / "docs" / "paper.md").read_text()
    assert "make demo" in readme
    assert "make test" in readme
    assert all(f"`{name}`" in (ROOT / "docs" / "which-policy.md").read_text() for name in POLICIES)
    assert len(re.sub(r"<!--.*?-->", "", readme).split()) <= 900  # a door, and not the house
    assert all(name in paper for name in PROBLEMS)
    assert at.__version__ in (ROOT / "CHANGELOG.md").read_text()


def test_documents_name_targets_that_exist():
    """At most seventeen targets, all of them in CONTRIBUTING.md, and no page names another, nor another bench."""
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^([a-z-]+):", makefile, re.M)
    assert len(targets) <= 17
    assert sorted(targets) == sorted(re.search(r"^\.PHONY: (.*)$", makefile, re.M)[1].split())
    contributing = (ROOT / "CONTRIBUTING.md").read_text()
    assert [target for target in targets if f"make {target}" not in contributing] == []
    for page in DOCUMENTS:
        code = " ".join(re.findall(r"`[^`]+`|^```.*?^```", (ROOT / page).read_text(), re.S | re.M))
        assert set(re.findall(r"\bmake ([a-z-]+)", code)) <= set(targets), page
        assert set(re.findall(r"\bmake bench\s+ARGS='?([a-z-]+)", code)) <= {*BENCHES, "--help"}, page


PAGES = [
    "README.md",
    *(f"docs/{page}.md" for page in ("features", "streams", "replay", "decision-log", "drift", "missed", "ecosystem")),
    *(f"docs/{page}.md" for page in ("save-format", "report", "service", "scale", "tour", "curves", "which-policy")),
]
DOCUMENTS = [
    "README.md",
    "CONTRIBUTING.md",
    *(str(page.relative_to(ROOT)) for page in sorted(ROOT.glob("docs/**/*.md"))),
]


@pytest.mark.parametrize("page", PAGES)
def test_python_in_pages_runs(page, tmp_path, monkeypatch):
    """Block after block, as a reader would type them."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S)
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)


def test_python_of_the_readme_passes_strict_types(tmp_path):
    """All blocks as one program; a wrong type in it is found."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert len(blocks) == 2
    environment = {**os.environ, "MYPYPATH": str(ROOT / "src")}
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file",
        os.devnull,
        "--cache-dir",
        str(tmp_path / "c"),
    ]
    command += ["--follow-imports", "silent"]
    for name, program, code in (("right", "\n".join(blocks), 0), ("wrong", f"{blocks[0]}policy.seed: int = 'a'\n", 1)):
        path = tmp_path / f"{name}.py"
        path.write_text(program)
        found = subprocess.run([*command, path], capture_output=True, text=True, env=environment, cwd=tmp_path)
        assert found.returncode == code, found.stdout + found.stderr


def named_files(page):
    """Return the Python files that a page names in backticks, whole or before a colon and what is in them."""
    return set(re.findall(r"`([\w./]+\.py)\b", (ROOT / page).read_text()))


def test_the_tour_is_of_one_hour():
    """At most sixty files, each of which exists, and every room among them or in a paragraph."""
    named = named_files("docs/tour.md")
    assert 40 <= len(named) <= 60
    tour = (ROOT / "docs" / "tour.md").read_text()
    rooms = {path.parent.name for path in (ROOT / "src" / "appletaste").glob("*/__init__.py")}
    assert all(f"`{room}/" in tour for room in rooms)


@pytest.mark.parametrize("page", DOCUMENTS)
def test_documents_name_files_that_exist(page):
    folders = (ROOT / "src" / "appletaste", ROOT)
    assert [name for name in named_files(page) if not any((folder / name).is_file() for folder in folders)] == []
    links = re.findall(r"\]\(([\w./-]+)(?:#[\w-]*)?\)", (ROOT / page).read_text())
    assert [link for link in links if not (ROOT / page).parent.joinpath(link).exists()] == []


def test_anchors_of_links_exist():
    """A link to a heading, in the same page or another, leads to one."""
    for page in DOCUMENTS:
        for target, anchor in re.findall(r"\]\(([\w./-]*)#([\w-]+)\)", (ROOT / page).read_text()):
            text = (ROOT / page).parent.joinpath(target).read_text() if target else (ROOT / page).read_text()
            headings = re.findall(r"^#+ (.*)$", text, re.M)
            slugs = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert anchor in slugs, (page, target, anchor)


def test_the_glossary_is_alphabetical_and_short():
    glossary = (ROOT / "docs" / "glossary.md").read_text()
    rows = re.findall(r"^\| \*\*([\w -]+)\*\* \| (.*?) \| (.*) \|$", glossary, re.M)
    words = [word for word, _, _ in rows]
    assert words == sorted(words)
    assert {"item", "act", "pass", "label", "lane", "floor", "stand-in", "settled", "by design", "fold"} <= set(words)
    for word, meaning, more in rows:
        assert len(re.findall(r"[.]( |$)", meaning)) <= 2, word
        assert "](" in more, word
    from appletaste.records.events import STATES

    assert all(f"| `{state}` |" in glossary for state in STATES)
    assert all("glossary.md" in (ROOT / page).read_text() for page in ("README.md", "docs/guide.md"))


def test_concepts_have_a_line_for_every_room():
    concepts = (ROOT / "docs" / "concepts.md").read_text()
    rooms = {path.parent.name for path in (ROOT / "src" / "appletaste").glob("*/__init__.py")}
    assert set(re.findall(r"^\| `(\w+)` \| [a-zA-Z ]", concepts.split("## Rooms")[1], re.M)) == rooms


def test_every_error_is_of_one_family():
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, BaseException)]
    assert len(kinds) > 15
    assert all(issubclass(kind, errors.AppleTasteError | Warning) for kind in kinds)
    told = str(errors.MissingExtraError("drawing", "plot"))
    assert told.endswith("pip install 'appletaste[plot]', or in the folder of a clone: pip install '.[plot]'")


def test_the_extra_of_the_guide_reads_data_frames_and_parquet():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {*extras["frames"], *extras["parquet"]} <= {*extras["plot"]}


def test_missing_extras_are_named(monkeypatch):
    from appletaste.pages import charts as plots
    from appletaste.simulate import runs

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(errors.MissingExtraError, match=r"appletaste\[plot\]"):
        plots.require_pyplot()
    with pytest.raises(errors.MissingExtraError, match=r"appletaste\[plot\]"):
        runs.require_pyarrow()


INTERPRETED = """
import appletaste as at, numpy as np
table = at.problem("i", rounds=6).draw(at.Key(3))
print(*at.random_polyagamma([0.0, 0.3, 2.0, -13.9, 20.0, 900.0] * 3, seed=4), sep=",")
bounded = {"prior": at.posteriors.Gaussian(region=at.posteriors.Ball(0.5))}
mixed, early = {"rao_blackwell": True, "sweeps": 2}, {"switch": 2, "sweeps": 2}
plain = [("pg-ts", {}), ("pg-ids", {}), ("greedy", {})]
for name, options in (*plain, ("pg-ts", bounded), ("pg-ids", mixed), ("exact-ids", early)):
    trace = at.play(at.policy(name, n_features=5, costs=table.costs, seed=2, **options), table)
    print(*trace.probability, sep=",")
"""


def test_interpreted_kernels_are_the_specification():
    """The same numbers from plain Python as from compiled code, sums of another order aside."""
    outputs = []
    for disabled in ("0", "1"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": disabled}
        found = subprocess.run(
            [sys.executable, "-c", INTERPRETED], capture_output=True, text=True, check=True, env=environment
        )
        outputs.append([[float(value) for value in line.split(",")] for line in found.stdout.splitlines()])
    compiled, interpreted = outputs
    assert len(compiled) == 7
    for one, two in zip(compiled, interpreted, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-9)


def test_announcement_of_the_first_compilation(tmp_path):
    """In a fresh cache the first policy says that it compiles; it does not say so again."""
    script = "import appletaste as at; at.random_polyagamma([1.0]); at.random_polyagamma([1.0])"
    said = []
    for _ in range(2):
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        found = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
        )
        said.append(found.stderr.count("compiling"))
    assert said == [1, 0]


def test_fingerprints_cover_what_is_imported():
    """What a process has in memory after importing what plays, kernels' tables included; and nothing by hand."""
    from appletaste.paper.results import DECISIVE
    from appletaste.paper.sources import ROOT as SOURCE
    from appletaste.paper.sources import Sources

    script = (
        "import sys; from importlib import import_module\n"
        f"for name in {DECISIVE!r}: import_module(name)\n"
        "print(*(m.__file__ for n, m in sys.modules.items() if n.startswith('appletaste.')), sep='\\n')"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    covered = Sources().files(*DECISIVE)
    assert {Path(line) for line in found.stdout.split()} <= covered
    assert SOURCE / "kernels" / "ziggurat.npy" in covered
    assert SOURCE / "cli" / "main.py" not in covered


def loose_actions(text):
    """Return the actions of a workflow that are not pinned: a commit of 40 digits, and its version beside it."""
    return [
        used
        for used in re.findall(r"uses:\s*(.*)", text)
        if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}  # v[\d.]+", used)
    ]


def test_workflows_run_what_everybody_runs_with_pinned_actions():
    texts = [path.read_text() for path in (ROOT / ".github" / "workflows").glob("*.yml")]
    assert any("run: .ci/run" in text for text in texts)
    assert sum(text.count("uses:") for text in texts) >= 6
    assert [loose_actions(text) for text in texts] == [[]] * len(texts)
    assert loose_actions("      - uses: actions/checkout@v4\n")  # the control: a tag may be moved
