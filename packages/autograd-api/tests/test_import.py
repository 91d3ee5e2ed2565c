"""The package imports neither SciPy nor Autograd, and little of lawful before it is used."""

import subprocess
import sys

PROGRAM = """
import sys
import lawful.autograd
import lawful.autograd.numpy
print(sorted({name.split(".")[0] for name in sys.modules} & {"scipy", "autograd", "jaxlib", "jax"}))
"""


def test_import_brings_numpy_only() -> None:
    found = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
