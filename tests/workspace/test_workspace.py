"""Each list of packages names every package, and all are of one version."""

import ast
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def read(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text())


WORKSPACE = read(ROOT)
PACKAGES = {path.parent.name: read(path.parent) for path in sorted(ROOT.glob("packages/*/pyproject.toml"))}
DISTRIBUTIONS = {package["project"]["name"] for package in PACKAGES.values()}
VERSION = WORKSPACE["project"]["version"]


def modules(package: dict[str, Any]) -> list[str]:
    names = package["tool"]["uv"]["build-backend"]["module-name"]
    return [names] if isinstance(names, str) else names


def test_every_package_is_installed_for_development() -> None:
    assert "lawful" in WORKSPACE["dependency-groups"]["dev"]
    assert set(WORKSPACE["tool"]["uv"]["sources"]) == DISTRIBUTIONS


def test_every_package_is_type_checked() -> None:
    assert WORKSPACE["tool"]["mypy"]["mypy_path"] == [f"packages/{folder}/src" for folder in PACKAGES]


def test_every_package_has_its_layer() -> None:
    [contract] = [c for c in WORKSPACE["tool"]["importlinter"]["contracts"] if c["id"] == "layers"]
    layers = [name for line in contract["layers"] for name in line.replace(":", " ").split()]
    assert sorted(f"lawful.{name}" for name in layers) == sorted(m for p in PACKAGES.values() for m in modules(p))


def test_the_meta_distribution_installs_every_package() -> None:
    dependencies = {line.split("==")[0] for line in PACKAGES["lawful"]["project"]["dependencies"]}
    assert dependencies >= DISTRIBUTIONS - {"lawful"}


@pytest.mark.parametrize("folder", PACKAGES)
def test_a_package_is_released_with_its_siblings(folder: str) -> None:
    project = PACKAGES[folder]["project"]
    assert project["version"] == VERSION
    siblings = [line for line in project["dependencies"] if line.startswith("lawful")]
    assert all(line.endswith(f"=={VERSION}") for line in siblings)


@pytest.mark.parametrize("folder", PACKAGES)
def test_a_package_is_typed_and_leaves_the_namespace_open(folder: str) -> None:
    source = ROOT / "packages" / folder / "src"
    for module in modules(PACKAGES[folder]):
        assert (source / module.replace(".", "/") / "py.typed").is_file()
    assert not (source / "lawful/__init__.py").exists()


def imported_layers(path: Path) -> set[str]:
    """The portions of the namespace that a file imports when it is loaded, such as ``lawful.autodiff``."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.ImportFrom(module="lawful"):
                names |= {f"lawful.{alias.name}" for alias in node.names}
            case ast.ImportFrom(module=str(module)):
                names.add(module)
            case ast.Import():
                names |= {alias.name for alias in node.names}
    return {".".join(name.split(".")[:2]) for name in names if name.startswith("lawful.")}


def installed_with(folder: str) -> set[str]:
    """The modules that come when the wheel of a folder is installed: its own and those of all it declares."""
    package = PACKAGES[folder]
    declared = {line.split("==")[0].split("[")[0] for line in package["project"]["dependencies"]}
    siblings = [name for name, other in PACKAGES.items() if other["project"]["name"] in declared]
    return set(modules(package)).union(*map(installed_with, siblings))


@pytest.mark.parametrize("folder", PACKAGES)
def test_the_tests_of_a_package_need_only_what_its_wheel_brings(folder: str) -> None:
    """Here they run beside all the others, but `tools/isolation.py` runs them alone."""
    for path in sorted((ROOT / "packages" / folder / "tests").rglob("*.py")):
        assert imported_layers(path) <= installed_with(folder), path.relative_to(ROOT)


def test_names_of_tests_have_at_most_60_characters() -> None:
    """A longer name is a sentence, which belongs in the docstring of the test."""
    for path in [*ROOT.glob("packages/*/tests/**/test_*.py"), *ROOT.glob("tests/**/test_*.py")]:
        names = re.findall(r"^ *def (test_\w+)", path.read_text(), re.MULTILINE)
        assert [name for name in names if len(name) > 60] == [], path.relative_to(ROOT)
