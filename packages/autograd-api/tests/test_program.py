"""``python -m lawful.autograd``: programs that import autograd."""

import multiprocessing
import subprocess
import sys
from pathlib import Path

import pytest

from lawful.autograd.__main__ import main

PROGRAM = """
import sys
import autograd.numpy as np
import autograd.scipy.stats.norm as norm
import autograd.numpy.numpy_vjps
from autograd import grad
from autograd.extend import defvjp, primitive
from autograd.misc.optimizers import adam
from autograd.misc import flatten
import autograd.misc.flatten
import lawful.autograd
import autograd

assert flatten is autograd.misc.flatten and flatten(1.0)[0] == 1.0

assert __name__ == "__main__"
assert autograd is lawful.autograd and autograd.__name__ == "lawful.autograd"
assert autograd.__spec__.name == "lawful.autograd"
try:
    import autograd.nothing
except ModuleNotFoundError as error:
    assert "autograd.nothing" in str(error)
print(grad(lambda x: np.sin(x))(0.0), sys.argv[1:], grad(norm.logpdf)(1.0))
"""


def run(*args: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "lawful.autograd", *args]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)


def test_script_runs_with_arguments(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "helper.py").write_text("VALUE = 1")
    (tmp_path / "program.py").write_text("import helper\n" + PROGRAM)
    found = run("program.py", "-v", "x", folder=tmp_path)
    assert found.stdout == "1.0 ['-v', 'x'] -1.0\n", found.stderr


def test_module_runs(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    found = run("-m", "program", "x", folder=tmp_path)
    assert found.stdout == "1.0 ['x'] -1.0\n", found.stderr


def test_usage_without_a_program(tmp_path: Path) -> None:
    found = run("-m", folder=tmp_path)
    assert found.returncode == 1
    assert found.stderr.startswith("usage: python -m lawful.autograd script.py")


@pytest.mark.parametrize("args", [[], ["-m"], ["-h"], ["--help"]])
def test_usage_is_the_reason_to_exit(args: list[str]) -> None:
    with pytest.raises(SystemExit, match=r"^usage: python -m lawful\.autograd script\.py"):
        main(args)


CHILDREN = """
import multiprocessing
import sys
import autograd
import autograd.numpy as np

def slope(x):
    return float(autograd.grad(np.sin)(x)), autograd.__name__, __name__

if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
        print(pool.map(slope, [0.0]))
"""


# Each way to start children, from a script; from a module two ways, for forkserver finds the program as spawn does.
@pytest.mark.parametrize(
    ("program", "method"),
    [
        *((["program.py"], method) for method in ("spawn", "forkserver", "fork")),
        *((["-m", "program"], method) for method in ("spawn", "fork")),
    ],
    ids=str,
)
def test_children_of_a_program(program: list[str], method: str, tmp_path: Path) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip("Windows only spawns")
    (tmp_path / "program.py").write_text(CHILDREN)
    found = run(*program, method, folder=tmp_path)
    name = "__main__" if method == "fork" else "__mp_main__"
    assert found.stdout == f"[(1.0, 'lawful.autograd', '{name}')]\n", found.stderr


LOADED_BY_PATH = """
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
import autograd
from autograd.extend import defvjp

name = "autograd.scipy.special"
spec = spec_from_file_location(name, Path(autograd.__file__).parent / "scipy" / "special.py")
sys.modules[name] = module_from_spec(spec)
spec.loader.exec_module(sys.modules[name])

from autograd.scipy.special import expit, gammaln

print(round(float(autograd.grad(gammaln)(2.0)), 6), end=" ")
defvjp(expit, lambda ans, x: lambda g: 7.0 * g)
from autograd.scipy import special
print(autograd.grad(special.expit)(1.0))
"""


def test_module_loaded_by_its_path(tmp_path: Path) -> None:
    # SurPyval loads the special functions so, to spare the import of the rest of SciPy.
    (tmp_path / "program.py").write_text(LOADED_BY_PATH)
    found = run("program.py", folder=tmp_path)
    assert found.stdout == "0.422784 7.0\n", found.stderr
