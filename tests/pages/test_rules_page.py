"""The matrix of primitives and rules in `docs/` is that of the code, and no rule is missing."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_up_to_date() -> None:
    command = [sys.executable, ROOT / "tools/rules_page.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run: uv run python tools/rules_page.py --write\n{done.stdout}{done.stderr}"


def test_no_rule_is_missing() -> None:
    assert "**missing**" not in (ROOT / "docs/rules.md").read_text()


# The rules that `lawful rules` finds, then those that importing every package adds.
REGISTERED = """
import importlib, json, pkgutil
from importlib.metadata import entry_points
import lawful
from lawful.core import load_lazy_imports, primitives_by_name

def rules():
    load_lazy_imports()
    return {(p.name, slot) for p in primitives_by_name.values() for slot in p.rules}

for point in entry_points(group="lawful.primitives"):
    point.load()
found = rules()
for portion in pkgutil.iter_modules(lawful.__path__):
    importlib.import_module(f"lawful.{portion.name}")
print(json.dumps([len(found), sorted(rules() - found)]))
"""


def test_lawful_rules_lists_every_package() -> None:
    """A package whose primitives or rules are missing from the page lacks an entry point `lawful.primitives`."""
    done = subprocess.run([sys.executable, "-c", REGISTERED], capture_output=True, text=True, check=True)
    count, missing = json.loads(done.stdout)
    assert count > 500
    assert missing == []
