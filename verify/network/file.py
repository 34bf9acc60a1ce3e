"""The file that a network was read from, given again: its bytes are hashed."""

from __future__ import annotations

from hashlib import sha256

from verify.errors import Rejected, Usage
from verify.network.check import Network


def same_file(network: Network | None, raw: bytes) -> None:
    """Reject unless the file has the hash that the certificate states."""
    if network is None:
        raise Usage("--network", "a certificate with the fact network", "none")
    if (digest := sha256(raw).hexdigest()) != network.sha256:
        found = network.sha256 or "no file"
        raise Rejected("certificate.facts.network.file.sha256", f"{digest} (the hash of the network given)", found)
