"""The package is importable under its own name."""

import importlib
import subprocess
import sys


def test_package_has_a_docstring() -> None:
    assert importlib.import_module("lawful.numpy").__doc__


def test_import_keeps_numpy_s_lazy_imports() -> None:
    late = [f"numpy.{name}" for name in ("char", "f2py", "ma", "polynomial", "random", "testing", "typing")]
    script = f"import sys, lawful.numpy; print([name for name in {[*late, 'opt_einsum']} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
