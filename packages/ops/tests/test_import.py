"""The package is importable under its own name."""

import importlib


def test_ops_has_a_docstring() -> None:
    assert importlib.import_module("lawful.ops").__doc__
