"""A sentence says no more than the certificate does: statements of all commands beside the verdicts that they need."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from relu_cert.claims.claim import Result, Verdict
from relu_cert.path.pieces import PathPieces
from relu_cert.report import terminal
from relu_cert.report.headline import of_path
from tests.cli.run import run
from tests.report.drawn import command
from tests.report.sentences import judged
from tests.report.statements import of_page, of_text

SEVEN = "a,b,y\n-5,9,-4\n-1,-6,2\n5,6,5\n3,-3,-4\n6,-9,1\n4,-9,2\n-1,-2,4\n"
LEVEL = "x,y\n1,1\n2,2\n3,3\n5,1\n"
FILES = {
    "d.csv": "x,y\n1,1\n2,3\n-1,2\n",
    "two.csv": "a,b,y\n1,0,1\n0,1,-1\n1,1,1\n-1,1,-1\n-1,-2,1\n",
    "zero.csv": "x,y\n1,0\n2,0\n-1,0\n",
    "seven.csv": SEVEN,
    "level.csv": LEVEL,
    "n.json": json.dumps({"W1": [[1], [1]], "w2": [1, 1]}),
    "b.json": json.dumps({"W1": [[1, 2], [1, -1], [2, 2]], "w2": [1, 1, -1], "b2": 1}),
    "near.json": json.dumps({"W1": [[1], [-1]], "w2": [1, 1]}),
    "dup.csv": "a,b,y\n1,2,3\n1,2,3\n1,2,5\n2,1,0\n",
    "sym.csv": "a,b,y\n1,0,1\n0,1,1\n-1,0,1\n0,-1,1\n",
    "sep.csv": "a,b,y\n1,0,1\n2,1,1\n-1,0,0\n-2,1,0\n",
    "three.csv": "a,b,y\n1,2,red\n2,1,green\n3,3,blue\n4,1,red\n",
    "targets.csv": "a,b,u,v\n1,2,1,0\n2,1,0,3\n-1,1,2,2\n",
    "sets.csv": "who,a,b,y\n1,1,2,1\n1,-1,1,1\n2,2,1,-1\n3,0,1,2\n",
    "waves.csv": "a,b,c,y\n1,2,0,1\n0,1,1,-1\n2,0,1,2\n",
    "w.txt": "1 0",
    "one.txt": "0",
    "w0.txt": "0 0",
    "zero.json": json.dumps({"W1": [[0]], "w2": [0]}),
    "outputs.json": json.dumps({"W1": [[1, 2], [2, -1]], "w2": [[1, 2], [0, 1], [1, 1]]}),
    "biased.json": json.dumps({"W1": [[1, 2], [2, -1]], "w2": [[1, 2], [0, 1]], "b2": [1, -1]}),
    "leaky.json": json.dumps({"W1": [[1, 2], [2, -1]], "w2": [1, -1], "slope": "1/10"}),
    "two.json": json.dumps({"W1": [[1, 2], [2, -1]], "w2": [1, -1]}),
}
COMMANDS = (
    "check --example xor",
    "check --example twins",
    "check --example cube --all",
    "check --example conjecture",
    "check --example conjecture-relu",
    "check --example gated-conjecture --model gated",
    "check d.csv --lambda 100",
    "check d.csv --lambda 100 --claims optimal",
    "check zero.csv --lambda 1",
    "check d.csv --claims fit",
    "check d.csv --claims p-unique",
    "check d.csv --lambda 1/2 --claims optimal",
    "check --example xor --claims p-unique",
    "check d.csv --lambda 1/2 --patterns 1",
    "check two.csv --patterns 3 --seed 2",
    "check two.csv --loss logistic",
    "check two.csv --l2 1/10",
    "check two.csv --free output-bias --all",
    "check two.csv --free skip,output-bias",
    "check level.csv --free output-bias,biases --lambda 1/4",
    "check seven.csv --free output-bias,biases --lambda 2",
    "check two.csv --interval 1/2,1",
    "check two.csv --noise 1",
    "check wide.csv --seconds 1",
    "path --example line --from 1/2",
    "path seven.csv --bias --from 1/100 --to 1",  # "there is more than one of them; proved", where it is one
    "path --example conjecture",
    "path --example conjecture-relu",
    "path --example twins",
    "network n.json d.csv --lambda 1/2",
    "network n.json d.csv --lambda 100",
    "network near.json d.csv --lambda 1/2",
    "network b.json two.csv --lambda 1/2 --free output-bias",
    "network b.json two.csv --lambda 1/2 --bias --output-bias neuron",
    "check dup.csv --lambda 1/2",
    "check sym.csv --lambda 0.1max --exact",
    "check sep.csv --loss logistic --free output-bias --lambda 1/4",
    "check three.csv --classes y --lambda 1/2",
    "check three.csv --classes y --lambda 1/2 --loss softmax",
    "check three.csv --classes y --lambda 100",
    "check three.csv --classes y --lambda 1/2 --decayed-bias --bias",
    "check targets.csv --target u,v --free output-bias --lambda 1/2",
    "check targets.csv --target u,v --free output-bias,skip --lambda 1/2",
    "check sets.csv --bags who --lambda 1/4",
    "check sets.csv --bags who --pool sum --lambda 1/4 --free output-bias",
    "check waves.csv --conv 1d:2 --lambda 1/4",
    "check two.csv --slope 1/10 --lambda 1/4",
    "check sym.csv --slope 1/10 --lambda 0.5max",
    "check two.csv --slope -1 --lambda 1/4 --loss logistic",
    "check two.csv --decayed-bias --lambda 1/4",
    "path sym.csv --from 1/10",
    "path --example cube --from 1/2",
    "path --example checkerboard --from 1/2",
    "path dup.csv --from 0.5max --to 20abs",
    "path waves.csv --conv 1d:2 --from 1/2",
    "path two.csv --slope 1/10 --from 1/2",
    "network zero.json d.csv --lambda 100",
    "network outputs.json three.csv --classes y --lambda 1",
    "network outputs.json three.csv --classes y --lambda 1 --loss softmax",
    "network biased.json targets.csv --target u,v --penalty pytorch --lambda 1/10",
    "network b.json two.csv --penalty pytorch --lambda 1/10",
    "network b.json two.csv --penalty pytorch --no-decay b2 --lambda 1/10",
    "network b.json two.csv --penalty sklearn --lambda 1",
    "network leaky.json two.csv --lambda 1/2",
    "network two.json sep.csv --loss logistic --penalty pytorch --lambda 1/10",
    "network two.json sets.csv --bags who --lambda 1/4",
    "network two.json waves.csv --conv 1d:2 --lambda 1/4",
    "solution w.txt two.csv --lambda 1/2",
    "solution w0.txt two.csv --lambda 100",
    "solution w.txt two.csv --average --intercept --lambda 1/10",
    "solution w.txt two.csv --groups 2 --lambda 1/2",
    "prune d.csv --network n.json --lambda 1/2",
    "prune two.csv --lambda 1/10",
    "prune zero.csv --lambda 1",
    "prune sets.csv --bags who --lambda 1/4",
    "explore d.csv --validation d.csv --test d.csv --lambda 1/2",
    "explore --example twins --validation two.csv --test two.csv --lambda 1",
    "check sep.csv --loss logistic --decayed-bias --lambda 1/4",
    "check sep.csv --loss logistic --free output-bias,skip --lambda 1/100",
    "network two.json sep.csv --loss logistic --penalty sklearn --bias --lambda 1/10",
    "check two.csv --claims min-norm --interval 0.5max,2max",  # the page told a path that no claim was about
    "check d.csv --claims strict-complementarity --lambda 1",  # the page told derivatives, likewise
    "path d.csv --from 0.3max --to 0.95max --exact",
    "solution one.txt zero.csv --lambda 1/10",
)
SHORT = (  # one of each kind; the others are for the long run
    "check two.csv --claims min-norm --interval 0.5max,2max",
    "check three.csv --classes y --lambda 100",
    "network outputs.json three.csv --classes y --lambda 1",
    "solution w.txt two.csv --lambda 1/2",
    "check --example xor",
    "check --example twins",
    "check d.csv --lambda 100 --claims optimal",
    "check --example xor --claims p-unique",
    "path --example line --from 1/2",
    "network n.json d.csv --lambda 1/2",
    "prune d.csv --network n.json --lambda 1/2",
    "explore --example twins --validation two.csv --test two.csv --lambda 1",
)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Files are written into a folder of their own, and lines are not broken."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(terminal, "PLAIN", 100_000)
    for name, text in FILES.items():
        Path(name).write_text(text)
    draw = random.Random(1)
    rows = [",".join(str(draw.randint(-9, 9)) for _ in range(15)) for _ in range(24)]
    Path("wide.csv").write_text("\n".join([",".join([*(f"x{j}" for j in range(14)), "y"]), *rows]) + "\n")


def certificate(asked: str) -> dict[str, str]:
    """The verdicts of the certificate that a command wrote, or, of explore, of the one that its page names."""
    if asked.startswith("prune"):
        return {}
    if asked.startswith("explore"):
        data = asked.split(" --validation", maxsplit=1)[0].removeprefix("explore ")
        again = (*data.split(), "--lambda", asked.rsplit(maxsplit=1)[-1])
        assert run("check", *again, "--certificate", "c.json", "--force").code == 0
    content = json.loads(Path("c.json").read_text())
    return {one["claim"]: one["verdict"] for one in content["claims"]}


def statements(asked: str) -> Iterator[tuple[str, str]]:
    """What the terminal and the page say; the command has the checker accept its certificate."""
    own = [] if asked.startswith(("prune", "explore")) else ["--certificate", "c.json"]
    ran = run(*asked.split(), "--quiet", "--html", "p.html", *own)
    assert ran.code == 0, ran.err
    yield from of_text(ran.out)
    yield from of_page(Path("p.html").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "asked", [pytest.param(one, marks=[] if one in SHORT else pytest.mark.long) for one in COMMANDS]
)
def test_every_statement_has_the_claim_that_it_needs(asked):
    """A statement that no table knows, or whose verdict the accepted certificate does not hold, is an alarm."""
    told = [one for one in statements(asked) if one[0] != "card"]
    said = certificate(asked)
    wrong = list(filter(None, (judged(where, words, said) for where, words in told)))
    assert told and not wrong, "\n".join(wrong)


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.long) for k in range(1, 30))])
def test_every_statement_about_drawn_data_has_the_claim_that_it_needs(seed):
    """Four commands of each seed on data with coincidences; what is refused is refused by a sentence."""
    draw = random.Random(seed)
    for _ in range(4):
        parts = command(draw, Path())
        own = [] if parts[0] == "explore" else ["--certificate", "c.json"]
        ran = run(*parts, "--quiet", "--html", "p.html", "--force", *own)
        assert ran.code in (0, 64, 65), (parts, ran.err)
        if ran.code == 0:
            told = [*of_text(ran.out), *of_page(Path("p.html").read_text(encoding="utf-8"))]
            said = certificate(" ".join(parts))
            wrong = [judged(where, words, said) for where, words in told if where != "card"]
            assert not any(wrong), (parts, Path("d.csv").read_text(), [*filter(None, wrong)])


def test_a_set_that_may_be_one_network_is_not_said_to_be_more():
    """Followed without a gap, and open whether it is one network: neither unique nor more than one may be said."""
    open_ = [Result("continuous", Verdict.UNDECIDED, "", ""), Result("set-continuous", Verdict.PROVED, "", "")]
    said = of_path(PathPieces(Fraction(1), Fraction(2), (), ()), 3, open_)
    assert said.endswith("moves continuously; proved. Whether it is always one network is not settled.")


@pytest.mark.parametrize(
    ("words", "said", "wrong"),
    [
        ("There is more than one best network; proved.", {"p-unique": "UNDECIDED"}, "needs p-unique-"),
        ("The network is wonderful.", {"p-unique": "PROVED"}, "no table has"),
        ("The best network is unique (up to the order and splitting of neurons); proved.", {"p-unique": "PROVED"}, ""),
    ],
)
def test_the_tables_see_what_is_wrong(words, said, wrong):
    """A sentence whose claim is open, and one that nobody knows, are reported; a true one is not."""
    found = judged("headline", words, said)
    assert wrong in found if wrong else not found
