"""The commands of the README's section on installation install a package, each in a fresh environment."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: The distributions that `lawful-autodiff` installs.
INSTALLED = {
    *("lawful-autodiff", "lawful-batching", "lawful-core", "lawful-ops", "lawful-staging", "lawful-tree"),
    *("ml-dtypes", "numpy"),
}
PROGRAM = "from lawful.autodiff import grad; print(grad(lambda x: x**3)(2.0))"
#: What `lawful-autograd-api` installs besides.
WITH_AUTOGRAD = {"lawful-autograd-api", "lawful-control-flow", "lawful-custom-rules", "lawful-numpy", "opt-einsum"}

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(shutil.which("git") is None, reason="git makes the clone that the commands start from"),
]


def readme_commands() -> list[str]:
    """Returns the commands of the section, in its order."""
    section = (ROOT / "README.md").read_text().split("## Installation\n")[1].split("\n## ")[0]
    return re.findall(r"^ {4}(\S.*)$", section, re.MULTILINE)


SYNC, RUN, FROM_GIT, AUTOGRAD_FROM_GIT, BUILD, *FROM_WHEELS = readme_commands()


def call(command: str | list[str], folder: Path, environment: Path) -> str:
    """Returns what a command prints that runs in an active environment."""
    hidden = ("PYTHONPATH", "UV_PROJECT_ENVIRONMENT", "UV_PYTHON", "VIRTUAL_ENV")
    variables = {name: value for name, value in os.environ.items() if name not in hidden}
    variables["VIRTUAL_ENV"] = str(environment)
    # `uv run` tells its own path, which need not be on PATH.
    folders = [str(environment / "bin"), *([str(Path(os.environ["UV"]).parent)] if "UV" in os.environ else [])]
    variables["PATH"] = os.pathsep.join([*folders, variables["PATH"]])
    shell = isinstance(command, str)
    done = subprocess.run(
        command, cwd=folder, env=variables, shell=shell, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, f"$ {command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of one commit: the workspace as it is here, without tests."""
    folder = tmp_path_factory.mktemp("clone")
    for name in ("pyproject.toml", "README.md", ".gitignore"):
        shutil.copy(ROOT / name, folder)
    ignored = shutil.ignore_patterns("tests", "__pycache__", "dist", ".venv")
    shutil.copytree(ROOT / "packages", folder / "packages", ignore=ignored)
    author = ["-c", "user.name=lawful", "-c", "user.email=lawful@example.org", "-c", "commit.gpgsign=false"]
    for arguments in (["init", "--quiet"], ["add", "."], [*author, "commit", "--quiet", "--message", "A clone"]):
        call(["git", *arguments], folder, folder)
    return folder


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """A fresh environment with pip and nothing else."""
    folder = tmp_path / "environment"
    call([sys.executable, "-m", "venv", str(folder)], tmp_path, folder)
    return folder


@pytest.fixture(scope="module")
def wheels(clone: Path) -> Path:
    call(BUILD, clone, clone / ".venv")
    return clone


def check(environment: Path, folder: Path, also: frozenset[str] = frozenset()) -> None:
    """Checks that the environment has what `lawful-autodiff` needs, also others, nothing else, and that it works."""
    listing = call(["uv", "pip", "list", "--format", "json"], folder, environment)
    assert {row["name"] for row in json.loads(listing)} - {"pip", "setuptools"} == INSTALLED | also
    assert call([str(environment / "bin/python"), "-c", PROGRAM], folder, environment) == "12.0\n"


def test_installation_from_a_clone(clone: Path) -> None:
    call(SYNC, clone, clone / ".venv")
    check(clone / ".venv", clone)
    (clone / "program.py").write_text(PROGRAM)
    assert call(RUN, clone, clone) == "12.0\n"


def test_installation_from_a_git_url(clone: Path, environment: Path, tmp_path: Path) -> None:
    call(FROM_GIT.replace("<repository>", clone.as_uri()), tmp_path, environment)
    check(environment, tmp_path)


def test_installation_of_autograds_names(clone: Path, environment: Path, tmp_path: Path) -> None:
    call(AUTOGRAD_FROM_GIT.replace("<repository>", clone.as_uri()), tmp_path, environment)
    check(environment, tmp_path, frozenset(WITH_AUTOGRAD))
    program = PROGRAM.replace("lawful.autodiff", "lawful.autograd")
    assert call([str(environment / "bin/python"), "-c", program], tmp_path, environment) == "12.0\n"


@pytest.mark.parametrize("command", FROM_WHEELS, ids=lambda command: command.split()[0])
def test_installation_from_wheels(command: str, wheels: Path, environment: Path, tmp_path: Path) -> None:
    call(command, wheels, environment)
    check(environment, tmp_path)
