"""Everything that a user reads of a result, cut into statements: of the terminal, of the page, of the repr."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

VERDICTS = ("PROVED", "REFUTED", "UNDECIDED")
Statement = tuple[str, str]  # where it stands ("headline", "line", "page", "card", "why CLAIM VERDICT"), and its words


class Pieces(HTMLParser):
    """The sentences of a page: paragraphs, captions, titles, cards, and the rows of verdicts."""

    WHOLE = ("p", "figcaption", "h2", "h3", "summary", "dt", "dd", "tr")

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, str]] = []
        self.found: list[tuple[str, str, str]] = []  # tag, class, words
        self.words: list[str] = []
        self.feed(re.sub(r"<(style|svg)\b.*?</\1>", "", page, flags=re.DOTALL))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self.WHOLE:
            self.words = []
        self.open.append((tag, dict(attrs).get("class") or ""))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open[-1][0] != tag:
            self.open.pop()
        cls = self.open.pop()[1] if self.open else ""
        if tag in ("td", "th"):
            self.words.append("\t")
        if tag in self.WHOLE:
            self.found.append((tag, cls, "".join(self.words)))
            self.words = []


def one_line(text: str) -> str:
    """The text with single spaces."""
    return " ".join(text.split())


def of_page(page: str) -> Iterator[Statement]:
    """The statements of an HTML page."""
    card: list[str] = []
    for tag, cls, words in Pieces(page).found:
        if tag == "tr":
            cells = [one_line(cell) for cell in words.split("\t")]
            verdict = cells[0].split(" ")[-1]
            if verdict in VERDICTS:
                name = re.match(r"[a-z-]+?(?=[A-Z])", cells[1])
                yield f"why {name[0] if name else cells[1]} {verdict}", re.sub(r"by [a-z ,0-9-]*$", "", cells[2])
        elif tag in ("dt", "dd"):
            card = [words] if tag == "dt" else [*card, one_line(words)]
            if len(card) == 3:
                yield "card", f"{card[0]}: {card[1]} ({card[2]})"
        else:
            yield ("headline" if cls == "headline" else "page"), one_line(words)


def of_text(text: str) -> Iterator[Statement]:
    """The statements of a terminal: the first paragraph, the lines below it, and the table of verdicts."""
    first, _, rest = text.partition("\n\n")
    yield "headline", one_line(first)
    joined: list[str] = []
    for line in rest.splitlines():
        follows = line.startswith("  ") and not re.match(r"  [ +\-0-9.a-z]\S* {1,}\S", line) and joined
        if follows:
            joined[-1] += " " + line.strip()
        elif line.strip():
            joined.append(line)
    for line in joined:
        words = line.split(maxsplit=2)
        if words[0] in VERDICTS:
            yield f"why {words[1]} {words[0]}", one_line(words[2]) if len(words) > 2 else ""
        else:
            yield "line", one_line(line)
