"""`tools/version.py` on a copy of the workspace: all versions, pins and the changelog, or nothing and the reason."""

import datetime
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHANGES = "# Changelog\n\n## Unreleased\n\n- A change.\n\n## 0.1.0, 2026-01-01\n\n- The first release.\n"

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(shutil.which("git") is None, reason="git tells whether the copy is clean"),
]


def git(folder: Path, *arguments: str) -> None:
    author = ["-c", "user.name=lawful", "-c", "user.email=lawful@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *author, *arguments], cwd=folder, check=True, capture_output=True)


def commit(folder: Path) -> None:
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "A state")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A repository with the files that have a version, at version 0.1.0."""
    for path in [ROOT / "pyproject.toml", ROOT / "tools/version.py", *ROOT.glob("packages/*/pyproject.toml")]:
        target = tmp_path / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(path.read_text())
    present = re.search(r'^version = "(.*)"$', (tmp_path / "pyproject.toml").read_text(), re.MULTILINE)
    assert present
    for path in tmp_path.rglob("pyproject.toml"):
        path.write_text(
            re.sub(rf'(version = "|lawful[^"]*==){re.escape(present[1])}"', r'\g<1>0.1.0"', path.read_text())
        )
    (tmp_path / "CHANGELOG.md").write_text(CHANGES)
    git(tmp_path, "init", "--quiet")
    commit(tmp_path)
    return tmp_path


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, "tools/version.py", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_version_is_raised_everywhere(copy: Path) -> None:
    assert run(copy, "0.2.0") == (0, "0.1.0 -> 0.2.0: every pyproject.toml, and the heading of CHANGELOG.md\n")
    for path in copy.rglob("pyproject.toml"):
        text = path.read_text()
        assert 'version = "0.2.0"' in text
        assert re.findall(r'lawful[^"]*==(?!0\.2\.0")', text) == []
    expected = CHANGES.replace("Unreleased", f"0.2.0, {datetime.date.today().isoformat()}")
    assert (copy / "CHANGELOG.md").read_text() == expected
    assert run(copy, "--check") == (0, "all packages have version 0.2.0\n")


def test_version_of_the_first_release_gets_its_date(copy: Path) -> None:
    (copy / "CHANGELOG.md").write_text("# Changelog\n\n## 0.1.0, unreleased\n\n- The first release.\n")
    commit(copy)
    assert run(copy, "0.1.0")[0] == 0
    assert f"## 0.1.0, {datetime.date.today().isoformat()}\n" in (copy / "CHANGELOG.md").read_text()


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("0.0.9", "expected a version above 0.1.0, got 0.0.9"),
        ("0.1.0", "expected a version above 0.1.0, got 0.1.0"),
        ("0.1.0rc1", "expected a version above 0.1.0, got 0.1.0rc1"),
        ("1.0", "expected a version such as 0.2.0 or 0.2.0rc1, got 1.0"),
    ],
)
def test_version_that_is_not_higher_is_refused(copy: Path, version: str, reason: str) -> None:
    assert run(copy, version) == (1, f"version.py: {reason}\n")
    subprocess.run(["git", "diff", "--exit-code"], cwd=copy, check=True)


def test_version_of_a_dirty_checkout_is_refused(copy: Path) -> None:
    (copy / "new.txt").write_text("")
    code, output = run(copy, "0.2.0")
    assert code == 1
    assert output.startswith("version.py: expected a clean checkout")
    assert "new.txt" in output


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (CHANGES.replace("- A change.\n\n", ""), "got an empty one"),
        (CHANGES.partition("## U")[0] + "## 0.1.0\n", "got '## 0.1.0'"),
    ],
)
def test_version_without_changes_is_refused(copy: Path, changes: str, reason: str) -> None:
    (copy / "CHANGELOG.md").write_text(changes)
    commit(copy)
    code, output = run(copy, "0.2.0")
    assert code == 1
    assert reason in output


def test_version_check_names_what_differs(copy: Path) -> None:
    path = copy / "packages/core/pyproject.toml"
    path.write_text(path.read_text().replace("lawful-tree==0.1.0", "lawful-tree==0.0.1"))
    expected = "packages/core/pyproject.toml: expected a sibling of version 0.1.0, got lawful-tree==0.0.1\n"
    assert run(copy, "--check") == (1, expected)


def test_version_of_this_checkout_is_one() -> None:
    assert run(ROOT, "--check")[0] == 0
