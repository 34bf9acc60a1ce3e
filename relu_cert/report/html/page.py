"""One self-contained page: a head, then sections. No script, no font, no image, nothing from the network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from xml.etree.ElementTree import Element

from relu_cert import __version__
from relu_cert.report.html.markup import document, e
from relu_cert.report.text import count as count

ROUNDED = "Numbers are rounded for the eye; the exact ones are behind the folds and in the certificate."
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


@dataclass(frozen=True)
class Section:
    """One part of a page: `ident` is its anchor, `body` its content under the title."""

    ident: str
    title: str
    body: tuple[Element, ...]


def page(title: str, head: Sequence[Element], sections: Sequence[Section]) -> str:
    """The whole page as text. `head` stands under the title, before the first section."""
    return document(
        e(
            "html",
            e(
                "head",
                e("meta", charset="utf-8"),
                e("meta", name="viewport", content="width=device-width, initial-scale=1"),
                e("meta", http_equiv="Content-Security-Policy", content=POLICY),
                e("meta", name="color-scheme", content="light dark"),
                e("meta", name="generator", content=f"relu_cert {__version__}"),
                e("title", f"{title} · relu_cert"),
                e("style", style()),
            ),
            e(
                "body",
                e("header", e("p", "relu_cert", cls="brand"), e("h1", title), *head),
                e("main", [_section(section) for section in sections]),
                e("footer", e("p", f"Made by relu_cert {__version__}. {ROUNDED}")),
            ),
            lang="en",
        )
    )


def style() -> str:
    """The style sheet."""
    return resources.files(__package__).joinpath("style.css").read_text(encoding="utf-8")


def cards(rows: Sequence[tuple[str, str, str]]) -> Element:
    """The numbers that everybody asks for first, each as (name, number, note)."""
    return e("dl", [e("div", e("dt", a), e("dd", b), e("dd", c, cls="note")) for a, b, c in rows], cls="cards")


def files(rows: Sequence[tuple[str, str, str]]) -> Element:
    """The files that a page speaks of, each as (what, name, sha256)."""
    shown = [
        e("div", e("dt", what), e("dd", name), e("dd", e("code", digest), cls="note")) for what, name, digest in rows
    ]
    return e("dl", shown, cls="files")


def fold(summary: str, *content: Element) -> Element:
    """Content that is shown when it is asked for."""
    return e("details", e("summary", summary), *content)


def figure(drawing: Element, caption: str, *more: Element) -> Element:
    """A picture with its sentence."""
    return e("figure", drawing, *more, e("figcaption", caption))


def recaptioned(picture: Element, caption: str) -> Element:
    """The picture with another sentence."""
    picture.remove(picture[-1])
    picture.append(e("figcaption", caption))
    return picture


def figures(*found: Element | None) -> Element | None:
    """Pictures beside one another where there is room."""
    present = [one for one in found if one is not None]
    return e("div", present, cls="figures") if present else None


def beside(*found: Element) -> Element | None:
    """Pictures that belong together, side by side, row by row."""
    return e("div", *found, cls="beside") if found else None


def table(header: Sequence[str], rows: Sequence[Sequence[Element | str]], cls: str | None = None) -> Element:
    """A table that scrolls in its own box where it is too wide."""
    head = e("thead", e("tr", [e("th", name, scope="col") for name in header])) if header else None
    body = e("tbody", [e("tr", [e("td", cell) for cell in row]) for row in rows])
    return e("div", e("table", head, body, cls=cls), cls="scroll")


def _section(section: Section) -> Element:
    return e("section", e("h2", section.title), *section.body, id=section.ident)
