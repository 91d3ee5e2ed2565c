"""The systems that are compared: a missing one skips its tests, and says what to install."""

from collections.abc import Callable

import pytest

from lawful.laws import Implementation
from lawful.laws.systems import find_system, lawful


@pytest.fixture(params=["jax", "autograd", "torch"])
def system(request: pytest.FixtureRequest) -> Implementation:
    """Each system but lawful."""
    return _found(request.param)


@pytest.fixture
def system_named() -> Callable[[str], Implementation]:
    return _found


def _found(name: str) -> Implementation:
    if name == "lawful":
        return lawful
    try:
        return find_system(name)
    except ImportError as error:
        pytest.skip(str(error))
