"""The command of the meta-distribution."""

import subprocess
import sys
from pathlib import Path

import pytest

from lawful.cli import main


def test_the_command_lists_every_layer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    printed = capsys.readouterr().out
    for layer in ["core", "ops", "staging", "batching", "autodiff", "control-flow", "numpy", "xla-backend", "laws"]:
        assert f"lawful-{layer}" in printed
    assert "numpy, xla" in printed


def test_the_script_is_installed() -> None:
    script = Path(sys.executable).with_name("lawful")
    assert subprocess.run([script, "--version"], capture_output=True, text=True, check=True).stdout == "lawful 0.1.0\n"
