"""Threads that transform generated programs at once; on a free-threaded build they do so at the same time."""

import sys
import sysconfig

import pytest
from hypothesis import given

from lawful.laws import Program, holds, law_threads_agree, programs
from lawful.laws.systems import lawful


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this build of Python has the GIL always")
def test_free_threaded_build_runs_without_the_gil() -> None:
    """An extension module without support for the free-threaded build would enable the GIL at its import."""
    assert not sys._is_gil_enabled()  # type: ignore[attr-defined]


@given(programs())
def test_threads_agree(program: Program) -> None:
    holds(law_threads_agree, lawful, program)
