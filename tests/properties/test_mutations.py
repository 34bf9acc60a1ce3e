"""The checks can fail: every broken line of four claims' check code changes a verdict.

Each mutant is the claim's module with one comparison, connective or operation turned round, loaded under another
name and run like the claim itself. A mutant is caught if its ledger entry has a problem or another verdict than the
claim.
"""

from __future__ import annotations

import ast
import copy
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

from properties.model import Claim
from properties.run import Entry, run_claim

TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
CLAIMS = ["lemma_unique_cgl", "lemma_unique_fit_cgl", "max_l2_program", "prop_minimal_solutions"]


def turn(node: ast.AST) -> bool:
    """Turn one node round in place; False if there is nothing to turn."""
    if isinstance(node, ast.Compare):
        node.ops[0] = TURNED[type(node.ops[0])]()
    elif isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        node.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
        node.op = ast.Div() if isinstance(node.op, ast.Mult) else ast.Mult()
    else:
        return False
    return True


def mutants(name: str) -> list[tuple[str, ast.Module]]:
    """One tree per node of the module's functions (strategies apart) that can be turned, with the line broken."""
    source = Path(str(import_module(f"properties.claims.{name}").__file__)).read_text()
    tree = ast.parse(source)
    checks = [f for f in tree.body if isinstance(f, ast.FunctionDef) and not f.decorator_list]
    places = [(f.name, i) for f in checks for i, _ in enumerate(ast.walk(f))]
    out = []
    for function, index in places:
        changed = copy.deepcopy(tree)
        target = next(f for f in changed.body if isinstance(f, ast.FunctionDef) and f.name == function)
        node = list(ast.walk(target))[index]
        if turn(node):
            line = source.splitlines()[getattr(node, "lineno", 1) - 1].strip()
            out.append((f"{function}: {line}", ast.fix_missing_locations(changed)))
    return out


def run_tree(name: str, tree: ast.Module) -> Entry:
    """The ledger entry of a changed module."""
    spec = spec_from_loader(f"properties.claims.{name}", loader=None)
    assert spec is not None
    module = module_from_spec(spec)
    exec(compile(tree, f"<mutant of {name}>", "exec"), module.__dict__)
    claim = module.__dict__["CLAIM"]
    assert isinstance(claim, Claim)
    return run_claim(claim, 25, shrink=False)


def caught(name: str, tree: ast.Module, expected: Entry) -> bool:
    """The mutant shows: a problem, another verdict, or a crash."""
    try:
        entry = run_tree(name, tree)
    except (ArithmeticError, TypeError, ValueError, IndexError):
        return True
    return bool(entry.problems) or entry.printed.verdict != expected.printed.verdict


@pytest.mark.parametrize("name", CLAIMS)
def test_every_broken_line_is_noticed(name: str) -> None:
    """No mutant of the check functions survives."""
    expected = run_claim(import_module(f"properties.claims.{name}").CLAIM, 25)
    assert not expected.problems
    found = mutants(name)
    assert len(found) >= 1
    survivors = [line for line, tree in found if not caught(name, tree, expected)]
    assert survivors == []


if __name__ == "__main__":
    for claim_name in sys.argv[1:]:
        for broken_line, changed_tree in mutants(claim_name):
            original = run_claim(import_module(f"properties.claims.{claim_name}").CLAIM, 25)
            print(claim_name, caught(claim_name, changed_tree, original), broken_line)
