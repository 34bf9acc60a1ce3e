"""Reports as one self-contained HTML page."""

from relu_cert.report.html.check import check_page

__all__ = ["check_page"]
