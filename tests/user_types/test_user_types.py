"""Programs of users, checked by mypy and pyright in strict mode: no error, and the types that `assert_type` says."""

import ast
import functools
import importlib.util
import inspect
import json
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).with_name("programs")
#: The signatures that checkers read in place of those of the functions.
TYPED = sorted(ROOT.glob("packages/*/src/lawful/**/_typed*.pyi"))

Check = Callable[[Path], subprocess.CompletedProcess[str]]
Checked = Callable[[Check], subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the programs, and in ``site`` all packages side by side, as wheels install them."""
    folder = tmp_path_factory.mktemp("user")
    for program in PROGRAMS.glob("*.py"):
        shutil.copy(program, folder)
    namespace = folder / "site/lawful"
    namespace.mkdir(parents=True)
    for portion in ROOT.glob("packages/*/src/lawful/*"):
        if portion.name != "__pycache__":
            (namespace / portion.name).symlink_to(portion)
    return folder


def run(tool: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    # Without a configuration of this repository, and without its stubs and caches.
    environment = {**os.environ, "MYPYPATH": str(folder / "site")}
    command = [sys.executable, "-m", tool, *options]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def check_mypy(folder: Path) -> subprocess.CompletedProcess[str]:
    options = ("--strict", "--namespace-packages", "--explicit-package-bases", "--follow-imports=silent")
    programs = sorted(path.name for path in folder.glob("*.py"))
    return run("mypy", folder, *options, "--config-file=", "--cache-dir=.cache", *programs)


def check_pyright(folder: Path) -> subprocess.CompletedProcess[str]:
    settings = {
        "include": ["*.py"],
        "extraPaths": ["site"],
        "typeCheckingMode": "strict",
        "pythonVersion": f"{sys.version_info.major}.{sys.version_info.minor}",
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    return run("pyright", folder, "--project", str(folder), "--pythonpath", sys.executable)


#: Types of arguments and results are known: a wrong one of each is found, and a name that a package lacks.
MISTAKES = (
    "from lawful.autodiff import grad\nfrom lawful.control_flow import while_loop\nfrom lawful.staging import jit\n"
    "def f(x: float, y: float) -> float: return x\n"
    "grad(f)(1.0, 'x')\n"
    "jit(f)(1.0, 2.0).missing\n"
    "while_loop(lambda x: x < 2.0, lambda x: 'x', 1.0).missing\n"
)
#: The lines of the mistakes, without those of missing names.
WRONG = {5, 6, 7}


def packages_with_names(folder: Path) -> list[str]:
    """Returns the packages, and the modules that look their names up when they are used."""
    packages = sorted(path.name for path in (folder / "site/lawful").iterdir())
    packages += ["jax.lax", "jax.numpy", "jax.numpy.linalg", "jax.random", "jax.scipy.special", "jax.tree_util"]
    return [*packages, "autograd.numpy", "autograd.numpy.linalg", "autograd.scipy.stats.norm", "autograd.extend"]


@pytest.fixture(scope="module")
def checked(
    user: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Check], subprocess.CompletedProcess[str]]:
    """Runs a checker, once for all tests, on the programs and on one with mistakes."""
    folder = tmp_path_factory.mktemp("checked")
    for program in user.glob("*.py"):
        shutil.copy(program, folder)
    (folder / "site").symlink_to(user / "site")
    missing = "".join(f"from lawful.{package} import missing\n" for package in packages_with_names(user))
    (folder / "mistakes.py").write_text(MISTAKES + missing)
    return functools.cache(lambda check: check(folder))


@pytest.mark.parametrize("check", [check_mypy, check_pyright])
def test_user_types_are_checked(check: Check, checked: Checked) -> None:
    """No line of the output is about a program of users, but all are checked."""
    done = checked(check)
    errors = [line for line in done.stdout.splitlines() if ": error" in line or " - error" in line]
    assert errors, done.stdout + done.stderr
    assert [line for line in errors if "mistakes.py:" not in line] == []
    if check is check_mypy:
        assert f"checked {len(list(PROGRAMS.glob('*.py'))) + 1} source files" in done.stdout


@pytest.mark.parametrize("check", [check_mypy, check_pyright])
def test_user_types_find_a_mistake(check: Check, checked: Checked, user: Path) -> None:
    done = checked(check)
    assert done.returncode == 1
    first = max(WRONG) + 1
    lines = {*WRONG, *range(first, first + len(packages_with_names(user)))}
    assert {line for line in lines if f"mistakes.py:{line}:" in done.stdout} == lines, done.stdout


@pytest.fixture(scope="module")
def typed_names() -> ModuleType:
    spec = importlib.util.spec_from_file_location("typed_names", ROOT / "tools/typed_names.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_typed_names_are_those_of_modules(typed_names: ModuleType) -> None:
    """Stubs have the names that a module looks up: `python -m tools.typed_names` writes them."""
    with warnings.catch_warnings(action="ignore"):  # a name may be deprecated
        outdated = [str(file.relative_to(ROOT)) for file, text in typed_names.stubs() if file.read_text() != text]
    assert outdated == []


def test_programs_of_user_types_run(user: Path) -> None:
    """They are no fiction: what checkers accept can be called with arrays."""
    for program in sorted(PROGRAMS.glob("*.py")):
        done = subprocess.run([sys.executable, program.name], cwd=user, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def parameters_in_stub(definition: ast.FunctionDef) -> list[tuple[str, str]]:
    arguments = definition.args
    # `_1`, `_2`, … are the first ones of those that `*` takes.
    named = [name for name in arguments.posonlyargs + arguments.args if not name.arg[1:].isdigit()]
    found = [(name.arg, "positional") for name in named]
    found += [(f"*{arguments.vararg.arg}", "several")] if arguments.vararg else []
    return found + [(name.arg, "by name") for name in arguments.kwonlyargs]


def parameters_of(function: object) -> list[tuple[str, str]]:
    kinds = inspect.Parameter
    assert callable(function)
    return [
        (f"*{p.name}", "several") if p.kind is kinds.VAR_POSITIONAL else
        (p.name, "by name" if p.kind is kinds.KEYWORD_ONLY else "positional")
        for p in inspect.signature(function).parameters.values()
    ]  # fmt: skip


@pytest.mark.parametrize("path", TYPED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_typed_signatures_have_the_parameters(path: Path) -> None:
    """Each overload has the parameters of the function in their order; some can only be given by name."""
    package = importlib.import_module(f"lawful.{path.parent.name}")
    tree = ast.parse(path.read_text())
    definitions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and hasattr(package, node.name):
            constructors = [n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
            for constructor in constructors:
                found = parameters_in_stub(constructor)[1:]
                assert found == parameters_of(getattr(package, node.name)), node.name
    assert definitions or any(isinstance(node, ast.ClassDef) for node in tree.body)
    for definition in definitions:
        expected = parameters_of(getattr(package, definition.name))
        found = parameters_in_stub(definition)
        assert [name for name, _ in found] == [name for name, _ in expected], definition.name
        # An overload for `has_aux=True` after arguments with defaults takes it by name.
        assert all(kind == wanted or kind == "by name" for (_, kind), (_, wanted) in zip(found, expected, strict=True))
