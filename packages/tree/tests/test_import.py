"""The package is importable under its own name, and brings nothing along."""

import importlib
import subprocess
import sys


def test_tree_says_what_it_is_for() -> None:
    assert importlib.import_module("lawful.tree").__doc__


def test_tree_imports_no_array_library() -> None:
    code = "import sys, lawful.tree; lawful.tree.Partial; assert not {'numpy', 'lawful.core'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
