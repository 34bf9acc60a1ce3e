"""A whole refutation: its frame, its label and statement, and the instance that contradicts the statement."""

from __future__ import annotations

from verify.certificate import REFUTATION, frame
from verify.errors import Declined
from verify.refutations.statements import REFUTABLE
from verify.text import Limits, Node, within_limits

VERSION = 1
TINY = Limits(size=2**17, depth=8, digits=200, values=4000)


def check_refutation(raw: bytes, top: Node) -> tuple[str, str]:
    """The label and, in words, what contradicts its printed statement; rejected if nothing does."""
    within_limits(raw, TINY, lambda expected, found: Declined("file", f"a refutation of {expected}", found))
    fields = frame(top, REFUTATION, VERSION, "claim", "statement", "witness")
    label = fields["claim"].text(*REFUTABLE)
    fields["statement"].text(REFUTABLE[label].statement)
    return label, REFUTABLE[label].check(fields["witness"])
