"""The checker that runs is the one that was installed beside relu_cert."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from base64 import urlsafe_b64encode
from hashlib import sha256
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

import verify
from relu_cert import certify, checker
from relu_cert.errors import ReluCertError

ROOT = Path(__file__).parents[1]
FOREIGN = "print('the checker of somebody else')\ndef check(*_): return []\nclass VerifyError(Exception): ...\n"


@pytest.fixture(params=["verify.py", "verify/__init__.py"])
def shadowed(request, tmp_path, monkeypatch) -> Path:
    """A folder with data, and with a module called verify that accepts everything."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text("x,y\n1,1\n2,3\n-1,2\n")
    path = tmp_path / request.param
    path.parent.mkdir(exist_ok=True)
    path.write_text(FOREIGN)
    return tmp_path


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    place = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, *arguments], env=place, capture_output=True, text=True, check=False)


def test_a_module_in_the_current_folder_is_not_the_checker(shadowed):
    """`check` neither runs it nor fails because of it, and says how the real one is called from there."""
    ran = python("-m", "relu_cert", "check", "d.csv")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "somebody else" not in ran.stdout
    line = next(line for line in ran.stdout.splitlines() if line.startswith("re-check it"))
    assert line.split()[2:] == ["python", "-P", "-m", "verify", "d.cert.json", "--data", "d.csv"]
    again = python(*line.split()[3:])
    assert again.returncode == 0 and "accepted" in again.stdout and "somebody else" not in again.stdout


def test_soundness_runs_use_the_installed_checker(shadowed):
    """The statements about the certifier judge it by the real checker, too."""
    ran = python("-c", "import properties.soundness.case as c; print(c.check.__module__)")
    assert (ran.stdout.strip(), ran.stderr) == ("verify.certificate", "")


def test_another_checker_that_is_loaded_already_is_refused(monkeypatch):
    """No verdict comes from a module that merely has the name."""
    monkeypatch.setitem(sys.modules, "verify", types.ModuleType("verify"))
    with pytest.raises(ReluCertError, match="another module called verify was loaded before"):
        certify([[1], [2]], [1, 3], 1)


def test_a_missing_checker_is_told(monkeypatch, tmp_path):
    """A sentence, not an ImportError."""
    monkeypatch.delitem(sys.modules, "verify")
    monkeypatch.setattr(checker, "BESIDE", tmp_path)
    with pytest.raises(ReluCertError, match="the checker is missing"):
        checker.load()


def test_the_checker_is_loaded_once():
    """It is the module that `import verify` gives elsewhere."""
    assert checker.load() is verify


def test_a_replaced_file_is_seen(monkeypatch, tmp_path):
    """Another package called verify, installed over ours, is named before it could run."""
    info = tmp_path / "relu_cert-0.dist-info"
    info.mkdir()
    (tmp_path / "verify").mkdir()
    file = tmp_path / "verify" / "__init__.py"
    file.write_bytes(b"ours\n")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: relu_cert\nVersion: 0\n")
    installed = PathDistribution(info)
    digest = urlsafe_b64encode(sha256(b"ours\n").digest()).rstrip(b"=").decode()
    (info / "RECORD").write_text(f"verify/__init__.py,sha256={digest},5\n")
    monkeypatch.setattr(checker, "distribution", lambda _: installed)
    checker._require_installed(tmp_path)
    file.write_text(FOREIGN)
    with pytest.raises(ReluCertError, match="is not the file that was installed"):
        checker._require_installed(tmp_path)
