"""The checker stands alone: what it imports, and what it never does."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import verify

SOURCES = sorted(Path(verify.__file__).parent.rglob("*.py"))
ALLOWED = {*sys.stdlib_module_names, "flint", "sympy", "verify"}
EXACT_MATH = {"ceil", "comb", "floor", "gcd", "isqrt", "lcm", "prod"}


def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a source file."""
    return ast.parse(path.read_text(), str(path))


def test_there_are_sources() -> None:
    """The scan below scans something."""
    assert {"patterns.py", "multipliers.py", "__main__.py"} <= {path.name for path in SOURCES}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_imports(path: Path) -> None:
    """Nothing of the producer: the standard library, exact matrices, and the checker itself; arrays of 64-bit and of
    Python's integers (numpy) where covers are checked, and nowhere else."""
    covers = path.parent.name == "cover" or path.name == "cover_set.py"
    for node in ast.walk(tree_of(path)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            assert "math" not in names, f"line {node.lineno}: name what is used of math"
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: a relative import"
            names = [node.module or ""]
            if node.module == "math":
                assert {alias.name for alias in node.names} <= EXACT_MATH, f"line {node.lineno}"
        for name in names:
            assert name.partition(".")[0] in ALLOWED | ({"numpy"} if covers else set()), name
            assert name not in ("cmath", "random", "statistics", "importlib"), name
            assert name != "pkgutil" or path.name == "__init__.py", "only the two loops load rules and tables"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_no_assert_no_float(path: Path) -> None:
    """No assert (python -O strips it), no float literal, no float(), no complex, no rounding, no eval."""
    for node in ast.walk(tree_of(path)):
        where = f"{path.name}, line {getattr(node, 'lineno', '?')}"
        assert not isinstance(node, ast.Assert), where
        if isinstance(node, ast.Constant):
            assert not isinstance(node.value, float | complex), where
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("float", "complex", "round", "eval", "exec", "__import__"), where
