"""The command line's words: every command with its options and two examples.

Only what `--help` needs is loaded here; the module of a command is loaded when it runs.
"""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from relu_cert import __version__, examples
from relu_cert.errors import UsageError
from relu_cert.words import NAMES

DEFAULT_MAX_PATTERNS = 10**6
ENDINGS = (".npz", ".json", ".safetensors", ".onnx", ".pt", ".pth")
PENALTIES = ("paper", "scnn", "sklearn", "pytorch", "pytorch-sum")
STRATEGIES = ("residual", "magnitude", "gradient", "random")
CERTIFICATE = "where to write the certificate (default: {} in this folder)"
LAMBDA = "the regularisation: 1/10 or 0.1 is lambda itself, 0.1max a part of lambda_max"


class Parser(argparse.ArgumentParser):
    """argparse whose errors are ours, and whose texts are not lost silently."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")

    def _print_message(self, message: str, file: Any = None) -> None:
        """As argparse has it, but a text that cannot be written is told like any other."""
        if message and file is not None:
            file.write(message)


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    top = Parser(
        prog="python -m relu_cert",
        description="Train a two-layer ReLU network to its global optimum, and prove what was found.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=_epilog("check --example xor", "explain p-unique"),
    )
    top.add_argument("--version", action="version", version=f"relu_cert {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for add in (_check, _path, _network, _solution, _prune, _explore, _patterns, _explain):
        add(commands)
    return top


def _command(commands: Any, name: str, summary: str, text: str, *shown: str) -> argparse.ArgumentParser:
    """A command: its line in the list, its description, and two examples."""
    command: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=text,
        formatter_class=_Formatter,
        epilog=_epilog(*(f"{name} {one}".rstrip() for one in shown)),
    )
    command.set_defaults(module=f"relu_cert.cli.{name}")
    return command


class _Formatter(argparse.HelpFormatter):
    """Descriptions are wrapped; the examples at the end are not."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith("examples:"):
            return "".join(indent + line for line in text.splitlines(keepends=True))
        return super()._fill_text(text, width, indent)


def _epilog(*lines: str) -> str:
    return "\n".join(["examples:", *(f"  python -m relu_cert {line}" for line in lines)])


def _check(commands: Any) -> None:
    command = _command(
        commands,
        "check",
        "solve to global optimality and prove it",
        "Train the network to its global optimum over all activation patterns, prove what was found, and write a "
        "certificate that `python -m verify` re-checks.",
        "--example xor --html xor.html",
        "data.csv --bias --lambda 1/10 --require p-unique",
    )
    _data(command, "a CSV file, plain or .gz, or - for standard input; or a group lasso as .json", bags=True)
    problem = command.add_argument_group("problem")
    _classes(problem)
    problem.add_argument("--model", choices=("relu", "gated"), help="ReLU (default) or gated ReLU")
    _lambda(problem)
    problem.add_argument("--gap", metavar="G", help="the relative duality gap to prove (default: 1e-9)")
    problem.add_argument(
        "--interval",
        metavar="LO,HI",
        help="also prove the path for LO <= lambda <= HI: 1/2,2 or 0.1max,0.2max (--claims continuous: from lambda/2 "
        "to 2 lambda)",
    )
    problem.add_argument("--exact", action="store_true", help="also the optimum as a formula, where one is proved")
    problem.add_argument("--noise", metavar="SIGMA", help="the noise of the targets: sensitivity with SURE")
    problem.add_argument(
        "--claims", metavar="A,B", help=f"decide only these claims: {', '.join(NAMES)} (see `explain CLAIM`)"
    )
    problem.add_argument(
        "--require", metavar="A,B", help="exit with 1 if one of these claims is REFUTED, with 2 if one is UNDECIDED"
    )
    problem.add_argument(
        "--decayed-bias",
        action="store_true",
        help="an output bias b that costs lambda/2 b^2: what PyTorch's weight_decay minimises (with --bias)",
    )
    problem.add_argument("--all", action="store_true", help="list all minimal optimal networks, not just one of them")
    _free(problem)
    _time(command).add_argument(
        "--state",
        metavar="FILE",
        help="keep the work of the proof there: the same command goes on with it after a limit, Ctrl-C or a crash",
    )
    _variants(command)
    _lasso(command)
    output = _output(command, html=True, certificate="NAME.cert.json")
    output.add_argument(
        "--proved", action="store_true", help="ask the checker that is itself proved, too (verify/rocq)"
    )


def _free(problem: Any, more: str = "") -> None:
    problem.add_argument(
        "--free",
        metavar="A,B",
        help="terms without penalty: output-bias, biases (of the first layer; --bias is implied), skip (a linear "
        "function of the inputs)" + more,
    )


def _path(commands: Any) -> None:
    command = _command(
        commands,
        "path",
        "the optimal network as lambda changes",
        "Prove the optimal network unique on an interval of lambdas, piece by piece, and enclose the breakpoints at "
        "which neurons enter or leave. What could not be proved is listed, and drawn, as a gap.",
        "--example line --html line.html",
        "data.csv --from 1/10max --to 1max --csv curve.csv",
    )
    _data(command, "a CSV file, plain or .gz, or - for standard input; or a group lasso as .json", bags=True)
    problem = command.add_argument_group("problem")
    problem.add_argument("--model", choices=("relu", "gated"), help="ReLU (default) or gated ReLU")
    problem.add_argument(
        "--from",
        dest="low",
        metavar="R",
        default="1/100",
        help="a part of lambda_max as 1/100max (default), lambda itself as 2abs; a plain number is a part here",
    )
    problem.add_argument("--to", dest="high", metavar="R", default="1max", help="the same (default: 1max)")
    problem.add_argument("--exact", action="store_true", help="also the path in formulas, where they are proved")
    problem.add_argument("--no-breakpoints", action="store_true", help="do not enclose the breakpoints")
    _time(command, shared=False)
    output = _output(command, html=True, certificate="NAME.path.json")
    output.add_argument("--csv", metavar="FILE", help="also write the curve as a table")
    output.add_argument("--plot", metavar="FILE.svg", help="also write the picture of the page as a file")


def _network(commands: Any) -> None:
    command = _command(
        commands,
        "network",
        "prove how far a trained network is from the global optimum",
        "Read a trained two-layer ReLU network, floats as the exact numbers they are, and prove how far it is from the "
        "global optimum and from stationarity, and what of it can be merged or pruned.",
        "net.json data.csv --bias --lambda 1/10",
        "model.pt data.csv --bias --lambda 0.001 --penalty pytorch --html net.html",
    )
    command.add_argument("network", metavar="NET", help=f"the network: {', '.join(ENDINGS)}")
    _data(command, bags=True)
    problem = command.add_argument_group("problem")
    problem.add_argument("--lambda", dest="lam", metavar="L", help="the regularisation it was trained with, a rational")
    _classes(problem)
    problem.add_argument(
        "--loss",
        choices=("squares", "logistic", "softmax"),
        default="squares",
        help="half the sum of squares (default), the logistic loss for labels 1 and -1 (or 0), which is that of "
        "BCEWithLogitsLoss, or the softmax cross-entropy for --classes",
    )
    _penalty(problem)
    _free(problem, "; --penalty sklearn means output-bias,biases")
    problem.add_argument(
        "--no-decay", metavar="A,B", help="with PyTorch: parameters without weight_decay: bias (all), b1 or b2"
    )
    problem.add_argument(
        "--gap", metavar="G", help="the relative gap up to which it is called optimal (default: 1/1000)"
    )
    problem.add_argument(
        "--from-layer",
        type=int,
        metavar="K",
        default=1,
        help="of a deeper network: certify its linear layers K and K + 1, the last two, on what those before make of "
        "the data (a file of these features is written)",
    )
    problem.add_argument(
        "--no-own", action="store_true", help="do not solve the program over the network's own patterns"
    )
    _time(command)
    output = _output(command, html=True, certificate="NET.network.cert.json")
    output.add_argument("--pruned", metavar="FILE", help="write the merged, pruned and balanced network")
    output.add_argument("--optimal", metavar="FILE", help="write the optimal network that was found")


def _classes(problem: Any) -> None:
    """Several outputs."""
    problem.add_argument(
        "--classes",
        metavar="NAME|INDEX",
        help="a column of classes, texts or numbers: a network with an output for each (--target A,B: several targets)",
    )
    problem.add_argument("--center", action="store_true", help="several outputs: predict them less their means")


def _penalty(problem: Any) -> None:
    """What a given network was trained with."""
    problem.add_argument(
        "--penalty", metavar="NAME", default="paper", help=f"whose lambda L is: {', '.join(PENALTIES)} (default: paper)"
    )
    problem.add_argument("--batch-size", type=int, metavar="B", help="the batch size (sklearn divides alpha by it)")
    problem.add_argument(
        "--output-bias",
        choices=("refuse", "neuron"),
        default="refuse",
        help="what to do with an output bias that is not free: refuse it, or make it a neuron on the column of ones",
    )


def _solution(commands: Any) -> None:
    command = _command(
        commands,
        "solution",
        "prove how far coefficients of a lasso or group lasso are from optimal",
        "Read coefficients that some solver computed, floats as the exact numbers they are, and prove how far their "
        "objective is from the optimum, and whether the solution is unique. Minimised is 1/2 |y - Xw - b|^2 + lambda "
        "sum omega_g |w_g|, or with --average the same with 1/(2n).",
        "coef.csv problem.json --lambda 1/10",
        "coef.npy data.csv --groups 5 --weights sqrt --intercept --average --lambda 0.05",
    )
    command.add_argument("coefficients", metavar="W", help="the coefficients: numbers in a text, a JSON array, or .npy")
    _data(command, "X and y as CSV (the last column is y), or a problem as .json with the keys X, groups, y, ...")
    problem = command.add_argument_group("problem")
    problem.add_argument("--lambda", dest="lam", metavar="L", help=LAMBDA)
    problem.add_argument("--gap", metavar="G", help="the relative gap that counts as optimal (default: 1e-6)")
    _lasso(command)
    _output(command, html=True, certificate="W.solution.cert.json")


def _prune(commands: Any) -> None:
    command = _command(
        commands,
        "prune",
        "prune the optimal network, or a given one",
        "Prune exactly, at no cost, until the neurons' outputs are independent; then one neuron at a time, at the "
        "least cost in fit. Starts from the optimal network, or from a trained one.",
        "--example line --html prune.html",
        "data.csv --network net.json --lambda 1/10 --out smaller.json",
    )
    _data(command, bags=True)
    problem = command.add_argument_group("problem")
    problem.add_argument("--network", metavar="NET", help=f"a trained network to start from: {', '.join(ENDINGS)}")
    problem.add_argument("--lambda", dest="lam", metavar="L", help=LAMBDA)
    _penalty(problem)
    problem.add_argument(
        "--strategy",
        choices=STRATEGIES,
        default=STRATEGIES[0],
        help="how the next neuron is chosen once pruning costs (default: residual, the smallest loss of fit)",
    )
    problem.add_argument("--drop", action="store_true", help="drop the chosen neuron and leave the others as they are")
    problem.add_argument("--seed", type=int, default=0, metavar="S", help="for --strategy random")
    _time(command)
    output = _output(command, html=True)
    output.add_argument("--out", metavar="FILE", help=f"write the pruned network: {', '.join(ENDINGS)}")
    output.add_argument(
        "--width", type=int, metavar="K", help="the width to write (default: where pruning is still free)"
    )


def _explore(commands: Any) -> None:
    command = _command(
        commands,
        "explore",
        "compare optimal networks on other data",
        "All optimal networks fit the training data equally. Which of them is the shortest, an extreme one, the best "
        "on validation data, the best on test data; and how much they differ there.",
        "train.csv --validation validation.csv --test test.csv",
        "train.csv --bias --lambda-ratio 1/20 --validation validation.csv --test test.csv --html explore.html",
    )
    _data(command, bags=True)
    problem = command.add_argument_group("problem")
    problem.add_argument("--validation", metavar="FILE", required=True, help="a CSV file of the same columns")
    problem.add_argument("--test", metavar="FILE", required=True, help="a CSV file of the same columns")
    problem.add_argument("--model", choices=("relu", "gated"), default="relu", help="ReLU (default) or gated ReLU")
    _lambda(problem)
    problem.add_argument(
        "--extreme",
        choices=("norm", "random"),
        default="norm",
        help="EP: the vertex of the largest norm (default), or of a random linear functional",
    )
    problem.add_argument("--seed", type=int, default=0, metavar="S", help="for --extreme random")
    _time(command)
    _output(command, html=True)


def _patterns(commands: Any) -> None:
    command = _command(
        commands,
        "patterns",
        "enumerate every activation pattern exactly",
        "Enumerate D_Z = {1(Zu >= 0)} exactly, each pattern with a rational witness u.",
        "--example cube",
        "data.csv --bias --out patterns.npz",
    )
    _data(command, bags=True)
    output = _output(command)
    output.add_argument("--out", metavar="FILE.npz", help="write the packed patterns with their witnesses")


def _explain(commands: Any) -> None:
    command = _command(
        commands,
        "explain",
        "what a claim or a word of the reports means",
        "What a claim means, why one wants it, where the paper has it and what evidence can settle it; or what a word "
        "of the reports means. Without a name: all of them.",
        "p-unique",
        "tied",
    )
    command.add_argument("name", nargs="?", metavar="CLAIM|WORD", help="such as p-unique, sensitivity, E, m*, kink")


def _lambda(problem: Any) -> None:
    problem.add_argument("--lambda", dest="lam", metavar="L", help=LAMBDA)
    problem.add_argument("--lambda-ratio", metavar="R", help="the same as --lambda Rmax (default: 1/10)")


def _bags(data: Any) -> None:
    """How rows are put together to data points."""
    data.add_argument(
        "--conv",
        metavar="RULE",
        help="each row is a signal or an image, channels first, and a neuron is a filter that slides over it: 1d:K or "
        "2d:HxW:KxL, with :stride=S, :channels=C, :padding=Q",
    )
    data.add_argument(
        "--bags", metavar="NAME|INDEX", help="a column whose texts name sets: rows with the same one are one data point"
    )
    data.add_argument(
        "--pool", choices=("mean", "sum"), help="how outputs at windows, or rows of a set, are pooled (default: mean)"
    )
    data.add_argument(
        "--slope",
        metavar="S",
        help="the activation is max(t, S t): 1/100 for a leaky ReLU, -1 for |t| (default: 0, ReLU)",
    )


def _data(
    command: argparse.ArgumentParser,
    what: str = "a CSV file, plain or .gz, or - for standard input",
    *,
    bags: bool = False,
) -> None:
    """What to read, and how; whether rows may be in bags."""
    data = command.add_argument_group("data")
    data.add_argument("file", nargs="?", help=what)
    data.add_argument("--example", metavar="NAME", help=f"a bundled example: {', '.join(examples.names())}")
    data.add_argument("--target", metavar="NAME|INDEX", help="the column to predict (default: the last one)")
    data.add_argument("--bias", action="store_true", default=None, help="append a column of ones")
    if bags:
        _bags(data)
    data.add_argument(
        "--numbers",
        choices=("decimal", "decimal-comma", "binary64"),
        help="read 0.1 as 1/10 (decimal, the default) or as the nearest double, or 0,1 as 1/10 (seen beside ; and tab)",
    )
    data.add_argument("--delimiter", metavar="CHAR", help="the field separator (default: a comma; 'tab' is understood)")
    data.add_argument(
        "--max-patterns",
        type=int,
        metavar="N",
        default=DEFAULT_MAX_PATTERNS,
        help=f"refuse data with more activation patterns (default: {DEFAULT_MAX_PATTERNS})",
    )


def _lasso(command: argparse.ArgumentParser) -> None:
    """A group lasso on the columns of a CSV file."""
    group = command.add_argument_group("lasso and group lasso")
    group.add_argument(
        "--groups", metavar="G", help="the size of all groups (1: the lasso), or a label for each column"
    )
    group.add_argument("--weights", metavar="O", help="sqrt (of the group's size), or a number for each group")
    group.add_argument("--intercept", action="store_true", help="with a free intercept")
    group.add_argument("--average", action="store_true", help="the loss is divided by n, as in scikit-learn")


def _variants(command: argparse.ArgumentParser) -> None:
    """Which problem it is."""
    group = command.add_argument_group("variants of the problem")
    group.add_argument(
        "--patterns",
        type=int,
        metavar="N",
        help="only N activation patterns, those of random Gaussian gates; the optimum is then for these patterns only, "
        "and its distance from the global one is proved where all patterns can be listed",
    )
    group.add_argument("--seed", type=int, metavar="S", help="the seed of the random gates (default: 0)")
    group.add_argument(
        "--gates", metavar="FILE", help="only the patterns of these gate vectors (CSV), or these patterns"
    )
    group.add_argument("--l2", metavar="DELTA", help="add DELTA/2 times the sum of |w_b|^2, a rational > 0")
    group.add_argument(
        "--loss",
        choices=("squares", "logistic", "softmax"),
        default="squares",
        help="half the sum of squares (default), sum log(1 + exp(-y f)) for labels -1 (or 0) and 1, or the softmax "
        "cross-entropy for --classes",
    )


def _output(command: argparse.ArgumentParser, *, html: bool = False, certificate: str = "") -> Any:
    """How to tell, and where to write."""
    output = command.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    output.add_argument("--quiet", action="store_true", help="no progress on stderr")
    output.add_argument("--force", action="store_true", help="replace files that relu_cert did not write")
    if html:
        output.add_argument("--html", metavar="FILE", help="also write the report as one self-contained HTML page")
    if certificate:
        output.add_argument("--certificate", metavar="FILE", help=CERTIFICATE.format(certificate))
        output.add_argument("--no-verify", action="store_true", help="do not re-check the certificate before reporting")
    return output


def _time(command: Any, *, shared: bool = True) -> Any:
    """How long data with many patterns may take, and where the work is done, if it can be `shared`."""
    group = command.add_argument_group("large data")
    group.add_argument(
        "--seconds",
        type=float,
        metavar="S",
        help="processor time for the whole command: reading, training, proof, certificate (not given: 60 for a proof "
        "without a list of patterns); at most four times as long by the clock, and by the clock where others share it",
    )
    if shared:
        group.add_argument(
            "--jobs", type=int, default=1, metavar="J", help="processes that share the work (default: 1)"
        )
        group.add_argument("--dask", metavar="ADDRESS", help="share the work among the workers of a dask cluster")
    group.add_argument(
        "--max-memory",
        type=float,
        metavar="GB",
        help="end, with a sentence, where more memory than this would be taken (default: what is free)",
    )
    return group
