"""docs/stability.md names every public option, fixture and export of three interfaces, and none that does not exist."""

import argparse
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from lawful import laws
from lawful.cli._arguments import parser

PAGE = Path(__file__).resolve().parents[2] / "docs/stability.md"


def section(title: str) -> str:
    return PAGE.read_text().split(f"\n## {title}\n")[1].split("\n## ")[0]


def options_of(command: argparse.ArgumentParser) -> list[str]:
    """The long options of a command, and its arguments."""
    actions = [action for action in command._actions if not isinstance(action, argparse._SubParsersAction)]
    found = [name for action in actions for name in action.option_strings or [action.metavar] if name != "-h"]
    return [name for name in map(str, found) if name != "--help"]


def table_of_commands() -> list[str]:
    top = parser()
    [commands] = [action.choices for action in top._actions if isinstance(action, argparse._SubParsersAction)]
    rows = [("lawful", top), *((f"lawful {name}", command) for name, command in commands.items())]
    return [f"| `{name}` | {', '.join(f'`{option}`' for option in options_of(command))} |" for name, command in rows]


def test_stability_names_each_option_of_the_command() -> None:
    assert [line for line in section("The command").splitlines() if line.startswith("| `")] == table_of_commands()


def test_stability_names_each_export_of_laws() -> None:
    named = re.findall(r"`(\w+)`", section("`lawful.laws`"))
    assert len(named) == len(set(named))
    assert set(named) == set(laws.__all__)
    assert [name for name in named if not hasattr(laws, name)] == []


@pytest.mark.once
def test_stability_names_option_and_fixtures_of_the_plugin() -> None:
    assert "lawful-laws" in {entry.name for entry in entry_points(group="pytest11")}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    helped = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True, cwd=PAGE.parent).stdout
    [efforts] = re.findall(r"--laws=?\s*\{([\w,]+)\}", helped)
    listing = [*command, "--fixtures", PAGE.name]
    listed = subprocess.run(listing, capture_output=True, text=True, check=False, cwd=PAGE.parent).stdout
    fixtures = re.findall(r"^(\w+)(?: \[\w+ scope\])? -- .*laws_pytest", listed, re.MULTILINE)
    text = section("The pytest plugin")
    assert set(re.findall(r"`([\w-]+)`", text)) == {"lawful-laws", "--laws", *efforts.split(","), *fixtures}
    assert fixtures
