"""The layers of relu_cert are those of ARCHITECTURE.md, and an import goes down."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "relu_cert"
UPWARDS = {  # what goes up all the same, and why
    ("prove", "path"): "Facts name the types of paths, derivatives and faces; nothing of these is loaded",
    ("report", "results"): "the page of given coefficients is one of a result, whose type it names",
    (
        "callable",
        "api",
    ): "relu_cert.path and relu_cert.patterns can be called, and load the interface then",
}
FACADE = "relu_cert"  # the package itself knows its names and loads them when they are asked for


def layers() -> list[list[str]]:
    """The rooms of each layer, the lowest first, as ARCHITECTURE.md lists them."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    block = text.split("## Layers")[1].split("```text\n")[1].split("```")[0]
    return [line.split() for line in reversed(block.splitlines())]


@cache
def rooms() -> set[str]:
    """All rooms: packages, and modules that stand alone."""
    found = {path.stem for path in PACKAGE.glob("*.py")} | {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    return found - {"__init__"}


def imports(path: Path) -> Iterator[str]:
    """The rooms that a file imports, inside functions and for types only, too."""
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "relu_cert":
                yield parts[1] if len(parts) > 1 and parts[1] in rooms() else FACADE


def edges() -> set[tuple[str, str]]:
    """Which room imports which."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts != ("__init__",):
            found |= {(parts[0], room) for room in imports(path) if room not in (parts[0], FACADE)}
    return found


def test_every_room_is_in_one_layer() -> None:
    """The picture has all rooms, each once, and no other."""
    listed = [room for layer in layers() for room in layer]
    assert len(listed) == len(set(listed))
    assert set(listed) == rooms()


def test_imports_go_down() -> None:
    """A room imports what stands below it, never beside or above; what goes up is listed with its reason, and is so."""
    height = {room: i for i, layer in enumerate(layers()) for room in layer}
    up = {(one, other) for one, other in edges() if height[one] <= height[other]}
    assert up == set(UPWARDS)


def test_no_rooms_form_a_cycle() -> None:
    """Without what is listed no room is reached from itself; with it, only what the reasons say."""
    graph = nx.DiGraph(edges() - set(UPWARDS))
    assert nx.is_directed_acyclic_graph(graph)


def test_an_import_in_a_function_is_seen(tmp_path: Path) -> None:
    """Neither a lazy import nor one for types hides an arrow."""
    text = "if TYPE_CHECKING:\n    from relu_cert.path.pieces import Gap\ndef f():\n    import relu_cert.api\n"
    (tmp_path / "one.py").write_text(text + "from relu_cert import __version__, errors\n")
    assert sorted(imports(tmp_path / "one.py")) == ["api", "errors", "path", FACADE]
