"""The package is importable under its own name."""

import importlib


def test_custom_rules_has_a_docstring() -> None:
    assert importlib.import_module("lawful.custom_rules").__doc__
