"""Shared by the tests of checks: the backends of `jit`, and that no trace is left behind."""

import importlib.util
from typing import Any

import pytest

from lawful.core import current, eval_trace


@pytest.fixture(autouse=True)
def _the_trace_is_restored() -> Any:
    yield
    assert current.trace is eval_trace, "a test left a trace behind"


@pytest.fixture(params=["numpy", "xla"])
def backend(request: pytest.FixtureRequest) -> str:
    """A backend of `jit`; XLA where it is installed."""
    name: str = request.param
    if name == "xla" and importlib.util.find_spec("lawful.xla_backend") is None:
        pytest.skip("lawful-xla-backend is not installed")
    return name
