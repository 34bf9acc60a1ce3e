"""Sphinx: `python -m sphinx docs build/docs` makes a site that needs no network, neither to build nor to read."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from relu_cert import __version__  # noqa: E402
from relu_cert.words import CLAIMS, NETWORK_CLAIMS, SOLUTION_CLAIMS, WORDS, ClaimWord  # noqa: E402

project, author, release = "relu_cert", "the relu_cert authors", __version__
project_copyright = "BSD-3-Clause"
extensions = ["myst_nb", "sphinx.ext.autodoc"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
nb_execution_mode = "off"  # the stored outputs are compared with a run by the tests
exclude_patterns = ["build"]
html_theme = "alabaster"
html_static_path = ["static"]  # custom.css, which the theme loads
html_theme_options = {
    "description": "Global optima of two-layer ReLU networks, with proofs",
    "font_family": "sans-serif",
}
html_show_sourcelink = False
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_default_options = {"members": True, "show-inheritance": False}
suppress_warnings = ["myst.header", "myst.xref_missing", "docutils", "ref.python"]
toc_object_entries = False


def glossary() -> str:
    """The page of all words, from the list that `explain` prints."""
    lines = ["# Glossary", "", "`python -m relu_cert explain NAME` prints any of these.", ""]
    for title, entries in (
        ("Claims", CLAIMS),
        ("Claims about a given network", NETWORK_CLAIMS),
        ("Claims about given coefficients", SOLUTION_CLAIMS),
    ):
        lines += [f"## {title}", ""]
        for claim in entries:
            lines += [f"**{claim.name}**", "", claim.meaning, "", *_more(claim), ""]
    lines += ["## Words", ""]
    for word in WORDS:
        lines += [f"`{word.name}`", f": {word.meaning}", ""]
    return "\n".join(lines)


def _more(claim: ClaimWord) -> list[str]:
    return [f"- why: {claim.why}", f"- paper: `{claim.paper}`", f"- evidence: {claim.evidence}."]


myst_enable_extensions = ["deflist"]
(HERE / "glossary.md").write_text(glossary(), encoding="utf-8")
