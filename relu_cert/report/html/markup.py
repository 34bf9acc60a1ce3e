"""Elements, not strings: a page is a tree, so that no text of a user can become markup.

Text and attributes are escaped when the tree is written; characters that do not print (control characters, marks
that turn the direction of writing) become the replacement character.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, tostring

Child = Element | str | None
Attribute = str | float | None


def e(tag: str, *children: Child | Iterable[Child], **attributes: Attribute) -> Element:
    """An element. `cls` is class; an underscore in a name is a hyphen; None leaves an attribute or a child out."""
    element = Element(tag)
    for name, value in attributes.items():
        if value is not None:
            element.set("class" if name == "cls" else name.strip("_").replace("_", "-"), _attribute(value))
    for child in children:
        append(element, child)
    return element


def append(parent: Element, child: Child | Iterable[Child]) -> None:
    """Put a child, a text or several of them at the end of an element."""
    if child is None:
        return
    if isinstance(child, str):
        _append_text(parent, printable(child))
    elif isinstance(child, Element):
        parent.append(child)
    else:
        for one in child:
            append(parent, one)


def printable(text: str) -> str:
    """The text with U+FFFD for what does not print; line ends stay."""
    return "".join(c if c.isprintable() or c == "\n" else "�" for c in text)


def number(x: float) -> str:
    """A coordinate, to a hundredth: "12.5", "3", "-0.25"."""
    text = f"{x:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def document(root: Element) -> str:
    """The page as text."""
    return "<!doctype html>\n" + fragment(root) + "\n"


def fragment(element: Element) -> str:
    """One element as HTML text."""
    return tostring(element, encoding="unicode", method="html")


def _attribute(value: str | float) -> str:
    return printable(value) if isinstance(value, str) else number(value)


def _append_text(parent: Element, text: str) -> None:
    if len(parent):
        parent[-1].tail = (parent[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text
