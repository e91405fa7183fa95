"""``appletaste --cite``: how to cite the software, and the paper that it starts from, in BibTeX (CITATION.cff)."""

from __future__ import annotations

from .. import __version__

PAPER = """\
@article{grant2021apple,
  title = {Apple Tasting Revisited: Bayesian Approaches to Partially Monitored Online Binary Classification},
  author = {Grant, James A. and Leslie, David S.},
  year = {2021},
  eprint = {2109.14412},
  archiveprefix = {arXiv},
}
"""
SOFTWARE = """\
@software{appletaste,
  title = {appletaste: deciding which items to act on when the true label is seen only if you act},
  author = {{The appletaste developers}},
  version = {VERSION},
  license = {MIT},
}
"""


def bibtex() -> str:
    """Return both entries.

    Examples
    --------
    >>> print(bibtex().splitlines()[0])
    @article{grant2021apple,
    """
    return PAPER + "\n" + SOFTWARE.replace("VERSION", __version__).rstrip()
