"""Where every command writes: decided before the work, and never in the place of something that is the user's."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from relu_cert import certify
from relu_cert.errors import UsageError
from tests.cli.run import run
from verify.__main__ import main as verify

DATA = "x,y\n1,1\n2,3\n-1,2\n"
NETWORK = json.dumps({"format": "relu_cert network", "version": 1, "W1": [[1], [-1]], "w2": [1, 1]})


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with data, other data and a network of the user."""
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text(DATA)
    Path("gates.csv").write_text("1\n")
    Path("other.csv").write_text(DATA)
    Path("n.json").write_text(NETWORK)


def there() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()}


OVER_AN_INPUT = [
    ("check d.csv --certificate d.csv", "which is the data"),
    ("check d.csv --html d.csv", "which is the data"),
    ("check d.csv --html ./../{here}/d.csv", "which is the data"),
    ("check d.csv --gates gates.csv --html gates.csv", "which is the file of the gates"),
    ("path d.csv --csv d.csv", "which is the data"),
    ("path d.csv --html d.csv", "which is the data"),
    ("path d.csv --certificate d.csv", "which is the data"),
    ("network n.json d.csv --lambda 1/2 --certificate d.csv", "which is the data"),
    ("network n.json d.csv --lambda 1/2 --pruned n.json", "which is the network"),
    ("network n.json d.csv --lambda 1/2 --optimal n.json", "which is the network"),
    ("prune d.csv --network n.json --lambda 1/2 --out n.json", "which is the network"),
    ("explore d.csv --validation other.csv --test other.csv --html other.csv", "which is the validation data"),
    ("patterns d.csv --out d.csv", "which is the data"),
]


@pytest.mark.parametrize(("command", "said"), OVER_AN_INPUT, ids=[command for command, _ in OVER_AN_INPUT])
@pytest.mark.parametrize("force", [(), ("--force",)], ids=["", "force"])
def test_no_input_is_overwritten(command, said, force):
    """An output that is an input ends the command before any work, and --force does not change that."""
    before = there()
    ran = run(*command.format(here=Path().resolve().name).split(), *force)
    assert ran.code == 64
    assert said in ran.err
    assert there() == before


@pytest.mark.parametrize("link", [os.symlink, os.link], ids=["symbolic", "hard"])
def test_links_are_seen_through(link):
    """A link to the data is the data."""
    link("d.csv", "link.html")
    ran = run("check", "d.csv", "--html", "link.html", "--force")
    assert (ran.code, Path("d.csv").read_text()) == (64, DATA)
    assert "which is the data" in ran.err


@pytest.mark.parametrize(
    "command",
    [
        "check d.csv --html X --certificate X",
        "check d.csv --html d.cert.json",
        "check d.csv --gates gates.csv --certificate a.json --html a.all-patterns.cert.json",
        "path d.csv --csv X --html X",
        "network n.json d.csv --lambda 1/2 --pruned a.json --optimal a.json",
        "prune d.csv --lambda 1/2 --out a.json --html ./a.json",
    ],
)
def test_outputs_have_places_of_their_own(command):
    """Two outputs under one name end the command before any work."""
    before = there()
    ran = run(*command.split())
    assert ran.code == 64
    assert "name the same file" in ran.err
    assert there() == before


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("check d.csv --html other.csv", "other.csv"),
        ("check d.csv", "d.cert.json"),
        ("check d.csv --gates gates.csv", "d.all-patterns.cert.json"),
        ("path d.csv --csv other.csv", "other.csv"),
        ("path d.csv --plot p.svg", "p.svg"),
        ("prune d.csv --lambda 1/2 --out n.json", "n.json"),
        ("patterns d.csv --out p.npz", "p.npz"),
    ],
)
def test_a_foreign_file_needs_force(command, name):
    """What is there and was not written by relu_cert stays, unless --force is given; then it is replaced."""
    if not Path(name).exists():
        Path(name).write_text("the user's own notes about relu_cert\n")
    before = there()
    ran = run(*command.split())
    assert ran.code == 64
    assert "relu_cert did not write it" in ran.err
    assert "--force" in ran.err
    assert there() == before
    assert run(*command.split(), "--force").code == 0
    assert Path(name).read_bytes() != before[name]


@pytest.mark.parametrize(
    "command",
    [
        "check d.csv --html p.html",
        "path d.csv --from 1/2 --csv p.csv --plot p.svg --html p.html",
        "patterns d.csv --out p.npz",
        "network n.json d.csv --lambda 1/2 --pruned q.json --optimal o.json",
    ],
)
def test_own_files_are_replaced(command):
    """A second run replaces what the first one wrote, without being told to; so also the copy for the checker of a
    network whose format it does not read, without which `network model.pt` could be run once only."""
    assert run(*command.split()).code == 0
    ran = run(*command.split())
    assert ran.code == 0
    assert "--force" not in ran.err


def test_places_are_decided_before_the_data_are_read():
    """A place that cannot be written is told before any work, even before the data are found to be wrong."""
    Path("d.csv").write_text("x,y\n1,none\n")
    for option in ("--html", "--certificate"):
        ran = run("check", "d.csv", option, "missing/p.html")
        assert ran.code == 64
        assert ran.err.strip().endswith(f"choose another place with {option}.")
    assert "needs the name of a file" in run("check", "d.csv", "--html", "").err
    assert "unknown kind of network file" in run("prune", "d.csv", "--lambda", "1", "--out", "a.txt").err


def test_devices_may_be_named_twice():
    """Nothing in /dev/null could be lost."""
    assert run("check", "d.csv", "--html", os.devnull, "--certificate", os.devnull).code == 0


def test_save_replaces_nothing_of_the_users():
    """From Python, too: other data under that name stay, the same data are no trouble, `force` replaces."""
    found = certify([[1], [2], [-1]], [1, 3, 2], "1/2")
    with pytest.raises(UsageError, match="force=True"):
        found.save("c.json", data="d.csv")
    assert Path("d.csv").read_text() == DATA
    assert not Path("c.json").exists()
    found.save("c.json", data="new.csv")
    found.save("c.json", data="new.csv")
    with pytest.raises(UsageError, match="same file"):
        found.save("same", data="same")
    found.save("c.json", data="d.csv", force=True)
    assert Path("d.csv").read_bytes() == found.data_csv


def started(*arguments: str, **how) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "relu_cert", *arguments]
    place = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        command, env=os.environ | {"PYTHONPATH": place}, stderr=subprocess.PIPE, text=True, check=False, **how
    )


@pytest.mark.long
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
@pytest.mark.parametrize("arguments", [("check", "d.csv"), ("check", "d.csv", "--json"), ("--help",)])
def test_a_full_disk_is_a_sentence(arguments):
    """No traceback, no talk of a bug, and an exit code of its own."""
    with Path("/dev/full").open("w") as full:
        ran = started(*arguments, stdout=full)
    assert ran.returncode == 74
    assert ran.stderr == (
        "relu_cert: cannot write the output: No space left on device; make room, or send it elsewhere.\n"
    )


@pytest.mark.long
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
def test_a_file_on_a_full_disk_is_a_sentence():
    """The option that names the place is named."""
    ran = run("check", "d.csv", "--html", "/dev/full")
    assert (ran.code, ran.err) == (
        74,
        "relu_cert: cannot write /dev/full: No space left on device; make room, or choose another place with --html.\n",
    )


@pytest.mark.long
@pytest.mark.parametrize("arguments", [("check", "d.csv"), ("--help",)])
def test_a_closed_pipe_is_silent(arguments):
    """Where nobody reads, nothing is said and the exit code says why; where stdout is closed, the work is done."""
    read, write = os.pipe()
    os.close(read)
    try:
        ran = started(*arguments, stdout=write)
    finally:
        os.close(write)
    assert (ran.returncode, ran.stderr) == (141, "")


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_without_stdout_the_certificate_is_written():
    """A closed stdout loses the report, not the work."""
    place = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    ran = subprocess.run(
        ["sh", "-c", f'"{sys.executable}" -m relu_cert check d.csv >&-'], env=place, capture_output=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert Path("d.cert.json").exists()


NAMED = [
    ("check d.csv --lambda 1/2 --html p.html", ["certificate  d.cert.json", "page         p.html"]),
    (
        "path d.csv --html p.html --csv t.csv --plot f.svg",
        ["certificate  d.path.json", "table        t.csv", "picture      f.svg", "page         p.html"],
    ),
    (
        "network n.json d.csv --lambda 1/2 --html p.html --pruned q.json",
        ["certificate  n.network.cert.json", "pruned       q.json", "page         p.html"],
    ),
    ("prune d.csv --lambda 1/2 --html p.html --out q.json", ["q.json", "page         p.html"]),
    ("explore d.csv --validation other.csv --test other.csv --html p.html", ["page         p.html"]),
    ("patterns d.csv --out p.txt", ["written:   p.txt"]),
]


@pytest.mark.parametrize(("command", "lines"), NAMED, ids=[command for command, _ in NAMED])
def test_every_written_file_is_named(command, lines):
    """The report has a line for each file that the command wrote, and names no file that is not there."""
    before = set(there())
    ran = run(*command.split(), "--quiet")
    assert ran.code == 0, ran.err
    for line in lines:
        assert any(said.endswith(line) for said in ran.out.splitlines()), line
    for name in set(there()) - before:
        assert name in ran.out


@pytest.mark.parametrize("command", ["check {} --lambda 1/2", "path {} --from 1/2", "network n.json {} --lambda 1/2"])
def test_every_certificate_is_followed_by_what_checks_it(command):
    """The line can be pasted into a shell as it stands, also where the name of the data has a blank."""
    Path("my data.csv").write_text("1,0,1\n0,1,2\n1,1,1\n")
    Path("n.json").write_text('{"W1": [["1", "0"], ["0", "1"]], "w2": ["1", "1"]}')
    ran = run(*(word.format("my data.csv") for word in command.split()), "--quiet")
    assert ran.code == 0, ran.err
    (line,) = (line for line in ran.out.splitlines() if line.startswith("re-check it  "))
    words = shlex.split(line.removeprefix("re-check it  "))
    assert words[:3] == ["python", "-m", "verify"] and verify([*words[3:], "--quiet"]) == 0
