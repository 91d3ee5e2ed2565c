"""`lawful doctor`: versions, backends, the compilation cache and the self-test."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lawful.cli import main
from lawful.cli._doctor import _installation, _self_test
from lawful.cli._doctor._installation import in_range
from lawful.xla_backend import set_cache_dir


def report(capsys: pytest.CaptureFixture[str], status: int = 0) -> Any:
    assert main(["doctor", "--json"]) == status
    return json.loads(capsys.readouterr().out)


def row(found: Any, group: str, name: str) -> Any:
    [one] = [each for each in found[group] if each["name"] == name]
    return one


def test_doctor_of_this_installation(capsys: pytest.CaptureFixture[str]) -> None:
    found = report(capsys)
    assert found["problems"] == []
    assert row(found, "packages", "jaxlib")["detail"].endswith("needed: >=0.11.2,<0.13")
    assert {row(found, "backends", name)["state"] for name in ("backend numpy", "backend xla")} == {"ok"}
    assert {each["state"] for each in found["self_test"]} == {"ok"}
    assert sum(each["seconds"] for each in found["self_test"]) < 30  # on a busy machine
    assert len(found["bug_report"]) == 5


def test_doctor_prints_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    printed = capsys.readouterr().out
    for text in ("Packages", "Backends", "Self-test, ", "jit by xla", "All that is installed works", "bug report"):
        assert text in printed


@pytest.mark.parametrize("package", ["jaxlib", "numpy"])
def test_doctor_version_out_of_range(
    package: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    version = _installation.version
    monkeypatch.setattr(_installation, "version", lambda name: "0.1.2" if name == package else version(name))
    found = report(capsys, 1)
    assert row(found, "packages", package)["state"] == "bad"
    assert found["problems"][0].startswith(f"{package}: 0.1.2, needed: ")


def test_doctor_package_that_is_missing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise _installation.PackageNotFoundError(name)

    monkeypatch.setattr(_installation, "version", version)
    assert "ml-dtypes: not installed, needed: >=0.5" in report(capsys, 1)["problems"]


def test_doctor_self_test_finds_what_is_wrong(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_self_test, "_geometric", lambda x: x * x)
    found = report(capsys, 1)
    assert row(found, "self_test", "loops")["detail"].startswith("expected ")
    assert row(found, "self_test", "derivatives")["state"] == "ok"
    assert main(["doctor"]) == 1
    assert "not working:\n  loops: expected" in capsys.readouterr().out


def test_doctor_cache_folder(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    set_cache_dir(tmp_path / "programs")
    try:
        assert "not made yet" in report(capsys)["cache"]["detail"]
    finally:
        set_cache_dir(None)
    assert "none" in report(capsys)["cache"]["detail"]


def test_doctor_default_backend_that_is_not_there() -> None:
    """A process reads the variable once, so this is another process."""
    command = [sys.executable, "-c", "import lawful.cli; lawful.cli.main(['doctor', '--json'])"]
    environment = {**os.environ, "LAWFUL_BACKEND": "abacus"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    found = json.loads(done.stdout)
    assert {row(found, "backends", name)["state"] for name in ("backend numpy", "backend xla")} == {"ok"}
    [problem] = found["problems"]
    assert problem.startswith("default backend: MissingBackendError: backend: expected one of ")
    assert "got 'abacus'" in problem


def test_doctor_names_environment_variables(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=x")
    monkeypatch.setenv("SECRET", "no")
    found = report(capsys)["environment"]
    assert found["XLA_FLAGS"] == "--xla_dump_to=x"
    assert "SECRET" not in found


@pytest.mark.parametrize(
    ("version", "wanted", "holds"),
    [
        ("2.5.5", ">=2.0", True), ("1.26", ">=2.0", False), ("0.12.0.1", ">=0.11.2,<0.13", True),
        ("0.13", ">=0.11.2,<0.13", False), ("1.2.3", "~=1.2", True), ("2.0", "~=1.2", False), ("1.4", "==1.4.*", True),
        ("1.5", "!=1.5", False), ("1.5", "<=1.5.0", True), ("1.5rc1", ">1.4", True),
    ],
)  # fmt: skip
def test_doctor_in_range(version: str, wanted: str, holds: bool) -> None:
    assert in_range(version, wanted) == holds


def test_doctor_cache_folder_that_cannot_be_made(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file/programs"):
        set_cache_dir(folder)
        try:
            found = report(capsys, status=1)["cache"]
        finally:
            set_cache_dir(None)
        assert found["state"] == "bad"
        assert found["detail"].endswith("; it cannot be written to")


@pytest.mark.parametrize("name", ["LAWFUL_FAST", "LAWFUL_DEBUG_NANS", "LAWFUL_EXPLAIN_CACHE_MISSES"])
def test_doctor_wrong_word_in_the_environment(name: str) -> None:
    command = [sys.executable, "-c", "import sys, lawful.cli; sys.exit(lawful.cli.main(['doctor']))"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, name: "maybe"})
    assert done.returncode == 2
    assert done.stderr.startswith(f"lawful: {name} in the environment: expected 1")
    assert done.stderr.count("\n") == 1
