"""The page of closed forms says what the program prints."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "closed_forms.md"


def test_the_page_is_what_the_program_prints() -> None:
    """Ten worked data sets, each block run in order, its formulas compared letter by letter."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 11
    names: dict[str, object] = {}
    for i, block in enumerate(blocks):
        test = doctest.DocTestParser().get_doctest(block, names, f"block {i}", str(PAGE), 0)
        runner = doctest.DocTestRunner(verbose=False)
        runner.run(test, clear_globs=False)
        names = test.globs
        assert runner.summarize(verbose=False) == (0, len(test.examples)), block
