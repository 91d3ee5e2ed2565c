"""Code of SciPy and scikit-learn that follows the array API differentiates, maps and compiles as it is."""

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).with_name("_libraries.py")


def test_scipy_and_scikit_learn_run_on_tracers() -> None:
    run = subprocess.run([sys.executable, str(PROGRAM)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert len(found) == 80
    wrong = {name: x for name, x in found.items() if not isinstance(x, float) or not x < 1e-7}
    assert not wrong
