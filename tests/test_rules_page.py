"""The matrix of primitives and rules in `docs/` is that of the code, and no rule is missing."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_the_page_is_up_to_date() -> None:
    command = [sys.executable, ROOT / "tools/rules_page.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "up to date"), done.stderr


def test_no_rule_is_missing() -> None:
    assert "**missing**" not in (ROOT / "docs/rules.md").read_text()
