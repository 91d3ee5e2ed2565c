"""A compilation of more than two seconds shows a line on standard error, if a person sees that."""

import io
import sys
import time
from typing import Any

import pytest

from lawful.core import ClosedJaxpr
from lawful.staging import compiling, explain_cache_misses, jit
from lawful.staging._jit import compiling as module


class Terminal(io.StringIO):
    def __init__(self, is_terminal: bool) -> None:
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self) -> bool:
        return self.is_terminal


def shown(monkeypatch: pytest.MonkeyPatch, *, seconds: float, is_terminal: bool = True, with_rich: bool = True) -> str:
    """Returns what a compilation of some seconds shows, if a line is shown after a tenth of a second."""
    stream = Terminal(is_terminal)
    with monkeypatch.context() as patch:
        patch.setattr(module, "SHOWN_AFTER", 0.1)
        patch.setattr(sys, "stderr", stream)
        patch.setenv("TERM", "xterm")
        if not with_rich:
            patch.setitem(sys.modules, "rich.console", None)
        with compiling("train[step]"):
            time.sleep(seconds)
    return stream.getvalue()


def test_compiling_progress_plain_line(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, seconds=0.5, with_rich=False) == "compiling train[step] …\n"


def test_compiling_progress_of_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rich")
    text = shown(monkeypatch, seconds=1.0)
    assert "compiling train[step]" in text
    assert "\x1b[2K" in text, "the line is erased when the compilation ends"


def test_compiling_progress_short_or_elsewhere_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, seconds=0.0) == ""
    time.sleep(0.2)
    assert shown(monkeypatch, seconds=0.3, is_terminal=False) == ""


def test_compiling_progress_of_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel's standard error is shown under the cell, and is no terminal."""

    class OutStream(Terminal):
        __module__ = "ipykernel.iostream"

    stream = OutStream(False)
    monkeypatch.setattr(module, "SHOWN_AFTER", 0.1)
    monkeypatch.setattr(sys, "stderr", stream)
    with compiling("train[step]"):
        time.sleep(0.5)
    assert stream.getvalue() == "compiling train[step] …\n"


def test_compiling_progress_line_ends_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal(True)
    monkeypatch.setattr(module, "SHOWN_AFTER", 0.05)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setitem(sys.modules, "rich.console", None)

    def compile_and_fail() -> None:
        with compiling("f"):
            time.sleep(0.3)
            raise ZeroDivisionError

    with explain_cache_misses(show=False) as misses, pytest.raises(ZeroDivisionError):
        compile_and_fail()
    assert stream.getvalue() == "compiling f …\n"
    assert misses == []


def test_compiling_progress_of_jit(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal(True)
    monkeypatch.setattr(module, "SHOWN_AFTER", 0.0)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    lower = type(module_backend()).lower

    def slow(self: Any, closed: ClosedJaxpr, **options: Any) -> Any:
        time.sleep(0.3)
        return lower(self, closed, **options)

    monkeypatch.setattr(type(module_backend()), "lower", slow)
    assert float(jit(lambda x: x, backend="numpy")(1.0)) == 1.0
    assert stream.getvalue() == "compiling <lambda> …\n"


def module_backend() -> Any:
    from lawful.staging import numpy_backend

    return numpy_backend
