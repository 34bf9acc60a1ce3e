"""Every small change of the bytes of a cover, and of the fields around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tests.verify.cover.plant import STREAMS, packed, unpacked
from tests.verify.mutate import Mutant, chosen, dump, mutants, replaced

FACTS = ("cover", "cover_lambda_max", "cover_set", "primal", "value")
OTHERS = (0, 1, 200, 201, 202, 203, 204, 210, 211, 212, 255)


def byte_edits(raw: bytes, spread: int | None) -> Iterator[tuple[str, bytes]]:
    """Bytes changed, dropped, repeated and swapped."""
    for k in chosen(len(raw), spread):
        for new in {(raw[k] + 1) % 256, (raw[k] - 1) % 256, raw[k] ^ 128, *OTHERS} - {raw[k]}:
            yield f"byte {k} is {new}", raw[:k] + bytes([new]) + raw[k + 1 :]
        yield f"without byte {k}", raw[:k] + raw[k + 1 :]
        yield f"byte {k} twice", raw[: k + 1] + raw[k:]
        if k + 1 < len(raw) and raw[k] != raw[k + 1]:
            yield f"bytes {k} and {k + 1} swapped", raw[:k] + raw[k : k + 2][::-1] + raw[k + 2 :]
    yield from (("one byte more", raw + b"\0"), ("two bytes more", raw + b"\0\0"))
    if raw:
        yield "empty", b""
    if raw != raw[::-1]:
        yield "reversed", raw[::-1]


def byte_mutants(certificate: dict[str, Any], spread: int | None = None) -> Iterator[Mutant]:
    """All small changes of the streams of all covers of a certificate."""
    for fact in ("cover", "cover_lambda_max"):
        for sign in "+-" if fact in certificate["facts"] else "":
            for name in STREAMS:
                path = ("facts", fact, "proof", sign, name)
                raw = unpacked(certificate["facts"][fact]["proof"][sign][name])
                for change, new in byte_edits(raw, spread):
                    yield Mutant(".".join(path), change, dump(replaced(certificate, path, packed(new))))


def field_mutants(certificate: dict[str, Any], spread: int | None, facts: Sequence[str]) -> Iterator[Mutant]:
    """All small changes of the fields of these facts (streams as bytes, above)."""
    for mutant in mutants(certificate, spread):
        parts = mutant.place.replace("[", ".").split(".")
        if parts[0] == "facts" and (len(parts) == 1 or parts[1] in facts) and parts[-1] not in STREAMS:
            yield mutant


def mutants_of(
    certificate: dict[str, Any], spread: int | None = None, facts: Sequence[str] = FACTS
) -> Iterator[Mutant]:
    """All of them."""
    yield from byte_mutants(certificate, spread)
    yield from field_mutants(certificate, spread, facts)
