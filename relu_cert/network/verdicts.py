"""What is said about a network, one line a claim."""

from __future__ import annotations

from relu_cert.network.claims import network_verdicts

__all__ = ["network_verdicts"]
