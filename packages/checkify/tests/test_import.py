"""The package is importable under its own name."""

import importlib


def test_package_has_a_docstring() -> None:
    assert importlib.import_module("lawful.checkify").__doc__
