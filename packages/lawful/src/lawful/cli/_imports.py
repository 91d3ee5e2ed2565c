"""Imports by name: of a module, a ``.py`` file, or a function in one."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from lawful.cli._usage import UsageError


def import_named(name: str) -> ModuleType:
    """Returns a module by its name, found from the working directory too, or from the path of a ``.py`` file.

    Raises:
      UsageError: there is no such module or file. What the module itself raises passes through.
    """
    if name.endswith(".py"):
        return _import_file(Path(name))
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise UsageError(f"no module named '{name}' here; name a module, or a file as path/to/file.py") from None
        raise


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise UsageError(f"no file {path}")
    folder = str(path.resolve().parent)
    if folder not in sys.path:  # so that the file can import its neighbours, as when Python runs it
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules.get(path.stem)
    if module is None or getattr(module, "__file__", None) != str(path):
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(path.stem, module)
        spec.loader.exec_module(module)
    return module


def import_all(names: Sequence[str]) -> None:
    """Imports modules and files.

    Raises:
      UsageError: one is not there or fails; the text has its own error with the line.
    """
    for name in names:
        _imported(name)


def _imported(name: str) -> ModuleType:
    """Returns a module or file.

    Raises:
      UsageError: it is not there or fails.
    """
    try:
        return import_named(name)
    except UsageError:
        raise
    except SystemExit as error:
        raise UsageError(
            f"importing {name} ends Python, with exit status {error.code}; put what is run as a program under "
            'if __name__ == "__main__":'
        ) from None
    except Exception as error:
        raise UsageError(f"importing {name} fails:\n{user_traceback(error)}") from None


def find_function(target: str) -> Callable[..., Any]:
    """Returns the function that ``module:function`` names.

    Raises:
      UsageError: there is none.
    """
    name, colon, attribute = target.rpartition(":")
    if not colon or not name or not attribute:
        raise UsageError(f"expected module:function or path/to/file.py:function, got {target!r}")
    module = _imported(name)
    found: Any = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise UsageError(f"{name} has no '{part}'{_alternatives(found, part)}")
        found = getattr(found, part)
    if not callable(found):
        raise UsageError(f"{target} is no function but {type(found).__name__}")
    function: Callable[..., Any] = found
    return function


def _alternatives(module: Any, part: str) -> str:
    """Returns the names of a module that are like the one asked for, or else its first ones."""
    from difflib import get_close_matches

    if not isinstance(module, ModuleType):
        return ""
    names = getattr(module, "__all__", None) or [
        name for name, value in vars(module).items()
        if callable(value) and not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]  # fmt: skip
    found = get_close_matches(part, names) or names[:10]
    return f"; it has {', '.join(found)}" if found else ""


def user_traceback(error: BaseException) -> str:
    """Returns an error with its lines in the user's files, without lawful's own frames."""
    import traceback

    ours = (*sys.modules["lawful"].__path__, "<frozen")
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(ours)]
    return "".join([*traceback.format_list(frames), *traceback.format_exception_only(error)]).rstrip()
