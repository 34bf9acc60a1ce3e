"""`seconds` is a limit at every stage: a clock that the test moves jumps beyond the limit in the middle of one, and the
command ends, with what was proved until then or with the sentence that there was no time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import relu_cert
from relu_cert import clock
from relu_cert.cli import main
from relu_cert.clock import limited, planned, require_time, stopped, until
from relu_cert.cover.limits import ProgressEvent
from relu_cert.errors import Late
from relu_cert.report.progress import Progress

SECONDS = 100.0
FEW = 400  # looks at the clock after its jump: every loop needs one or two of them


class Hands:
    """Both clocks: they stand still until the stage that is named, at which they jump beyond every limit, after so many
    more looks."""

    def __init__(self, stage: str, after: int) -> None:
        self.stage, self.after = stage, after
        self.reached = False
        self.looks = 0

    def __call__(self) -> float:
        self.looks += self.reached
        return 10.0 * clock.SLOWEST * SECONDS if self.reached and self.looks > self.after else 0.0

    def at(self, stage: str) -> None:
        """A stage begins, or is told of."""
        self.reached = self.reached or stage == self.stage


@pytest.fixture
def jump(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, int], Hands]:
    """Hands in the place of the true clocks, moved by what the progress is told."""

    def jumping(stage: str, after: int) -> Hands:
        hands = Hands(stage, after)
        monkeypatch.setattr(clock, "thread_time", hands)
        monkeypatch.setattr(clock, "monotonic", hands)
        begin, tell = Progress.stage, Progress.tell

        @contextmanager
        def staged(self: Progress, name: str) -> Iterator[None]:
            hands.at(name)
            with begin(self, name):
                yield

        def told(self: Progress, moment: ProgressEvent) -> None:
            hands.at(moment.stage)
            tell(self, moment)

        monkeypatch.setattr(Progress, "stage", staged)
        monkeypatch.setattr(Progress, "tell", told)
        return hands

    return jumping


def gaussian(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Data with labels."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, d)).round(2), rng.choice([-1, 1], n)


def covered() -> object:
    """A network whose proof is a cover."""
    return relu_cert.certify(*gaussian(20, 4), lambda_ratio="1/5", seconds=SECONDS)


def coarsely() -> object:
    """The same for a wide gap, without an exact finish."""
    return relu_cert.certify(*gaussian(40, 5), lambda_ratio="1/5", gap="1/20", seconds=SECONDS)


def led() -> object:
    """One with so many features that leaders prove a gap."""
    return relu_cert.certify(*gaussian(30, 14), lambda_ratio="1/2", seconds=SECONDS)


def small() -> object:
    """One whose patterns are listed."""
    return relu_cert.certify(*gaussian(9, 2), lambda_ratio="1/10", seconds=SECONDS)


def gated() -> object:
    """A gated network, solved over its patterns."""
    return relu_cert.certify(*gaussian(9, 2), lambda_ratio="1/10", model="gated", seconds=SECONDS)


def given() -> object:
    """A given network of five neurons, compared with the optimum and with the program over its own patterns."""
    rng, (Z, y) = np.random.default_rng(1), gaussian(12, 3)
    network = rng.standard_normal((5, 3)).round(2), rng.standard_normal(5).round(2)
    return relu_cert.certify_network(network, Z, y, lam="1", seconds=SECONDS)


def followed() -> object:
    """A path over an interval, with its breakpoints and its curve."""
    return relu_cert.path(*gaussian(9, 2), low="1/3", seconds=SECONDS)


COMMANDS = {
    covered: ("prove", "train", "verify"),
    coarsely: ("bound",),
    led: ("prove", "train", "leaders", "verify"),
    small: ("patterns", "prove", "verify"),
    gated: ("patterns", "lambda_max", "prove", "derivatives", "general position", "verify"),
    followed: ("patterns", "lambda_max", "path", "breakpoints", "curve", "verify"),
    given: ("examine", "prove", "train", "lambda_max", "verify"),
}


@pytest.mark.parametrize("after", [0, 3])
@pytest.mark.parametrize(
    ("command", "stage"), [(command, stage) for command, stages in COMMANDS.items() for stage in stages]
)
def test_the_limit_ends_every_stage(
    jump: Callable[[str, int], Hands], command: Callable[[], object], stage: str, after: int
) -> None:
    """The time is over in the middle of a stage: the call ends after few more looks at the clock; what it returns, the
    checker has accepted, and else it says that the time was over."""
    hands = jump(stage, after)
    try:
        found = command()
    except relu_cert.UsageError as error:
        assert "seconds" in str(error)
    else:
        assert found
    assert hands.reached and hands.looks <= FEW


def test_the_limit_ends_the_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The time is over before a file is read to its end: exit code 64, a sentence, and no certificate."""
    path = tmp_path / "d.csv"
    path.write_text("a,b,y\n" + "1,2,3\n4,5,6\n" * 5000)
    hands = Hands("", 0)
    monkeypatch.setattr(clock, "thread_time", hands)
    monkeypatch.setattr(clock, "monotonic", hands)
    monkeypatch.setattr("relu_cert.data.raw.OFTEN", 1000)
    read = relu_cert.data.raw.Record
    monkeypatch.setattr(
        "relu_cert.data.raw.Record", lambda line, fields: hands.at("" if line > 5000 else "-") or read(line, fields)
    )
    monkeypatch.chdir(tmp_path)
    assert main(["check", "d.csv", "--seconds", "100"]) == 64
    assert "--seconds" in capsys.readouterr().err
    assert not (tmp_path / "d.cert.json").exists()


def test_shares_of_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stage has its share of what is left, and what comes after it the rest; without a limit nothing is one."""
    now = 0.0
    monkeypatch.setattr(clock, "thread_time", lambda: now)
    monkeypatch.setattr(clock, "monotonic", lambda: now)
    with limited(100.0):
        now = 50.0
        with planned(0.8):
            assert until(1000.0).left == until(None).left == 40.0 and until(7.0).left == 7.0
            now = 90.0
            assert stopped()
            with pytest.raises(Late):
                require_time()
        assert not stopped() and until(None).left == 10.0
        require_time()
    assert not stopped() and until(None) == clock.NEVER
    with planned(0.1):
        assert until(None) == clock.NEVER
