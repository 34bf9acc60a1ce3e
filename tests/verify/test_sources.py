"""The checker stands alone: what it imports, and what it never does."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import verify

SOURCES = sorted(Path(verify.__file__).parent.rglob("*.py"))
ALLOWED = {*sys.stdlib_module_names, "flint", "sympy", "verify"}
# 64-bit integers with proved bounds, and arrays of Python's integers
ARRAYS = {"cover/lines.py", "cover/strict.py", "outputs/check.py", "outputs/descent.py", "outputs/rounded.py"}
TYPES = {"np.int64", "np.uint8", "object", "bool"}
CHOSEN = {  # names that stand for one of two of these
    "outputs/descent.py": {
        "kind": "np.int64 if LONGEST_SHARES * widest < LARGEST else object",
        "whole": "np.int64 if LONGEST_SHARES * max(widest, total) < LARGEST else object",
    },
}
MAKE_ARRAYS = {"array", "zeros", "ones", "empty", "full", "frombuffer", "arange"}
EXACT_MATH = {"ceil", "comb", "floor", "gcd", "isqrt", "lcm", "prod"}


def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a source file."""
    return ast.parse(path.read_text(), str(path))


def test_there_are_sources() -> None:
    """The scan below scans something."""
    assert {"patterns.py", "multipliers.py", "__main__.py"} <= {path.name for path in SOURCES}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_imports(path: Path) -> None:
    """Nothing of the producer: the standard library, exact matrices, and the checker itself; numpy where arrays are."""
    allowed = ALLOWED | {"numpy"} if f"{path.parent.name}/{path.name}" in ARRAYS else ALLOWED
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
            assert name.partition(".")[0] in allowed, name
            assert name not in ("cmath", "random", "statistics", "importlib"), name
            loads = path.name in ("__init__.py", "statements.py")
            assert name != "pkgutil" or loads, "only rules, tables and refutations are loaded by name"


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


@pytest.mark.parametrize("name", sorted(ARRAYS))
def test_arrays_hold_integers(name: str) -> None:
    """Every array is made with its type, of integers (or truths), and nothing is divided but by // and divmod."""
    tree = tree_of(Path(verify.__file__).parent / name)
    chosen, made = CHOSEN.get(name, {}), {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            made |= assigned(node)
    assert {word: made.get(word) for word in chosen} == chosen
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp):
            assert not isinstance(node.op, ast.Div), f"{name}, line {node.lineno}"
        if isinstance(node, ast.Call) and ast.unparse(node.func).removeprefix("np.") in MAKE_ARRAYS:
            types = [ast.unparse(word.value) for word in node.keywords if word.arg == "dtype"]
            counted = ast.unparse(node.func) == "np.arange" and ast.unparse(node.args[0]).startswith("len(")
            assert types or counted, f"{name}, line {node.lineno}"
            kept = not types or types[0] in TYPES | chosen.keys() or types[0].endswith(".dtype")
            assert kept, f"{name}, line {node.lineno}"


def assigned(node: ast.Assign) -> dict[str, str]:
    """Names and what they are set to, pair by pair."""
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = list(zip(target.elts, value.elts, strict=True))
    else:
        pairs = [(target, value)]
    return {ast.unparse(name): ast.unparse(to) for name, to in pairs}
