"""One build of all distributions: what a package index and an installer read in each wheel and sdist."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECTS = {
    path.parent.name: tomllib.loads(path.read_text()) for path in sorted(ROOT.glob("packages/*/pyproject.toml"))
}
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
LICENSE = (ROOT / "LICENSE").read_bytes()

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the wheels and sdists of all packages."""
    folder = tmp_path_factory.mktemp("dist")
    command = [os.environ.get("UV", "uv"), "build", "--all-packages", "--out-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def stem(folder: str) -> str:
    return f"{PROJECTS[folder]['project']['name'].replace('-', '_')}-{VERSION}"


def modules(folder: str) -> list[str]:
    names = PROJECTS[folder]["tool"]["uv"]["build-backend"]["module-name"]
    return [names] if isinstance(names, str) else names


def wheel(built: Path, folder: str) -> dict[str, bytes]:
    with zipfile.ZipFile(built / f"{stem(folder)}-py3-none-any.whl") as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


def sdist(built: Path, folder: str) -> dict[str, bytes]:
    """Its files by their path below the folder of its name."""
    files = {}
    with tarfile.open(built / f"{stem(folder)}.tar.gz") as archive:
        for entry in archive:
            if file := archive.extractfile(entry):
                files[str(PurePosixPath(entry.name).relative_to(stem(folder)))] = file.read()
    return files


def metadata(built: Path, folder: str) -> Message:
    found = Parser().parsestr(wheel(built, folder)[f"{stem(folder)}.dist-info/METADATA"].decode())
    assert found.get_all("Metadata-Version")
    return found


def test_distributions_are_one_wheel_and_sdist_each(built: Path) -> None:
    expected = {f"{stem(folder)}{end}" for folder in PROJECTS for end in ("-py3-none-any.whl", ".tar.gz")}
    assert {path.name for path in built.iterdir()} - {".gitignore"} == expected


def test_distributions_pass_twine(built: Path) -> None:
    files = sorted(map(str, [*built.glob("*.whl"), *built.glob("*.tar.gz")]))
    command = [sys.executable, "-m", "twine", "--no-color", "check", "--strict", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    # It wraps lines where the terminal ends, also inside words.
    assert "".join(done.stdout.split()).count(":PASSED") == len(files) == 2 * len(PROJECTS)


@pytest.mark.parametrize("folder", PROJECTS)
def test_distribution_metadata(built: Path, folder: str) -> None:
    found, project = metadata(built, folder), PROJECTS[folder]["project"]
    assert (found["Name"], found["Version"]) == (project["name"], VERSION)
    assert found["Summary"] == project["description"]
    assert found["License-Expression"] == "Apache-2.0"
    assert found.get_all("License-File") == ["LICENSE"]
    assert found["Requires-Python"] == ">=3.12"
    assert found["Description-Content-Type"] == "text/markdown"
    assert found.get_payload() == (ROOT / "packages" / folder / "README.md").read_text()
    classifiers = found.get_all("Classifier") or []
    assert set(classifiers) >= {
        "Typing :: Typed",
        "Intended Audience :: Science/Research",
        *(f"Programming Language :: Python :: 3.{minor}" for minor in (12, 13, 14)),
    }
    pinned = [line for line in found.get_all("Requires-Dist") or [] if line.startswith("lawful")]
    assert len(pinned) >= sum(line.startswith("lawful") for line in project["dependencies"])
    assert all(re.fullmatch(rf"lawful[\w-]*=={re.escape(VERSION)}( ; extra .*)?", line) for line in pinned), pinned


@pytest.mark.parametrize("folder", PROJECTS)
def test_distribution_files(built: Path, folder: str) -> None:
    """A wheel has the modules, typed, and the license; an sdist has what builds the wheel. Neither has more."""
    source = ROOT / "packages" / folder / "src"
    own = {
        str(path.relative_to(source)): path.read_bytes()
        for module in modules(folder)
        for path in (source / module.replace(".", "/")).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {f"{module.replace('.', '/')}/py.typed" for module in modules(folder)} <= set(own)

    info = f"{stem(folder)}.dist-info"
    described = {f"{info}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "licenses/LICENSE")}
    if {"scripts", "entry-points"} & set(PROJECTS[folder]["project"]):
        described.add(f"{info}/entry_points.txt")
    files = wheel(built, folder)
    assert set(files) == {*own, *described}
    assert {name: files[name] for name in own} == own
    assert files[f"{info}/licenses/LICENSE"] == LICENSE

    files = sdist(built, folder)
    described = {"LICENSE", "PKG-INFO", "README.md", "pyproject.toml"}
    # uv adds the second: `pyproject.toml` as it is in the repository.
    assert set(files) - {"pyproject.toml.orig"} == {*(f"src/{name}" for name in own), *described}
    assert files["LICENSE"] == LICENSE


@pytest.mark.parametrize("folder", PROJECTS)
def test_distribution_readme_links_work_outside(folder: str) -> None:
    """On an index a link to a file of the repository leads nowhere."""
    text = re.sub(r"^```.*?^```", "", (ROOT / "packages" / folder / "README.md").read_text(), flags=re.M | re.S)
    assert re.findall(r"\]\(\s*(?!https://)[^)]*\)", text) == []
