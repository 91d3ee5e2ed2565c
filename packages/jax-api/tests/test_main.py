"""``python -m lawful.jax`` runs unmodified JAX programs."""

import importlib.util
import multiprocessing
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys

import jax
import jax.numpy as jnp
import jax.scipy.stats.norm as norm
from jax import grad, lax
from jax.scipy import stats
from jax.tree_util import tree_map

assert stats.norm is norm
print(jax.__name__, sys.argv[1:], float(grad(jnp.square)(3.0)), __name__)
"""


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "lawful.jax", *arguments], capture_output=True, text=True, cwd=folder)


def test_main_runs_a_program(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    done = run("program.py", "a", "-b", folder=tmp_path)
    assert done.stdout == "lawful.jax ['a', '-b'] 6.0 __main__\n", done.stderr


def test_main_runs_a_module(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    done = run("-m", "program", "c", folder=tmp_path)
    assert done.stdout == "lawful.jax ['c'] 6.0 __main__\n", done.stderr


def test_main_refuses_private_modules(tmp_path: Path) -> None:
    for line in ("from jax._src import api", "import jax._src.api", "import jax._src; jax._src.api"):
        (tmp_path / "program.py").write_text(line)
        done = run("program.py", folder=tmp_path)
        assert "import jax._src.api: expected a public module of JAX" in done.stderr


def test_main_imports_the_private_module_of_chex(tmp_path: Path) -> None:
    """The import works; what is for replacing JAX's compiler is refused, not ignored."""
    (tmp_path / "program.py").write_text("from jax._src import compiler\nhasattr(compiler, 'backend_compile_and_load')")
    done = run("program.py", folder=tmp_path)
    assert "jax._src.compiler.backend_compile_and_load: expected a public name of JAX" in done.stderr
    assert "program.py:2" in done.stderr


@pytest.mark.skipif(importlib.util.find_spec("lawful.xla_backend") is None, reason="devices of XLA")
def test_main_tells_chex_whether_devices_are_in_use(tmp_path: Path) -> None:
    lines = ("import jax", "from jax._src import compiler", "print([*jax._src.xla_bridge._backends])", "jax.devices()")
    (tmp_path / "program.py").write_text("\n".join([*lines, lines[2], "hasattr(jax._src.xla_bridge, 'backends')"]))
    done = run("program.py", folder=tmp_path)
    assert done.stdout == "[]\n['cpu']\n", done.stderr


def test_main_compiles_ops_of_every_dialect(tmp_path: Path) -> None:
    """The XLA backend imports the dialect of ``erf_inv`` when it first lowers it."""
    (tmp_path / "program.py").write_text("import jax\nprint(jax.jit(jax.lax.erf_inv)(0.0))")
    done = run("program.py", folder=tmp_path)
    assert done.stdout == "0.0\n", done.stderr


def test_main_without_a_program_shows_usage(tmp_path: Path) -> None:
    assert "usage: python -m lawful.jax program.py" in run(folder=tmp_path).stderr


CHILDREN = """
import importlib.util
import multiprocessing
import sys
import jax

def slope(x):
    return float(jax.grad(jax.numpy.sin)(x)), jax.__name__

if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
        print(pool.map(slope, [0.0]))
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_main_in_children(method: str, tmp_path: Path) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip("Windows only spawns")
    (tmp_path / "program.py").write_text(CHILDREN)
    done = run("program.py", method, folder=tmp_path)
    assert done.stdout == "[(1.0, 'lawful.jax')]\n", done.stderr
