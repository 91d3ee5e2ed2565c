"""The package is importable under its own name."""

import importlib


def test_the_package_says_what_it_is_for() -> None:
    assert importlib.import_module("lawful.custom_rules").__doc__
