"""``appletaste --cite`` says what CITATION.cff says."""

import re
from pathlib import Path

import yaml

import appletaste as at
from appletaste.cli.main import main

CFF = yaml.safe_load((Path(__file__).parents[2] / "CITATION.cff").read_text())


def test_bibtex_is_what_the_file_says(capsys):
    assert main(["--cite"]) == 0
    told = capsys.readouterr().out
    assert told.count("{") == told.count("}")
    paper, software = (dict(re.findall(r"^  (\w+) = \{+(.*?)\}+,$", part, re.M)) for part in told.split("\n\n"))
    cited = CFF["preferred-citation"]
    assert paper["title"] == cited["title"]
    assert paper["author"] == " and ".join(f"{one['family-names']}, {one['given-names']}" for one in cited["authors"])
    assert paper["year"] == str(cited["year"])
    assert f"arXiv:{paper['eprint']}" == cited["identifiers"][0]["value"]
    assert software["title"] == CFF["title"]
    assert software["author"] == CFF["authors"][0]["name"]
    assert (software["version"], software["license"]) == (at.__version__, CFF["license"])
