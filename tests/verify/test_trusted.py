"""What a verdict rests on: as little code as the rules declare, and nothing else is loaded."""

from __future__ import annotations

import ast
import copy
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest

import verify
from tests.verify.build import free_terms, optimal_sets
from tests.verify.corpus.accepted_cases import accepted
from tests.verify.cover.plant import planted
from tests.verify.score import entries, judged
from verify.__main__ import main
from verify.claims import CLAIMS, REFUTED, TABLES, Row, rows
from verify.facts import DUAL, VALUE, Fact, Facts, proved
from verify.problem.problem import Problem
from verify.rule import Rule
from verify.rules import FILES, NAMES, check_facts, extended, load
from verify.rules.value import Dual
from verify.text import Node
from verify.trusted import KINDS, closure, grounds, later, ways
from verify.trusted import table as trusted_table

pytestmark = pytest.mark.long

ROOT = Path(verify.__file__).parent
LIST = {"patterns", "dual", "primal", "value"}
COVER = {"cover", "primal", "value"}
FIGURES = {  # lines that a verdict rests on at most; and of code: no blank lines, docstrings, imports and comments
    ("optimal", frozenset(LIST)): (1_740, 955),
    ("optimal", frozenset({"leaders", "primal", "value"})): (1_500, 855),
    ("optimal", frozenset(COVER)): (1_800, 995),
    ("p-unique", frozenset({*COVER, "cover_set"})): (2_710, 1_485),
    ("p-unique", frozenset({"patterns", "lambda_max"})): (1_780, 995),
    ("p-unique", frozenset({*LIST, "optimal_set"})): (2_620, 1_415),
    ("p-unique", frozenset({*LIST, "exact_set"})): (2_420, 1_305),
    ("p-unique", frozenset({*LIST, "algebraic_set"})): (2_690, 1_475),
}
WHOLE, CODE = 14_400, 8_700  # all of it, likewise
LOADED = """
import json, sys
before = set(sys.modules)
import verify
verify.check(sys.stdin.buffer.read())
names = [name for name, module in sys.modules.items() if name not in before and hasattr(module, "__file__")]
own = [name for name in names if name.partition(".")[0] == "verify"]
others = {name.partition(".")[0] for name in names} - {"verify"} - sys.stdlib_module_names
print(json.dumps([sorted(sys.modules[name].__file__ for name in own), sorted(others)]))
"""


@pytest.mark.parametrize(("claim", "ground"), FIGURES)
def test_figures(claim: str, ground: frozenset[str]) -> None:
    """A verdict rests on few lines, and on python-flint alone; over a cover on numpy's integers, too."""
    assert ground in ways(claim, "relu")
    files, libraries = closure(claim, ground)
    text, code = FIGURES[claim, ground]
    assert sum(files.values()) <= text, files
    assert sum(lines_of_code((ROOT.parent / path).read_text()) for path in files) <= code, files
    assert libraries == (["flint", "numpy"] if "cover" in ground else ["flint"])


def test_the_whole_checker_does_not_grow() -> None:
    """All of it together, and what of it is code."""
    texts = [path.read_text() for path in ROOT.rglob("*.py")]
    assert sum(len(text.splitlines()) for text in texts) <= WHOLE
    assert sum(map(lines_of_code, texts)) <= CODE


def test_the_producer_stays_in_its_bounds() -> None:
    """At most 36,100 lines of code, with covers, leaders, free terms, bags, several outputs and formulas."""
    assert sum(lines_of_code(path.read_text()) for path in (ROOT.parent / "relu_cert").rglob("*.py")) <= 36_100


def lines_of_code(text: str) -> int:
    """Lines that are not blank, no comment, and no part of an import or of a docstring."""
    other = set()
    for node in ast.walk(ast.parse(text)):
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if docstring or isinstance(node, ast.Import | ast.ImportFrom):
            other |= {*range(node.lineno, (node.end_lineno or 0) + 1)}
    lines = enumerate(text.splitlines(), 1)
    return sum(k not in other and bool(line.strip()) and not line.lstrip().startswith("#") for k, line in lines)


def test_what_is_a_line_of_code() -> None:
    """Not what is there for the reader alone, nor what names other files."""
    text = '"""A.\n\nB."""\n\nimport os\n\n# why\nx = (\n    1  # one\n)\n\ndef f():\n    """Doc."""\n    return 1\n'
    assert lines_of_code(text) == 5


CASES: dict[str, Callable[[], Any]] = {
    "xor": lambda: json.loads(accepted("xor, planted").text),
    "a set": lambda: copy.deepcopy(optimal_sets.planted_set("line, R = 0").certificate),
    "an exact set": lambda: copy.deepcopy(optimal_sets.exact_set("line").certificate),
    "a cover": lambda: copy.deepcopy(planted("corner").certificate),
    "a cover with a plane": lambda: copy.deepcopy(planted("plane").certificate),
    "a cover with free biases": lambda: copy.deepcopy(free_terms.covered().certificate),
    "gated": lambda: json.loads(accepted("xor, planted, gated").text),
}
RESTING: list[tuple[str, str, set[str], set[str]]] = [  # and what is loaded besides, because this one has it
    *[("xor", "optimal", LIST, set()), ("xor", "patterns-complete", {"patterns"}, set())],
    *[("xor", "fit", {*LIST, "fit"}, set()), ("a set", "p-unique", {*LIST, "optimal_set"}, set())],
    *[("an exact set", "p-unique", {*LIST, "exact_set"}, set()), ("a cover", "optimal", COVER, set())],
    ("a cover", "p-unique", {*COVER, "cover_set"}, set()),
    ("a cover with a plane", "optimal", COVER, {"verify/cover/faces.py"}),
    ("a cover with free biases", "optimal", COVER, {"verify/cover/prisms.py", "verify/problem/variants.py"}),
    ("gated", "optimal", LIST, {"verify/problem/blocks.py", "verify/problem/variants.py"}),
]


@pytest.mark.parametrize(("name", "claim", "ground", "more"), RESTING)
def test_nothing_else_is_loaded(name: str, claim: str, ground: set[str], more: set[str]) -> None:
    """What is printed is what a fresh interpreter has loaded when it accepts such a certificate, file by file; of
    planes, free biases and gated networks what they need is loaded besides."""
    tree = CASES[name]()
    tree["facts"] = {key: fact for key, fact in tree["facts"].items() if key in ground}
    tree["claims"] = [one for one in tree["claims"] if one["claim"] == claim]
    assert tree["claims"]
    assert tree["facts"].keys() == ground
    assert "PROVED" in ways(claim, tree["problem"]["model"])[frozenset(ground)]
    command = [sys.executable, "-c", LOADED]
    run = subprocess.run(command, input=json.dumps(tree).encode(), capture_output=True, check=True, cwd=ROOT.parent)
    files, libraries = closure(claim, ground)
    assert json.loads(run.stdout) == [sorted(str(ROOT.parent / path) for path in {*files, *more}), libraries]
    assert more <= {*later(files)}


def test_what_is_loaded_later() -> None:
    """Files that only a function loads are named beside the others, and none that is there for types alone."""
    files, _ = closure("optimal", COVER)
    found = later(files)
    assert {
        "verify/cover/faces.py",
        "verify/cover/prisms.py",
        "verify/problem/variants.py",
        "verify/problem/data.py",
    } <= set(found)
    assert found == sorted(set(found)) and not set(found) & set(files)
    assert "verify/rules/path.py" not in found and "verify/numbers/coalitions.py" not in found
    assert "verify/network/__init__.py" in found


@pytest.mark.parametrize("claim", CLAIMS)
def test_every_claim_has_a_way(claim: str, capsys: pytest.CaptureFixture[str]) -> None:
    """For every claim something is printed: rules, files with their lines, the sum, libraries."""
    assert any(ways(claim, model) for model in KINDS)
    with pytest.raises(SystemExit) as ended:
        main(["--trusted", claim])
    assert not ended.value.code
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith(f"{claim} PROVED ")
    listed = [int(line.split()[0]) for line in told[1:] if line.endswith(".py")]
    sums = [int(line.split()[0]) for line in told if " lines in " in line]
    assert sum(" only where a certificate" in line for line in told) == len(sums)
    assert sum(listed) == sum(sums)


def test_the_table_is_that_of_the_format() -> None:
    """FORMAT.md lists every claim with its ways and its lines, up to 300: python -m verify --trusted all."""
    printed = [line.split(" | ") for line in trusted_table()]
    listed = [line.split(" | ") for line in (ROOT / "FORMAT.md").read_text().splitlines()]
    assert len(printed) == len(CLAIMS) + 2
    for line in printed[2:]:
        stated = next(other for other in listed if other[0] == line[0] and len(other) == len(line))
        assert (stated[1], stated[3]) == (line[1], line[3]), line[0]
        for k in (2, 4):
            here, there = (int(one[k].removesuffix(" |").replace(",", "")) for one in (line, stated))
            assert abs(here - there) <= 300, line[0]


def test_the_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """--trusted all prints it."""
    with pytest.raises(SystemExit):
        main(["--trusted", "all"])
    assert capsys.readouterr().out.splitlines() == list(trusted_table())


def test_unknown_claims() -> None:
    """They are wrong usage."""
    assert main(["--trusted", "truth"]) == verify.Usage.exit_code


def test_tables_hold_their_claims() -> None:
    """Each row stands in the table of its claim, every claim can be proved, and the facts of a row differ."""
    for table, claims in TABLES.items():
        for claim in claims:
            assert rows(claim, "PROVED"), (table, claim)
            for row in (*rows(claim, "PROVED"), *rows(claim, REFUTED)):
                assert len(set(row.rests)) == len(row.rests)


RELU = Problem("relu", Fraction(1), ((Fraction(1),),), (Fraction(1),))
VARIANTS = {
    "plain": RELU,
    "elastic": replace(RELU, delta=Fraction(1)),
    "logistic": replace(RELU, logistic=True),
}


class Declared(Facts):
    """Facts that note what is asked for."""

    asked: ClassVar[set[Fact[Any]]] = set()

    def get(self, fact: Fact[Any]) -> Any:
        """Noted."""
        self.asked.add(fact)
        return super().get(fact)

    def __getitem__(self, fact: Fact[Any]) -> Any:
        self.asked.add(fact)
        return super().__getitem__(fact)


def test_nothing_asks_for_more_than_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the whole corpus: a rule proves what it declares, and uses what rules before it prove or sharpen; a row of a
    claim uses what it rests on."""
    used: dict[str, set[Fact[Any]]] = {}

    def watched(facts: Facts, rule: Rule, problem: Problem, node: Node) -> Facts:
        Declared.asked.clear()
        found = rule.check(problem, Declared(facts.proved), node)
        used.setdefault(str(node.key), set()).update(Declared.asked)
        assert found.proved.keys() <= {*rule.proves, *rule.sharpens}, node.key
        return extended(facts, rule, problem, node)

    def says(row: Row, problem: Problem, facts: Facts, node: Node) -> str:
        Declared.asked.clear()
        said = row.says(problem, Declared(facts.proved), node)
        assert set(row.rests) >= Declared.asked, row.claim
        return said

    def watched_rows(claim: str, verdict: str) -> list[Row]:
        return [replace(row, says=partial(says, row)) for row in rows(claim, verdict)]

    monkeypatch.setattr(verify.rules, "extended", watched)
    monkeypatch.setattr(verify.claims, "rows", watched_rows)
    for entry in (entry for entry in entries() if entry.right):
        assert judged(entry.certificate.read_bytes(), None, None)[0], entry.certificate
    assert {"primal", "dual", "cover", "polytope", "faces", "network", "curve"} <= used.keys() <= set(NAMES)
    rules = {name: load(name, RELU) for name in NAMES}
    for name, asked in used.items():
        earlier = NAMES[: NAMES.index(name)]
        facts = asked.difference(rules[name].proves)  # that there is no other proof may be asked by each of them
        for other, rule in rules.items():
            before = facts & {*rule.proves} or facts.difference(rules[name].sharpens) & {*rule.sharpens}
            if before and other != name and rule.applies(RELU):
                assert other in earlier, (other, name)


def test_rules_are_checked_in_order() -> None:
    """Each has its place, after those that it rests on, and those that tell more come after the others."""
    assert len(set(NAMES)) == len(NAMES)
    assert set(NAMES) == {path.stem for path in (ROOT / "rules").glob("[a-z]*.py")}
    for variant, problem in VARIANTS.items():
        rules = {name: load(name, problem) for name in NAMES}
        for name, rule in rules.items():
            for other, earlier in rules.items():
                if {*rule.rests} & {*earlier.proves}:
                    assert NAMES.index(other) < NAMES.index(name), (variant, other, name)
    telling = ["optimal_set", "exact_set", "algebraic_set", "polytope", "min_norm", "faces", "derivatives"]
    assert sorted(telling, key=NAMES.index) == telling


def test_rules_of_variants_are_rules() -> None:
    """Each rule of delta > 0 and of the logistic loss takes the place of one of the same name."""
    for folder in ("elastic", "logistic"):
        assert FILES[folder]
        assert set(NAMES) >= FILES[folder]
        for name in FILES[folder]:
            assert load(name, VARIANTS[folder]) is not load(name, RELU)
    for key in ("elastic", "logistic", "elastic.dual", "__init__"):
        with pytest.raises(verify.Rejected, match="unknown key"):
            check_facts(RELU, Node({key: {}}))


def test_another_rule_of_the_same_fact() -> None:
    """A fact may be proved by one of several rules: what rests on it asks for the fact, not for the rule."""
    theta = (Fraction(0),)
    other = Rule((DUAL,), lambda problem, facts, node: proved(DUAL, Dual(theta)))
    rules = {"other": other, "primal": load("primal", RELU), "value": load("value", RELU)}
    assert grounds((VALUE,), rules, "relu") == {frozenset(rules)}
    both = {**rules, "dual": load("dual", RELU), "patterns": load("patterns", RELU)}
    assert grounds((VALUE,), both, "relu") == {frozenset(rules), frozenset(LIST)}


def test_what_later_files_load_is_named() -> None:
    """A direct problem with an exact set loads nothing that its closure and the files named beside it do not have."""
    text = (Path(__file__).parent / "corpus" / "accepted" / "exact_set-01.json").read_bytes()
    certificate = json.loads(text)
    done = subprocess.run([sys.executable, "-c", LOADED], input=text, cwd=ROOT.parent, capture_output=True, check=True)
    loaded = {Path(name).relative_to(ROOT.parent).as_posix() for name in json.loads(done.stdout)[0]}
    files = {name for one in certificate["claims"] for name in closure(one["claim"], certificate["facts"])[0]}
    assert loaded - files and loaded <= {*files, *later(files)}
