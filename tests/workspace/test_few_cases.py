"""``pytest --one-of N``: some cases of each parametrized test, and every other test."""

import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]

TESTS: Final = """
import pytest

@pytest.mark.parametrize("case", range(60))
def test_of_many_cases(case):
    pass

@pytest.mark.parametrize("case", [7])
def test_of_one_case(case):
    pass

def test_without_cases():
    pass
"""


ON_DEVICES: Final = """
import pytest

@pytest.mark.parametrize("case", range(60))
def test_of_the_first_case(case):
    assert case == 0
"""


def collected(folder: Path, *options: str) -> list[str]:
    """The names of the tests that pytest would run, with the configuration of this workspace."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *options]
    places = [f"--rootdir={folder}", f"--confcutdir={ROOT}", "-c", ROOT / "pyproject.toml", folder / "test_cases.py"]
    done = subprocess.run([*command, *map(str, places)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.rpartition("::")[2] for line in done.stdout.splitlines() if "::" in line]


def test_one_of_runs_every_test_with_some_of_its_cases(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    (tmp_path / "test_cases.py").write_text(TESTS)
    every, some = collected(tmp_path), collected(tmp_path, "--one-of=3")
    assert len(every) == 62
    assert [name for name in every if name in some] == some == collected(tmp_path, "--one-of=3")
    assert {"test_of_many_cases[0]", "test_of_one_case[7]", "test_without_cases"} <= set(some)
    assert 10 <= len(some) - 3 <= 30


def test_one_of_counts_in_processes_with_several_devices(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    (tmp_path / "test_cases_on_devices.py").write_text(ON_DEVICES)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        f"--rootdir={tmp_path}",
        "--one-of=100000",
    ]
    done = subprocess.run([*command, str(tmp_path)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
