"""The package is importable under its own name."""

import importlib
import subprocess
import sys


def test_the_package_says_what_it_is_for() -> None:
    assert importlib.import_module("lawful.numpy").__doc__


def test_what_numpy_imports_late_is_not_imported() -> None:
    late = [f"numpy.{name}" for name in ("char", "f2py", "ma", "polynomial", "random", "testing", "typing")]
    script = f"import sys, lawful.numpy; print([name for name in {[*late, 'opt_einsum']} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
