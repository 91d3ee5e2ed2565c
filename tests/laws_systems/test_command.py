"""`lawful laws --against`: two systems on the same programs."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

LAWFUL = Path(sys.executable).with_name("lawful")

WRONG_SINE = """
from lawful import ops


@ops.sin_p.def_jvp
def wrong(primals, tangents):
    (x,), (t,) = primals, tangents
    return ops.sin_p.bind(x), ops.mul(t, ops.sin_p.bind(x))
"""


def run(folder: Path, *options: str) -> tuple[int, Any]:
    command = [LAWFUL, "laws", "--json", "--no-report", "--jobs", "1", "--seed", "2", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


def test_laws_against_two_systems_agree(tmp_path: Path) -> None:
    status, found = run(tmp_path, "--against", "autograd", "--cases", "12")
    assert status == 0
    assert list(found["laws"]) == ["agrees_with_autograd"]
    assert found["laws"]["agrees_with_autograd"]["passed"] == 12


def test_laws_against_wrong_derivative_is_found_and_shrunk(tmp_path: Path) -> None:
    (tmp_path / "wrong_sine.py").write_text(WRONG_SINE)
    options = ("--against", "autograd", "--import", "wrong_sine.py", "--cases", "60")
    status, found = run(tmp_path, *options)
    assert status == 1
    [counterexample] = found["counterexamples"][:1]
    assert counterexample["equations"] <= 3
    assert "lawful and autograd do not agree about" in counterexample["explanation"]
    again, found = run(tmp_path, *options, "--cases", "1")
    assert again == 1, "stored failures are tried first"


def test_laws_against_system_that_there_is_not(tmp_path: Path) -> None:
    status, text = run(tmp_path, "--against", "fortran", "--cases", "1")
    assert status == 2
    assert "--against fortran: system: expected one of lawful, jax, autograd, torch" in text
