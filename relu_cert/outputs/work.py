"""What `check` does with several outputs, once its data are read: the command line and Python share it."""

from __future__ import annotations

from pathlib import Path

from relu_cert.cover.limits import Limits
from relu_cert.errors import UsageError
from relu_cert.interrupt import interruptible
from relu_cert.outputs.dataset import OutputsData
from relu_cert.outputs.facts import optimum_with_outputs, problem_with_outputs, verdicts
from relu_cert.outputs.report import OutputsReport
from relu_cert.pipeline import Request, Stages


def checked_outputs(
    request: Request, data: OutputsData, stages: Stages, limits: Limits, target: Path = Path("data.cert.json")
) -> OutputsReport:
    """The report about the optimum of a network with several outputs."""
    if request.interval is not None:
        raise UsageError("the path (--interval, continuous) is for networks with one output.")
    verdicts_of, problem = (request.claims, request.named), problem_with_outputs(data)
    with stages.stage("prove"), interruptible():
        facts = optimum_with_outputs(problem, request.choice.resolve, request.gap, limits, stages.tell)
    return OutputsReport(data.source, None, verdicts(facts, *verdicts_of), target, data, facts)
