"""Make the notebooks from their cells, with the outputs of a fresh run: `python docs/notebooks/make.py [NAME ...]`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent
CELL = re.compile(r"^# %%(?P<kind> \[markdown\])?\n", re.MULTILINE)


def cells(source: str) -> list[nbformat.NotebookNode]:
    """The cells of a script in the percent format."""
    marks = [*CELL.finditer(source)]
    made = []
    for mark, end in zip(marks, [*(m.start() for m in marks[1:]), len(source)], strict=True):
        text = source[mark.end() : end].strip("\n")
        if mark["kind"]:
            made.append(nbformat.v4.new_markdown_cell(re.sub(r"^# ?", "", text, flags=re.MULTILINE)))
        else:
            made.append(nbformat.v4.new_code_cell(text))
    for number, cell in enumerate(made):
        cell["id"] = f"cell-{number}"
    return made


def joined(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """The same outputs; what was printed in several parts, by chance, is one."""
    found: list[nbformat.NotebookNode] = []
    for one in outputs:
        if found and one.output_type == "stream" == found[-1].output_type and one.name == found[-1].name:
            found[-1].text += one.text
        else:
            found.append(one)
    return found


def make(name: str) -> None:
    """Run one script and write its notebook."""
    notebook = nbformat.v4.new_notebook(cells=cells((HERE / f"{name}.py").read_text(encoding="utf-8")))
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = joined(cell.outputs)
    notebook.metadata.pop("language_info", None)
    nbformat.write(notebook, HERE / f"{name}.ipynb")


if __name__ == "__main__":
    for one in sys.argv[1:] or sorted(path.stem for path in HERE.glob("*.py") if path.stem != "make"):
        make(one)
