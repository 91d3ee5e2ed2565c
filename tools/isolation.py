"""Test every package from its wheel, alone in a fresh environment.

    uv run python tools/isolation.py                                  # every package
    uv run python tools/isolation.py core autodiff                    # these
    uv run python tools/isolation.py xla-backend --with jaxlib==0.11.2
    uv run python tools/isolation.py --for xla-backend:jaxlib==0.11.2  # every package, one of them beside this

For each package: install its wheel with only what it declares, see that the third-party distributions are
those of the layer table, import every module, then add pytest and run the package's tests and README where
no source folder can be imported. So an undeclared import, which passes in the shared environment, fails here.
"""

import argparse
import contextlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = sorted(path.parent.name for path in ROOT.glob("packages/*/pyproject.toml"))

# Third-party distributions that a package brings along: none with these, otherwise two, and those under its folder.
ALONE = {"tree"}
ARRAYS = {"ml-dtypes", "numpy"}
BEYOND_ARRAYS = {
    "xla-backend": {"jaxlib", "scipy"},
    "numpy": {"opt-einsum"},
    "autograd-api": {"opt-einsum"},
    "checkify": {"opt-einsum"},
    "jax-api": {"opt-einsum"},
    "laws": {"hypothesis", "sortedcontainers", "opt-einsum"},
    "lawful": {
        *("jaxlib", "scipy"),
        *("hypothesis", "sortedcontainers", "opt-einsum"),
        *("markdown-it-py", "mdurl", "pygments", "rich"),
    },
}

# Tests that draw programs or compile them take so many times as long as others of the same length.
SLOW = 4

# An adapter of a library that is not there has to say what to install, and is the only module that may need one.
IMPORT_ALL = """
import importlib, pkgutil, sys
for name in sys.argv[1:]:
    package = importlib.import_module(name)
    for module in pkgutil.walk_packages(package.__path__, name + "."):
        if module.name.endswith(".__main__"):
            continue
        try:
            importlib.import_module(module.name)
        except ImportError as error:
            if not module.name.startswith("lawful.laws.systems.") or "pip install" not in str(error):
                raise
"""


class StepFailed(Exception):
    """A step of one package went wrong: its name, and what to print."""

    def __init__(self, step: str, output: str) -> None:
        super().__init__(step)
        self.step, self.output = step, output


@dataclass(frozen=True, slots=True)
class Run:
    """The tests of one package, with requirements beside its own; its environment is in a folder of its own."""

    folder: str
    extra: Sequence[str]
    work: Path

    @property
    def label(self) -> str:
        return " ".join((self.folder, *self.extra))

    @property
    def home(self) -> Path:
        return self.work / re.sub(r"[^\w.-]", "-", self.label)

    @property
    def size(self) -> int:
        """How much there is to test: what takes long starts first, so that no core waits at the end."""
        sizes = [path.stat().st_size for path in (ROOT / "packages" / self.folder / "tests").rglob("*.py")]
        return sum(sizes) * (SLOW if self.folder in ("laws", "xla-backend") else 1)


@dataclass(frozen=True, slots=True)
class Result:
    label: str
    verdict: str
    seconds: float
    third_party: Sequence[str]
    output: str


def main() -> int:
    parser = argparse.ArgumentParser(description="Test every package from its wheel, alone.")
    parser.add_argument("folders", nargs="*", default=FOLDERS, help="folders of packages/ (default: all)")
    parser.add_argument("--with", dest="extra", action="append", default=[], metavar="REQUIREMENT")
    parser.add_argument(
        "--for", dest="own", action="append", default=[], metavar="FOLDER:REQUIREMENT", help="of one package only"
    )
    parser.add_argument("--one-of", type=int, default=1, metavar="N", help="about one of N cases of each test")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="packages at a time")
    arguments = parser.parse_args()
    own = [requirement.partition(":") for requirement in arguments.own]
    if unknown := set(arguments.folders) - set(FOLDERS):
        parser.error(f"not in packages/: {', '.join(sorted(unknown))}")
    for folder, _, requirement in own:
        if folder not in arguments.folders or not requirement:
            parser.error(f"--for: expected FOLDER:REQUIREMENT of a tested package, got {folder}:{requirement}")

    with tempfile.TemporaryDirectory(prefix="lawful-isolation-") as directory:
        work = Path(directory)
        runs = [
            Run(name, [*arguments.extra, *[requirement for folder, _, requirement in own if folder == name]], work)
            for name in arguments.folders
        ]
        try:
            wheels = build_wheels(work / "wheels")
        except StepFailed as failure:
            print(failure.output)
            return 1
        with ThreadPoolExecutor(arguments.jobs) as pool:
            order = sorted(runs, key=lambda run: -run.size)
            results = list(pool.map(lambda run: check(run, wheels, f"--one-of={arguments.one_of}"), order))

    for result in results:
        if result.verdict != "ok":
            print(f"\n--- {result.label}: {result.verdict} ---\n{result.output}")
    width = max(len(result.label) for result in results) + 2
    print(f"\n{'package':<{width}}{'seconds':>8}  {'verdict':<28}third-party distributions")
    for result in results:
        print(f"{result.label:<{width}}{result.seconds:>8.1f}  {result.verdict:<28}{', '.join(result.third_party)}")
    return int(any(result.verdict != "ok" for result in results))


def build_wheels(directory: Path) -> list[Path]:
    call("build", uv(), "build", "--all-packages", "--wheel", "--out-dir", directory, cwd=ROOT)
    return sorted(directory.glob("*.whl"))


def write_constraints(home: Path, wheels: Sequence[Path], free: Collection[str]) -> None:
    """Fix siblings to the wheels just built, and all else to the workspace's versions save the free distributions."""
    pins = read_toml(ROOT)["tool"]["uv"]["constraint-dependencies"]
    lines = [pin for pin in pins if distribution(pin) not in free]
    lines += [f"{distribution(wheel.name.split('-')[0])} @ {wheel.as_uri()}" for wheel in wheels]
    home.mkdir()
    (home / "constraints.txt").write_text("\n".join(lines))


def check(run: Run, wheels: Sequence[Path], *options: str) -> Result:
    """Install one package and run its tests, with these options of pytest."""
    start = time.monotonic()
    third_party: list[str] = []
    verdict, output = "ok", ""
    bytecode = Bytecode(run.work / "bytecode", run.home / "venv")
    try:
        write_constraints(run.home, wheels, {distribution(requirement) for requirement in run.extra})
        third_party += install_alone(run, bytecode)
        run_tests(run, bytecode, *options)
    except StepFailed as failure:
        verdict, output = f"FAILED: {failure.step}", failure.output
    return Result(run.label, verdict, time.monotonic() - start, third_party, output)


@dataclass(frozen=True, slots=True)
class Bytecode:
    """Compiled modules that the environments share: most of them have NumPy, pytest and the lower packages.

    Python compiles a module again if the size or the time of its source is another one, as that of another version.

    Attributes:
      pool: the folder of those that an environment has compiled.
      venv: the environment.
    """

    pool: Path
    venv: Path

    def take(self) -> None:
        """Links what is in the pool of the installed modules, and only of those: a folder is a package by itself."""
        for source in self.site.rglob("*.py"):
            target = Path(importlib.util.cache_from_source(source))
            known = self.pool / target.relative_to(self.site)
            if known.exists() and not target.exists():
                target.parent.mkdir(exist_ok=True)
                target.hardlink_to(known)

    def give(self, *, other_libraries: bool = False) -> None:
        """Links what has been compiled into the pool; with ``other_libraries`` no module of lawful."""
        for compiled in self.site.rglob("*.pyc"):
            name = compiled.relative_to(self.site)
            if name.parts[0] == "lawful" and other_libraries:
                continue
            known = self.pool / name
            known.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                known.hardlink_to(compiled)

    @property
    def site(self) -> Path:
        return next(self.venv.glob("lib/python*/site-packages"))


def install_alone(run: Run, bytecode: Bytecode) -> list[str]:
    """Install and import; return the third-party distributions that came along."""
    home, work = run.home, run.work
    project = read_toml(ROOT / "packages" / run.folder)
    call("venv", uv(), "venv", "--python", sys.executable, home / "venv", cwd=work)
    install("install", home, project["project"]["name"], *run.extra)

    listing = call("list", uv(), "pip", "list", "--format", "json", "--python", home / "venv", cwd=work)
    installed = {row["name"]: row["version"] for row in json.loads(listing)}
    found = {name for name in installed if name != "lawful" and not name.startswith("lawful-")}
    expected = set() if run.folder in ALONE else ARRAYS | BEYOND_ARRAYS.get(run.folder, set())
    if found != expected:
        raise StepFailed("dependencies", f"expected {sorted(expected)}, got {sorted(found)}")

    modules = project["tool"]["uv"]["build-backend"]["module-name"]
    names = [modules] if isinstance(modules, str) else modules
    bytecode.take()
    call("import", home / "venv/bin/python", "-I", "-W", "error", "-c", IMPORT_ALL, *names, cwd=work)
    # Warnings of the compiler were errors. The tests hide them.
    bytecode.give()
    return [f"{name} {installed[name]}" for name in sorted(found)]


def run_tests(run: Run, bytecode: Bytecode, *options: str) -> None:
    install("install pytest", run.home, *test_requirements(run.folder))
    bytecode.take()
    copy_tests(run.folder, run.home)
    pytest(run.home, *options)
    bytecode.give(other_libraries=True)


def test_requirements(folder: str) -> list[str]:
    """The requirements of the tests of a package, beside its wheel."""
    requirements: list[str] = read_toml(ROOT / "packages" / folder)["dependency-groups"]["test"]
    return requirements


def copy_tests(folder: str, home: Path) -> None:
    """Copy the tests of a package where no source folder can be imported."""
    source, copy = ROOT / "packages" / folder, home / "packages" / folder
    shutil.copytree(source / "tests", copy / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(source / "README.md", copy)
    # pytest's configuration and the Hypothesis profiles; neither makes anything importable.
    shutil.copy(ROOT / "pyproject.toml", home)
    shutil.copy(ROOT / "conftest.py", home)


def pytest(home: Path, *options: str) -> str:
    """Run the tests copied to this folder, and return what pytest prints."""
    quiet = ("-q", "-m", "not once", "-p", "no:cacheprovider")
    return call("tests", home / "venv/bin/pytest", *quiet, *options, "packages", cwd=home)


def install(step: str, home: Path, *requirements: str) -> None:
    options = ("--python", home / "venv", "--constraints", home / "constraints.txt")
    # Outside of the workspace, so that nothing comes from its sources or its pins.
    call(step, uv(), "pip", "install", *options, *requirements, cwd=home.parent)


def call(step: str, *command: str | Path, cwd: Path) -> str:
    """The standard output of the command."""
    hidden = ("PYTHONPATH", "VIRTUAL_ENV", "UV_PROJECT_ENVIRONMENT", "UV_PYTHON")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise StepFailed(step, f"$ {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def uv() -> str:
    return os.environ.get("UV", "uv")  # `uv run` tells its own path, which need not be on PATH


def distribution(requirement: str) -> str:
    """The normalized name of a distribution at the start of a requirement.

    >>> distribution("ml_dtypes==0.6.0")
    'ml-dtypes'
    """
    match = re.match(r"[\w.-]*\w", requirement)
    assert match, requirement
    return re.sub(r"[-_.]+", "-", match[0]).lower()


def read_toml(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text())


if __name__ == "__main__":
    sys.exit(main())
