"""An independent checker of certificates, in exact arithmetic. FORMAT.md says what a certificate proves, and why."""

from verify.certificate import Line, check
from verify.errors import BadData, Declined, Rejected, Usage, VerifyError
from verify.text import Limits

__all__ = ["BadData", "Declined", "Limits", "Line", "Rejected", "Usage", "VerifyError", "check"]
